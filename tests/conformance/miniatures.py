"""Runtimes in miniature: one that divides rightly, and others that are wrong in one thing each.

None of them uses our engine or our reference; NumPy's quotients are right, beside that of two integers.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.sandbox import UnsupportedError
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import INT64, ElementType
from vinculum.spec.model import Dialect, IntegerRounding
from vinculum.tensors.broadcasting import join
from vinculum.tensors.inference import infer
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]

FOREVER = 600.0


class Divider:
    """It divides rightly, refuses what it must, and gives 0 where nothing is specified."""

    title = "Miniature"

    def check(self) -> None:
        """Need nothing."""

    def start(self) -> None:
        """Import nothing."""

    def versions(self) -> Mapping[str, str]:
        return {}

    def covers(self, operation: Operation) -> bool:
        return operation.spec.dialect is not Dialect.SONNX

    def reproducer(self, operation: Operation) -> str:
        return f"# {operation.spec.title}"

    def answer(self, operation: Operation) -> Array:
        self.look(operation)
        self.checked(operation)
        a, b = self.laid(operation)
        with np.errstate(all="ignore"):
            return np.asarray(self.quotients(operation, a, b))

    def look(self, operation: Operation) -> None:
        """See what is asked before anything is done."""

    def checked(self, operation: Operation) -> None:
        attributes = checked_attributes(operation.spec, operation.attributes)
        types = [element_type_of(operand) for operand in operation.operands]
        infer(operation.spec, attributes, types, [operand.shape for operand in operation.operands])

    def laid(self, operation: Operation) -> tuple[Array, Array]:
        """Return both operands in the result's shape."""
        if len(operation.operands) == 1:
            (b,) = operation.operands
            return np.ones_like(b), b
        a, b = operation.operands
        axis = self.axis(operation)
        alignment = join(operation.spec.broadcasting_rule(operation.attributes), a.shape, b.shape, axis)
        return _laid(a, alignment.a, alignment.shape), _laid(b, alignment.b, alignment.shape)

    def axis(self, operation: Operation) -> int | None:
        axis = operation.attributes.get("axis")
        return axis if isinstance(axis, int) else None

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if element_type_of(a).is_integer:
            return _integers(a, b, floor=operation.spec.rounding(operation.attributes) is IntegerRounding.FLOOR)
        return a / b


def _laid(operand: Array, own: tuple[int | None, ...], shape: tuple[int, ...]) -> Array:
    sizes = [1 if dimension is None else operand.shape[dimension] for dimension in own]
    return np.broadcast_to(operand.reshape(sizes), shape)


def _integers(a: Array, b: Array, *, floor: bool) -> Array:
    dtype = a.dtype
    if dtype.itemsize == 1:  # ml_dtypes has no floor_divide.
        a, b = a.astype(np.int64), b.astype(np.int64)
    zero = b == 0
    b = np.where(zero, b.dtype.type(1), b)
    down = a // b
    up = ~np.bool_(floor) & (a - down * b != 0) & ((a < 0) != (b < 0))
    return np.where(zero, 0, down + up.astype(a.dtype)).astype(dtype)


class Floors(Divider):
    """It rounds integers toward minus infinity, whatever is asked."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return _integers(a, b, floor=True) if element_type_of(a).is_integer else a / b


class Truncates(Divider):
    """It rounds integers toward zero, whatever is asked."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return _integers(a, b, floor=False) if element_type_of(a).is_integer else a / b


class FloatDivider(Divider):
    """It is wrong with floats of 32 bits only."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return self.floats(a, b) if a.dtype == np.float32 else super().quotients(operation, a, b)

    def floats(self, a: Array, b: Array) -> Any:
        return a / b


class MultipliesByReciprocal(FloatDivider):
    """It rounds twice."""

    def floats(self, a: Array, b: Array) -> Any:
        return a * (np.float32(1) / b)


class FlushesOperands(FloatDivider):
    """It takes subnormal operands for zero."""

    def floats(self, a: Array, b: Array) -> Any:
        return _flushed(a) / _flushed(b)


class FlushesQuotients(FloatDivider):
    """It gives zero for subnormal quotients."""

    def floats(self, a: Array, b: Array) -> Any:
        return _flushed(a / b)


class LosesTheSignOfZero(FloatDivider):
    """It gives 0.0 for -0.0."""

    def floats(self, a: Array, b: Array) -> Any:
        return a / b + np.float32(0)


class OtherNan(FloatDivider):
    """It gives NaN of another sign and payload, which is right."""

    def floats(self, a: Array, b: Array) -> Any:
        quotients = np.asarray(a / b)
        bits = quotients.view(np.uint32)
        return np.where(np.isnan(quotients), bits ^ np.uint32(0x80000123), bits).astype(np.uint32).view(np.float32)


def _flushed(array: Array) -> Array:
    return np.where(np.abs(array) < np.finfo(np.float32).smallest_normal, np.copysign(np.float32(0), array), array)


class ComputesDoubleInFloat(Divider):
    """It divides 64-bit floats as 32-bit ones."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.float64:
            return super().quotients(operation, a, b)
        return (a.astype(np.float32) / b.astype(np.float32)).astype(np.float64)


