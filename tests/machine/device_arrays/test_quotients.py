"""The CUDA kernels, compiled for the CPU, give the quotients of the CPU kernels."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from tests.cases import case
from tests.device_arrays import cpu_cupy
from tests.device_arrays.cpu_cupy import ElementwiseKernel
from tests.device_arrays.test_backend import cupy, same
from tests.kernels.witness import DTYPES, ONE_BYTE, crossed, random_encodings, values
from tests.optional import program_or_skip
from tests.processes import run
from vinculum import divide
from vinculum.device_arrays.kernels import NARROW, SOURCE
from vinculum.ops.policies import OVERFLOW_POLICIES, ZERO_DIVISOR_POLICIES

__all__ = ["cupy"]

C_TYPES = {
    "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long",
    "float32": "float", "float64": "double",
}  # fmt: skip

INTEGER_RULES: list[dict[str, Any]] = [
    {"floor": floor, "zero_divisor": zero_divisor, "overflow": overflow}
    for floor, zero_divisor, overflow in product((False, True), ZERO_DIVISOR_POLICIES, OVERFLOW_POLICIES)
]
NAMES = [name for name in DTYPES if not name.endswith("int4")]
INTEGERS = [name for name in NAMES if "int" in name]
FLOATS = [name for name in NAMES if "float" in name]


class CompiledKernel(ElementwiseKernel):
    """An unchanged kernel, called in a loop."""

    compiler: ClassVar[str]

    def quotients(self, dtype: np.dtype[Any], a: npt.NDArray[Any], b: npt.NDArray[Any], found: npt.NDArray[Any]) -> Any:
        """Return the quotients; set `found` where a policy raises."""
        result = np.empty(a.shape, dtype)
        loop = _loops(self.compiler)[C_TYPES[dtype.name], self.operation]
        loop(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, result, found)), ctypes.c_longlong(a.size))
        return result


@cache
def _loops(compiler: str) -> dict[tuple[str, str], Any]:
    """Return a loop for each kernel and each of its types; cpu_cupy must stand in for CuPy."""
    from vinculum.device_arrays.kernels import float_kernel, integer_kernel

    integers = [integer_kernel(**rule) for rule in INTEGER_RULES]
    keys = [(C_TYPES[name], kernel.operation) for name in C_TYPES if "int" in name for kernel in integers]
    keys += [(C_TYPES[name], float_kernel(name).operation) for name in ("float32", "float64")]
    keys += [(C_TYPES[f"uint{8 * DTYPES[name].itemsize}"], float_kernel(name).operation) for name in NARROW]
    functions = (
        f"""
        extern "C" void loop{number}(
            const {c_type}* a, const {c_type}* b, {c_type}* c, [[maybe_unused]] int* exceptional, long long size) {{
            using T = {c_type};
            for (long long i = 0; i < size; i++) {{
                const T dividend = a[i], divisor = b[i];
                T& quotient = c[i];
                {operation};
            }}
        }}
        """
        for number, (c_type, operation) in enumerate(keys)
    )
    library = _shared_library(compiler, "".join((SOURCE, *functions)))
    return {key: library[f"loop{number}"] for number, key in enumerate(keys)}


def _shared_library(compiler: str, source: str) -> ctypes.CDLL:
    """Compile C++17 without a warning, and load it."""
    folder = Path(tempfile.mkdtemp(prefix="vinculum-device-"))
    try:
        (folder / "kernel.cpp").write_text(source, encoding="utf-8")
        options = ["-std=c++17", "-O0", "-fwrapv", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
        files = ["-o", str(folder / "kernel.so"), str(folder / "kernel.cpp")]
        done = run([compiler, *options, "-shared", "-fPIC", *files])
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(folder / "kernel.so"))
    finally:
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def compiled(request: pytest.FixtureRequest, cupy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CuPy's stand-in run compiled kernels."""
    CompiledKernel.compiler = program_or_skip(request, "g++", "clang++", "c++")
    monkeypatch.setattr(cpu_cupy, "ElementwiseKernel", CompiledKernel)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_by_every_rounding_and_policy(name: str) -> None:
    """Edge values and their neighbours, each by each, and by each that is not zero."""
    some = values(name)
    for rule in INTEGER_RULES:
        for divisors in (some, some[some != 0]):
            with case(rule):
                policies = {name: rule[name] for name in ("zero_divisor", "overflow")}
                same(divide, some[:, None], divisors, m_pythondiv=rule["floor"], **policies)


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    """Edge values and random encodings; every NaN is the same one."""
    same(divide, *crossed(values(name)))
    same(divide, random_encodings(name, 200_000, 1)[None], random_encodings(name, 200_000, 2)[None])


@pytest.mark.parametrize("name", [name for name in ONE_BYTE if name in NAMES])
def test_all_pairs_of_8_bits(name: str) -> None:
    every = np.arange(256, dtype=np.uint8).view(DTYPES[name])
    for floor in (False, True):
        policies: Any = {"zero_divisor": "saturate", "overflow": "saturate"} if name in INTEGERS else {}
        same(divide, every[:, None], every, m_pythondiv=floor, **policies)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_dividend_of_16_bits(name: str) -> None:
    """Division by one widens and narrows all encodings; by powers of two, it rounds subnormals at the half."""
    every = np.arange(1 << 16, dtype=np.uint16).view(DTYPES[name])
    smallest = np.array(1, np.uint16).view(DTYPES[name])
    for divisor in (1, 2, -32, 3, -0.01, 500, smallest):
        same(divide, every[None], np.array(divisor).astype(DTYPES[name]).reshape(1))
