"""The steps of which a division may be made up, each a few operations of NumPy and ml_dtypes, correctly rounded."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Operation = Callable[[Array, Array], Array]


class Written(Enum):
    """A stage that is written as a function around what it is done to; the empty value does nothing."""

    def of(self, term: str) -> str:
        """Return how a term is written to which it is done."""
        return f"{self.value}({term})" if self.value else term


class Flush(Written):
    """What becomes of subnormal numbers."""

    NO = ""
    SIGNED = "flush"  # a zero of the same sign
    POSITIVE = "plus_zero"  # +0, as -0 does
    UNROUNDED = "flush_unrounded"  # of a result: a zero for what is below the normal numbers before it is rounded


class Narrowing(Enum):
    """How a number becomes one of a narrower float format."""

    ROUNDED = ""
    CUT = "cut off"
    ODD = "rounded only if the last bit is 1"


class Inverse(Enum):
    """How a reciprocal is had by which a dividend is then multiplied, if it is; the value is how it is written."""

    NO = ""
    ROUNDED = "1/{b}"
    POWER = "powf({b}, -1)"  # as the C library of this machine has it: not always rounded correctly
    STORED = "stored(1/{b})"  # as a number of the element type, whatever is computed in
    STORED_CUT = "stored_cut(1/{b})"
    STORED_ODD = "stored_odd(1/{b})"

    @property
    def narrowing(self) -> Narrowing | None:
        """How the reciprocal becomes a number of the element type, None if it does not."""
        kinds = {
            Inverse.STORED: Narrowing.ROUNDED,
            Inverse.STORED_CUT: Narrowing.CUT,
            Inverse.STORED_ODD: Narrowing.ODD,
        }
        return kinds.get(self)


class Saturation(Enum):
    """Whether what is too large for a narrower float format becomes its largest number, as infinities then do."""

    NO = ""
    OPERANDS = "operands saturated"
    ALL = "operands and quotients saturated"


class Width(Written):
    """How an integer becomes one of 32 bits."""

    OWN = ""
    WRAPPED = "int32"  # the upper bits dropped
    SATURATED = "saturate_int32"


class Rounding(Written):
    """Which integer a quotient becomes."""

    AS_ASKED = ""
    TRUNCATED = "trunc"
    FLOORED = "floor"
    EUCLIDEAN = "euclid"  # the remainder is never negative
    TO_EVEN = "nearest"  # ties to even


def flushed(array: Array, flush: Flush = Flush.SIGNED) -> Array:
    """Return an array in which zeros stand for subnormal numbers."""
    if flush is Flush.NO:
        return array
    tiny, zero = np.abs(array) < smallest_normal(array.dtype), np.zeros_like(array)
    return np.where(tiny, zero if flush is Flush.POSITIVE else np.copysign(zero, array), array)


def operated(operation: Operation, x: Array, y: Array, flush: Flush) -> Array:
    """Return the results of a float operation, flushed."""
    result = operation(x, y)
    if flush is not Flush.UNROUNDED:
        return flushed(result, flush)
    # Scaled up, nothing is rounded to a subnormal number, which can make it a normal one.
    scale = np.ldexp(1.0, 2 + int(_information(x.dtype).nmant)).astype(x.dtype)
    tiny = np.abs(operation(x * scale, y)) < smallest_normal(x.dtype) * scale
    return np.where(tiny, np.copysign(np.zeros_like(result), result), result)


def to_minus_one(b: Array) -> Array:
    """Return powers of float numbers to -1, by the C library."""
    powf = _powf()
    if powf is None:
        return np.ones_like(b) / b
    distinct, places = np.unique(b.view(np.uint32), return_inverse=True)
    powers = [powf(number, -1.0) for number in distinct.view(np.float32).tolist()]
    return np.array(powers, np.float32)[places].reshape(b.shape)


@cache
def _powf() -> Any:
    library = {"linux": "libm.so.6", "darwin": None, "win32": "ucrtbase"}.get(sys.platform)
    try:
        powf = ctypes.CDLL(library).powf
    except (AttributeError, OSError, TypeError):
        return None
    powf.restype, powf.argtypes = ctypes.c_float, (ctypes.c_float, ctypes.c_float)
    return powf


def saturated(array: Array) -> Array:
    """Return an array in which the largest numbers stand for infinities."""
    return np.where(np.isinf(array), np.copysign(np.full_like(array, _information(array.dtype).max), array), array)


def narrowed(quotient: Array, dtype: np.dtype[Any], narrowing: Narrowing) -> Array:
    """Return float quotients in another format."""
    rounded = quotient.astype(dtype)
    if narrowing is Narrowing.ROUNDED:
        return rounded
    bits = rounded.view(f"u{rounded.itemsize}")
    beyond = np.abs(rounded.astype(quotient.dtype)) > np.abs(quotient)
    if narrowing is Narrowing.ODD:
        beyond &= bits % 2 == 1  # It was even before it was rounded up.
    # The next encoding below is the next number nearer to zero.
    nearer: Array = (bits - beyond.astype(bits.dtype)).view(dtype)
    return nearer


def converted(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return numbers as those of another type."""
    return array.astype(dtype, copy=False)


