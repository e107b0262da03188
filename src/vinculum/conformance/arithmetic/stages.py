"""The stages of ways to divide, each a few correctly rounded operations of NumPy and ml_dtypes."""

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


class Stage(Enum):
    """A stage by its notation, which is empty for one that does nothing, and by what it does, in words."""

    def __init__(self, notation: str, words: str = "") -> None:
        self.notation, self.words = notation, words

    def of(self, term: str) -> str:
        """Return the notation of the stage applied to a term."""
        return f"{self.notation}({term})" if self.notation else term


class Flush(Stage):
    """How subnormal numbers are flushed: to a zero of the same sign, to +0 as -0 is, or before they are rounded."""

    NO = ""
    SIGNED = "flush", "subnormal {0} {1} zero"
    POSITIVE = "plus_zero", "subnormal {0} and -0 {1} +0"
    UNROUNDED = "flush_unrounded", "{0} below the normal numbers {1} zero, before they are rounded"


class Narrowing(Stage):
    """How a number is converted to a narrower float format."""

    ROUNDED = ""
    CUT = "cut off", "then cut off instead of rounded"
    ODD = "rounded only if the last bit is 1", "then rounded only where its last bit is 1, else cut off"


class Inverse(Stage):
    """How the reciprocal is computed by which a dividend is multiplied, if it is.

    It is a power by this machine's C library, which does not always round correctly. What is stored is converted to the
    element type, in any format of the arithmetic.
    """

    NO = ""
    ROUNDED = "1/{b}"
    POWER = "powf({b}, -1)", "the reciprocal is the C library's powf(b, -1)"
    STORED = "stored(1/{b})", "the reciprocal is rounded to the element type"
    STORED_CUT = "stored_cut(1/{b})", "the reciprocal is cut off to the element type"
    STORED_ODD = (
        "stored_odd(1/{b})",
        "the reciprocal is rounded to the element type where its last bit is 1, else cut off",
    )


STORED = {Inverse.STORED: Narrowing.ROUNDED, Inverse.STORED_CUT: Narrowing.CUT, Inverse.STORED_ODD: Narrowing.ODD}
"""How reciprocals are converted to the element type that are."""


class Saturation(Stage):
    """Whether numbers too large for a float format, and infinities, become its largest number."""

    NO = ""
    INVERSES = "reciprocals saturated", "reciprocals"
    OPERANDS = "operands saturated", "operands"
    ALL = "operands and quotients saturated", "operands and quotients"


class Width(Stage):
    """How an integer is narrowed to 32 bits."""

    OWN = ""
    WRAPPED = "int32", "upper bits dropped"
    SATURATED = "saturate_int32", "too large ones become MIN or MAX"


class Rounding(Stage):
    """How a quotient is rounded to an integer."""

    AS_ASKED = ""
    TRUNCATED = "trunc", "truncated"
    FLOORED = "floor", "rounded down"
    EUCLIDEAN = "euclid", "rounded so that no remainder is negative"
    TO_EVEN = "nearest", "rounded to nearest, ties to even"


class Conversion(Stage):
    """What a float outside the range of an integer type becomes: MIN, as on x86 processors, or the nearest limit.

    The largest number of the format is the upper limit where MAX is none of its numbers, as Dawn compiles WGSL.
    """

    INDEFINITE = ""
    SATURATED = "saturated"
    CLAMPED = "clamped"


def flushed(array: Array, flush: Flush = Flush.SIGNED) -> Array:
    """Return an array with subnormal numbers replaced by zeros."""
    if flush is Flush.NO:
        return array
    tiny, zero = np.abs(array) < smallest_normal(array.dtype), np.zeros_like(array)
    return np.where(tiny, zero if flush is Flush.POSITIVE else np.copysign(zero, array), array)


def operated(operation: Operation, x: Array, y: Array, flush: Flush) -> Array:
    """Return the results of a float operation, flushed."""
    result = operation(x, y)
    if flush is not Flush.UNROUNDED:
        return flushed(result, flush)
    # Scaled up, no result is subnormal, so none is rounded up to the smallest normal number.
    scale = np.ldexp(1.0, 2 + int(_information(x.dtype).nmant)).astype(x.dtype)
    tiny = np.abs(operation(x * scale, y)) < smallest_normal(x.dtype) * scale
    return np.where(tiny, np.copysign(np.zeros_like(result), result), result)


