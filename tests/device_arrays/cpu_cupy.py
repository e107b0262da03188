"""A stand-in for CuPy whose device is CPU memory, and whose kernels are compiled, as they are, by a C++ compiler.

It has what `vinculum.device_arrays` uses of CuPy, so that all but the GPU itself is tested where there is none.
"""

from __future__ import annotations

import ctypes
import shutil
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.processes import run

COMPILER = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")

_C_TYPES = {
    "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned", "uint64": "unsigned long long",
    "float32": "float", "float64": "double",
}  # fmt: skip


class Device:
    """One of the devices; arrays that were made in its context lie on it."""

    current = 0

    def __init__(self, number: int) -> None:
        self.id = number
        self._before: list[int] = []

    def __enter__(self) -> Device:
        self._before.append(Device.current)
        Device.current = self.id
        return self

    def __exit__(self, *reason: object) -> None:
        Device.current = self._before.pop()


class Array:
    """An array on a device: NumPy, but for what it would be mistaken for."""

    def __init__(self, array: Any, device: Device | None = None) -> None:
        self.array: npt.NDArray[Any] = np.asarray(array)
        self.device = device or Device(Device.current)
        self.data = SimpleNamespace(ptr=self.array.__array_interface__["data"][0])

    dtype = property(lambda self: self.array.dtype)
    shape = property(lambda self: self.array.shape)
    strides = property(lambda self: self.array.strides)
    size = property(lambda self: self.array.size)

    def __dlpack__(self, **options: Any) -> Any:
        raise AssertionError("the stand-in reads its own arrays without DLPack")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device.id

    def __array_namespace__(self) -> Any:
        return SimpleNamespace(__name__="cupy", from_dlpack=from_dlpack)

    def view(self, dtype: Any) -> Array:
        return Array(self.array.view(dtype), self.device)

    def reshape(self, shape: Any) -> Array:
        return Array(self.array.reshape(shape), self.device)

    def __getitem__(self, index: Any) -> Any:
        return Array(self.array[index], self.device)

    def __setitem__(self, index: Any, values: Array) -> None:
        self.array[index] = values.array

    def __int__(self) -> int:
        return int(self.array)

    def __eq__(self, other: object) -> Any:
        return Array(self.array == _numpy(other), self.device)

    __hash__ = None  # type: ignore[assignment]  # as an array's, since == gives an array

    def __and__(self, other: object) -> Array:
        return Array(self.array & _numpy(other), self.device)

    __rand__ = __and__


ndarray = Array
cuda = SimpleNamespace(Device=Device)


def _numpy(value: object) -> Any:
    return value.array if isinstance(value, Array) else value


def from_dlpack(array: Array) -> Array:
    assert isinstance(array, Array), "the stand-in reads its own arrays only"
    return array


def asarray(value: Any) -> Array:
    return value if isinstance(value, Array) else Array(value)


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    return Array(np.full(shape, 99).astype(dtype))


def zeros(shape: Any, dtype: Any) -> Array:
    return Array(np.zeros(shape, dtype))


def empty_like(array: Array) -> Array:
    return empty(array.shape, array.dtype)


def may_share_memory(a: Array, b: Array) -> bool:
    return np.may_share_memory(a.array, b.array)


def broadcast_to(array: Array, shape: tuple[int, ...]) -> Array:
    return Array(np.broadcast_to(array.array, shape), array.device)


def count_nonzero(array: Array) -> int:
    return int(np.count_nonzero(array.array))


def argmax(array: Array) -> int:
    return int(np.argmax(array.array))


class ElementwiseKernel:
    """A kernel ``(a, b, c)`` or ``(a, b, c, raw found)`` of elements of one type T."""

    def __init__(self, inputs: str, outputs: str, operation: str, name: str, preamble: str) -> None:
        assert inputs == "T dividend, T divisor"
        assert outputs in ("T quotient", "T quotient, raw int32 exceptional")
        self._operation, self._preamble = operation, preamble

    def __call__(self, dividend: Any, divisor: Any, quotient: Array, exceptional: Array | None = None) -> None:
        dtype = quotient.dtype
        assert _numpy(dividend).dtype == _numpy(divisor).dtype == dtype
        found = np.zeros(1, np.int32) if exceptional is None else exceptional.array
        operands = [np.ascontiguousarray(np.broadcast_to(_numpy(x), quotient.shape)) for x in (dividend, divisor)]
        quotients = np.empty(quotient.shape, dtype)
        loop = _compiled(_C_TYPES[dtype.name], self._operation, self._preamble)
        loop(
            *(ctypes.c_void_p(x.ctypes.data) for x in (*operands, quotients, found)), ctypes.c_longlong(quotients.size)
        )
        quotient.array[...] = quotients


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