def as_signed(array: Array) -> Array:
    """Return the bits of integers as signed ones."""
    return array.view(f"i{array.itemsize}")


def of_four_bits(array: Array, signed: bool) -> Array:
    """Return integers of 4 bits in 8, of which ml_dtypes has too little arithmetic."""
    wide = array.astype(np.int8)
    return np.where(wide > 7, wide - 16, wide).astype(np.int8) if signed else wide.astype(np.uint8)


def to_32_bits(array: Array, width: Width) -> Array:
    """Return integers as int32, unless they keep their width."""
    if width is Width.OWN:
        return array
    if width is Width.SATURATED:
        limits = np.iinfo(np.int32)
        array = np.minimum(array, array.dtype.type(limits.max))
        if np.iinfo(array.dtype).min < 0:
            array = np.maximum(array, limits.min)
    return array.astype(np.int32)


def integer_quotient(a: Array, b: Array, rounding: Rounding) -> Array:
    """Return quotients of integers, computed without a float; 0 of a zero divisor."""
    down, remainder = np.divmod(a, b)
    up = down + (remainder != 0).astype(down.dtype)
    if rounding is Rounding.FLOORED:
        return down
    if rounding is Rounding.TRUNCATED:
        return np.where((a < 0) == (b < 0), down, up)
    if rounding is Rounding.EUCLIDEAN:
        return np.where(b < 0, up, down)
    left = b - remainder  # Both have the divisor's sign, and so nothing overflows.
    less, more = (remainder < left, remainder > left)
    nearer_up, nearer_down = np.where(b < 0, less, more), np.where(b < 0, more, less)
    return np.where(nearer_up, up, np.where(nearer_down, down, np.where(down % 2 == 0, down, up)))


def whole(quotient: Array, divisor: Array, rounding: Rounding) -> Array:
    """Return float quotients as whole numbers."""
    if rounding is Rounding.EUCLIDEAN:
        return np.where(divisor < 0, np.ceil(quotient), np.floor(quotient))
    rounded = {Rounding.TRUNCATED: np.trunc, Rounding.FLOORED: np.floor, Rounding.TO_EVEN: np.rint}[rounding]
    return np.asarray(rounded(quotient))


def to_integer(numbers: Array, dtype: np.dtype[Any], saturates: bool) -> Array:
    """Return whole numbers as integers; beyond the range stands MIN, as x86 processors have it, or the nearest one."""
    limits = np.iinfo(dtype)
    # As floats the limits may not be numbers of the format; one above the largest is.
    above = numbers >= np.ldexp(numbers.dtype.type(1), limits.bits - (limits.min < 0))
    inside = np.where(above | (numbers < limits.min) | np.isnan(numbers), 0, numbers).astype(dtype)
    if saturates:
        return np.where(above, dtype.type(limits.max), np.where(numbers < limits.min, dtype.type(limits.min), inside))
    indefinite = np.array(1 << (limits.bits - 1), f"u{dtype.itemsize}").view(dtype)  # the sign bit alone
    return np.where(above | (numbers < limits.min) | np.isnan(numbers), indefinite, inside)


@cache
def smallest_normal(dtype: np.dtype[Any]) -> Any:
    """Return the smallest normal number of a floating-point type."""
    return _information(dtype).smallest_normal


@cache
def _information(dtype: np.dtype[Any]) -> Any:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # ml_dtypes' own stub
