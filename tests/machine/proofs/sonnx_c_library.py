"""The extracted C library: built for a test, called from Python."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from proofs.checking.extraction import COMPILER, build
from tests.optional import skip_or_fail
from tests.processes import output_of

Array = npt.NDArray[Any]

# What C calls the types that the functions are named after.
C_NAMES = {"float32": "float", "float64": "double"}


def require_compiler(request: pytest.FixtureRequest, compiler: str = COMPILER) -> None:
    """Skip a test without a compiler, of C if none is named, or fail it under ``--require-all``."""
    if shutil.which(compiler) is None:
        skip_or_fail(request, f"{compiler}, which is not installed")


class SonnxC:
    """The library's functions by name; arrays go as pointers to their first element, ints as int64_t."""

    def __init__(self, folder: Path, sources: list[Path]) -> None:
        self.static = build(folder, sources, ["-fPIC"])
        shared = folder / "libsonnx_div.so"
        whole = ["-Wl,--whole-archive", str(self.static), "-Wl,--no-whole-archive"]
        output_of([COMPILER, "-shared", "-nostdlib", "-o", str(shared), *whole])
        self._library = ctypes.CDLL(str(shared))

    def __call__(self, name: str, element_type: str, *arguments: Array | int) -> int:
        """Call the function of that name for an element type, NumPy's name for it."""
        function = getattr(self._library, f"{name}_{C_NAMES.get(element_type, element_type)}")
        function.restype = ctypes.c_int64 if "first" in name or "checked" in name else None
        return int(function(*map(_as_c, arguments)) or 0)


def _as_c(argument: Array | int) -> ctypes.c_void_p | ctypes.c_int64:
    if isinstance(argument, int):
        return ctypes.c_int64(argument)
    assert argument.flags.c_contiguous
    return ctypes.c_void_p(argument.ctypes.data)


class Guarded:
    """An array for a result between guards: nothing but the array may be written."""

    GUARD = 64

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        count = int(np.prod(shape, dtype=int))
        self._memory = np.full(count * dtype.itemsize + 2 * self.GUARD, 0xA5, np.uint8)
        self.array: Array = self._memory[self.GUARD : len(self._memory) - self.GUARD].view(dtype).reshape(shape)

    def intact(self) -> bool:
        """Tell whether both guards are as they were."""
        guards = (self._memory[: self.GUARD], self._memory[-self.GUARD :])
        return all(bool((guard == 0xA5).all()) for guard in guards)
