"""The source that GPUs compile, compiled for the processor."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.device_arrays.cpu_cupy import ElementwiseKernel
from tests.processes import run

COMPILER = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")

C_TYPES = {
    "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long",
    "float32": "float", "float64": "double",
}  # fmt: skip


class CompiledKernel(ElementwiseKernel):
    """A kernel as it is, in a loop."""

    def quotients(self, dtype: np.dtype[Any], a: npt.NDArray[Any], b: npt.NDArray[Any], found: npt.NDArray[Any]) -> Any:
        """Return the quotients; tell in `found` whether a policy raises."""
        result = np.empty(a.shape, dtype)
        loop = _compiled(C_TYPES[dtype.name], self.operation, self.preamble)
        loop(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, result, found)), ctypes.c_longlong(a.size))
        return result


@cache
def _compiled(c_type: str, operation: str, preamble: str) -> Any:
    source = f"""
        {preamble}
        typedef {c_type} T;
        extern "C" void loop(const T* a, const T* b, T* c, [[maybe_unused]] int* exceptional, long long size) {{
            for (long long i = 0; i < size; i++) {{
                const T dividend = a[i], divisor = b[i];
                T& quotient = c[i];
                {operation};
            }}
        }}
    """
    return shared_library(source).loop


def shared_library(source: str) -> ctypes.CDLL:
    """Compile a text of C++17, with which the compiler must find nothing wrong, and load it."""
    assert COMPILER is not None
    folder = Path(tempfile.mkdtemp(prefix="vinculum-device-"))
    try:
        (folder / "kernel.cpp").write_text(source, encoding="utf-8")
        options = ["-std=c++17", "-O0", "-fwrapv", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
        files = ["-o", str(folder / "kernel.so"), str(folder / "kernel.cpp")]
        done = run([COMPILER, *options, "-shared", "-fPIC", *files])
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(folder / "kernel.so"))
    finally:
        shutil.rmtree(folder)