class NarrowsInt64(Divider):
    """It divides what the lower 32 bits of 64-bit integers say."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int64:
            return super().quotients(operation, a, b)
        narrow = super().quotients(operation, a.astype(np.int32), b.astype(np.int32))
        return narrow.astype(np.int64)


class DropsAxis(Divider):
    """It lays the divisor under the dividend's last dimensions, and refuses where it does not fit there."""

    def axis(self, operation: Operation) -> int | None:
        return None


class AcceptsAll(Divider):
    """It refuses nothing: what it cannot divide it gives back."""

    def answer(self, operation: Operation) -> Array:
        try:
            return super().answer(operation)
        except Exception:
            return operation.operands[0]


class SaysSurrogates(Divider):
    """It refuses in a text that no encoding has."""

    def look(self, operation: Operation) -> None:
        raise ValueError("no \ud800 kernel")


class Transposes(Divider):
    """It gives the quotients in another order of dimensions."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return np.asarray(super().quotients(operation, a, b)).T


class Widens(Divider):
    """It gives 32-bit integers as 64-bit ones."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        return quotients.astype(np.int64) if a.dtype == np.int32 else quotients


class GivesLists(Divider):
    """It gives Python's lists."""

    def answer(self, operation: Operation) -> Any:
        return super().answer(operation).tolist()


class SpoilsTheLast(Divider):
    """The last of many quotients is that of other operands."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        if quotients.size > 1:
            quotients.flat[-1] = quotients.dtype.type(5)
        return quotients


class SaturatesByZero(Divider):
    """It gives 1 where an integer is divided by zero, as it may."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        return np.where(b == 0, quotients.dtype.type(1), quotients) if element_type_of(a).is_integer else quotients


class RaisesAtZero(Divider):
    """It refuses every zero divisor; of integers it may, of floats it must not."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if np.any(b == 0):
            raise ZeroDivisionError("division\nby zero")
        return super().quotients(operation, a, b)


class FailsWithConstants(Divider):
    """It refuses constant operands."""

    def look(self, operation: Operation) -> None:
        if any(operation.constant):
            raise RuntimeError("constants are folded elsewhere")


class LacksBfloat16(Divider):
    """It says that it has no bfloat16."""

    def look(self, operation: Operation) -> None:
        if any(operand.dtype.name == "bfloat16" for operand in operation.operands):
            raise UnsupportedError("no kernel for bfloat16")


class DiesOfMinByMinusOne(Divider):
    """It divides as the processor does."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        element_type: ElementType = element_type_of(a)
        if element_type.minimum and np.any((a == element_type.minimum) & (b == -1)):
            os.kill(os.getpid(), signal.SIGFPE)
        return super().quotients(operation, a, b)


class Exits(Divider):
    """It ends the process where there is nothing to divide."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return super().quotients(operation, a, b) if a.size else sys.exit(7)


class ExitsPastPython(Divider):
    """It ends the process without asking Python."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        return super().quotients(operation, a, b) if a.size else os._exit(9)


class Sleeps(Divider):
    """It does not come back from the smallest number alone."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.int64 and a.size == 1 and a == INT64.minimum:
            time.sleep(FOREVER)
        return super().quotients(operation, a, b)


class EatsMemory(Divider):
    """It takes more than a quarter of a GiB for the smallest number alone."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.int64 and a.size == 1 and a == INT64.minimum:
            eaten = np.ones(9 << 22)
            time.sleep(FOREVER)
            del eaten
        return super().quotients(operation, a, b)


class Leaks(Divider):
    """It keeps 32 MiB for each operation."""

    def __init__(self) -> None:
        self._kept: list[Array] = []

    def look(self, operation: Operation) -> None:
        self._kept.append(np.ones(1 << 22))


class Prints(Divider):
    """It prints what it does, to every way out."""

    def look(self, operation: Operation) -> None:
        print(operation.spec, flush=True)
        print(operation.spec, file=sys.stderr, flush=True)
        os.write(1, b"\x93vnc" * 20)


class FlooringBackend:
    """An implementation of ONNX's backend interface that rounds integers toward minus infinity."""

    @staticmethod
    def run_model(model: Any, inputs: list[Array], device: str = "CPU") -> list[Array]:
        """Return the quotients of a model's one division."""
        a, b = inputs
        return [np.floor_divide(a, b)]
