"""A stand-in for CuPy whose device is CPU memory, and whose kernels are computed by the exact reference.

It has the functions that `vinculum.device_arrays` uses. In tests/machine a C++ compiler compiles the real kernels.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tests.kernels.witness import DTYPES, exact
from vinculum.device_arrays.kernels import NARROW


class Device:
    """A device; arrays made in its context are on it."""

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


EVENTS: list[tuple[object, ...]] = []
"""The calls of streams, in order, each with the number of the stream."""


class Stream:
    """A stream, which records the calls; 0 is the default stream."""

    current: ClassVar[list[int]] = [0]

    def __init__(self, number: int) -> None:
        self.ptr = number

    @classmethod
    def from_external(cls, other: Any) -> Stream:
        version, number = other.__cuda_stream__()
        assert version == 0
        return cls(number)

    def __enter__(self) -> Stream:
        Stream.current.append(self.ptr)
        return self

    def __exit__(self, *reason: object) -> None:
        Stream.current.pop()

    def record(self) -> int:
        return self.ptr

    def wait_event(self, event: int) -> None:
        EVENTS.append((self.ptr, "waits for", event))

    def synchronize(self) -> None:
        EVENTS.append((self.ptr, "is waited for"))


class Array:
    """An array on a device: a NumPy array that is not recognised as one."""

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
cuda = SimpleNamespace(Device=Device, Stream=Stream, get_current_stream=lambda device_id=-1: Stream(Stream.current[-1]))


def _numpy(value: object) -> Any:
    return value.array if isinstance(value, Array) else value


def from_dlpack(array: Array) -> Array:
    assert isinstance(array, Array), "the stand-in reads its own arrays only"
    EVENTS.append((Stream.current[-1], "views"))
    return Array(array.array, array.device)


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
    """A kernel ``(a, b, c)`` or ``(a, b, c, raw found)`` for one type T, which computes what its source says."""

    _INTEGERS = re.compile(
        r"quotient = vinculum::integer_quotient<T, (true|false), vinculum::(\w+), vinculum::(\w+)>\("
    )
    _FLOATS = re.compile(r"quotient = vinculum::(?:float_quotient|narrow_quotient<vinculum::(\w+)>)\(")

    def __init__(self, inputs: str, outputs: str, operation: str, name: str, preamble: str) -> None:
        assert inputs == "T dividend, T divisor"
        assert outputs in ("T quotient", "T quotient, raw int32 exceptional")
        assert "(dividend, divisor" in operation
        self.operation, self.preamble = operation, preamble

    def __call__(self, dividend: Any, divisor: Any, quotient: Array, exceptional: Array | None = None) -> None:
        EVENTS.append((Stream.current[-1], "divides"))
        dtype = quotient.dtype
        assert _numpy(dividend).dtype == _numpy(divisor).dtype == dtype
        found = np.zeros(1, np.int32) if exceptional is None else exceptional.array
        a, b = (np.broadcast_to(_numpy(x), quotient.shape) for x in (dividend, divisor))
        # Line by line, so that what overlaps an operand would be seen to.
        for line in [slice(i, i + 1) for i in range(quotient.shape[0])] if quotient.shape else [...]:
            x, y = (np.ascontiguousarray(operand[line]) for operand in (a, b))
            quotient.array[line] = self.quotients(dtype, x, y, found).reshape(quotient.array[line].shape)

    def quotients(self, dtype: np.dtype[Any], a: npt.NDArray[Any], b: npt.NDArray[Any], found: npt.NDArray[Any]) -> Any:
        """Return the quotients, and set `found` if a policy raises."""
        if (integers := self._INTEGERS.search(self.operation)) is None:
            floats = self._FLOATS.search(self.operation)
            assert floats is not None
            (name,) = [name for name, form in NARROW.items() if form == floats[1]] or [dtype.name]
            return exact(name, *(x.view(DTYPES[name]) for x in (a, b)), floor=False).view(dtype)
        floor, zero_divisor, overflow = integers.groups()
        overflows = (a == np.iinfo(dtype).min) & (b == dtype.type(-1)) if dtype.kind == "i" else np.zeros(a.shape, bool)
        found[0] |= (zero_divisor == "RAISE" and (b == 0).any()) or (overflow == "RAISE" and overflows.any())
        policies = {"zero_divisor": zero_divisor.lower(), "overflow": overflow.lower()}
        valued = {name: policy.replace("raise", "saturate") for name, policy in policies.items()}
        return exact(dtype.name, a, b, floor=floor == "true", **valued)