def to_minus_one(b: Array) -> Array:
    """Return float numbers to the power of -1, by the C library."""
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
    """Return an array with infinities replaced by the largest numbers."""
    return np.where(np.isinf(array), np.copysign(np.full_like(array, _information(array.dtype).max), array), array)


def narrowed(quotient: Array, dtype: np.dtype[Any], narrowing: Narrowing) -> Array:
    """Return float quotients converted to another format."""
    rounded = quotient.astype(dtype)
    if narrowing is Narrowing.ROUNDED:
        return rounded
    bits = rounded.view(f"u{rounded.itemsize}")
    beyond = np.abs(rounded.astype(quotient.dtype)) > np.abs(quotient)
    if narrowing is Narrowing.ODD:
        beyond &= bits % 2 == 1  # It was even before it was rounded up.
    # The preceding encoding is the next number towards zero.
    nearer: Array = (bits - beyond.astype(bits.dtype)).view(dtype)
    return nearer


def converted(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return numbers converted to another type."""
    return array.astype(dtype, copy=False)


def as_signed(array: Array) -> Array:
    """Return the bits of integers interpreted as signed integers."""
    return array.view(f"i{array.itemsize}")


def of_four_bits(array: Array, signed: bool) -> Array:
    """Return 4-bit integers as 8-bit integers, as ml_dtypes lacks some of their arithmetic."""
    wide = array.astype(np.int8)
    return np.where(wide > 7, wide - 16, wide).astype(np.int8) if signed else wide.astype(np.uint8)


def to_32_bits(array: Array, width: Width) -> Array:
    """Return integers narrowed to int32, unless they keep their width."""
    if width is Width.OWN:
        return array
    if width is Width.SATURATED:
        limits = np.iinfo(np.int32)
        array = np.minimum(array, array.dtype.type(limits.max))
        if np.iinfo(array.dtype).min < 0:
            array = np.maximum(array, limits.min)
    return array.astype(np.int32)


def integer_quotient(a: Array, b: Array, rounding: Rounding) -> Array:
    """Return quotients of integers, computed in integer arithmetic; 0 for a zero divisor."""
    down, remainder = np.divmod(a, b)
    up = down + (remainder != 0).astype(down.dtype)
    if rounding is Rounding.FLOORED:
        return down
    if rounding is Rounding.TRUNCATED:
        return np.where((a < 0) == (b < 0), down, up)
    if rounding is Rounding.EUCLIDEAN:
        return np.where(b < 0, up, down)
    left = b - remainder  # Both have the divisor's sign, so this cannot overflow.
    less, more = (remainder < left, remainder > left)
    nearer_up, nearer_down = np.where(b < 0, less, more), np.where(b < 0, more, less)
    return np.where(nearer_up, up, np.where(nearer_down, down, np.where(down % 2 == 0, down, up)))


def whole(quotient: Array, divisor: Array, rounding: Rounding) -> Array:
    """Return float quotients rounded to integers, as floats."""
    if rounding is Rounding.EUCLIDEAN:
        return np.where(divisor < 0, np.ceil(quotient), np.floor(quotient))
    rounded = {Rounding.TRUNCATED: np.trunc, Rounding.FLOORED: np.floor, Rounding.TO_EVEN: np.rint}[rounding]
    return np.asarray(rounded(quotient))


def to_integer(numbers: Array, dtype: np.dtype[Any], conversion: Conversion) -> Array:
    """Return integral floats as integers."""
    limits = np.iinfo(dtype)
    # The largest integer may not be a number of the format; the largest plus one is.
    beyond = np.ldexp(numbers.dtype.type(1), limits.bits - (limits.min < 0))
    above = numbers >= beyond
    inside = np.where(above | (numbers < limits.min) | np.isnan(numbers), 0, numbers).astype(dtype)
    if conversion is Conversion.INDEFINITE:
        indefinite = np.array(1 << (limits.bits - 1), f"u{dtype.itemsize}").view(dtype)  # the sign bit alone
        return np.where(above | (numbers < limits.min) | np.isnan(numbers), indefinite, inside)
    largest = np.nextafter(beyond, 0) if conversion is Conversion.CLAMPED else limits.max
    return np.where(above, dtype.type(largest), np.where(numbers < limits.min, dtype.type(limits.min), inside))


@cache
def smallest_normal(dtype: np.dtype[Any]) -> Any:
    """Return the smallest normal number of a floating-point type."""
    return _information(dtype).smallest_normal


@cache
def _information(dtype: np.dtype[Any]) -> Any:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # ml_dtypes' own stub
