"""The exact quotients of 16-bit integers and floats, in integer arithmetic, and the comparison with them.

Written from the definitions, in whole numbers only; nothing is shared with the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
NONE = -1
"""The position of the first wrong quotient where none is wrong."""

compiled: Callable[[Any], Any] = numba.njit(nogil=True, error_model="numpy")

# More bits of the quotient than any of the two formats has, whatever the significands.
_EXTRA_BITS = 24


@compiled
def exact_integer(a: int, b: int, floor: bool, minimum: int, maximum: int) -> int:
    """Return the quotient, saturated for a zero divisor and wrapped for MIN/-1."""
    if b == 0:
        return 0 if a == 0 else (maximum if a > 0 else minimum)
    magnitude = abs(a) // abs(b)
    if (a < 0) == (b < 0):
        return minimum if magnitude > maximum else magnitude
    if floor and magnitude * abs(b) != abs(a):
        magnitude += 1
    return -magnitude


@compiled
def exact_float(a: int, b: int, precision: int, exponent_bits: int) -> int:
    """Return the encoding of the quotient of two encodings, rounded to nearest, ties to even; any NaN as one."""
    trailing = precision - 1
    sign_bit = 1 << (trailing + exponent_bits)
    infinity = sign_bit - (1 << trailing)
    nan = infinity + 1
    sign = (a ^ b) & sign_bit
    a &= sign_bit - 1
    b &= sign_bit - 1
    if a > infinity or b > infinity or (a == infinity and b == infinity) or (a == 0 and b == 0):
        return nan
    if a == infinity or b == 0:
        return sign | infinity
    if b == infinity or a == 0:
        return sign
    # value = significand * 2^exponent, exponents counted from the smallest subnormal number's.
    exponent = max((a >> trailing) - 1, 0) - max((b >> trailing) - 1, 0) - _EXTRA_BITS
    dividend = ((a & ((1 << trailing) - 1)) | (0 if a >> trailing == 0 else 1 << trailing)) << _EXTRA_BITS
    divisor = (b & ((1 << trailing) - 1)) | (0 if b >> trailing == 0 else 1 << trailing)
    quotient = dividend // divisor
    inexact = quotient * divisor != dividend
    bits = _EXTRA_BITS - precision  # the divisor has no more than `precision` bits
    while quotient >> bits:
        bits += 1
    # The quotient of two numbers so counted has lost the smallest exponent: it comes back with the spacing.
    smallest = 2 - (1 << (exponent_bits - 1)) - trailing
    spacing = max(exponent + bits - precision, smallest)
    dropped = spacing - exponent
    if dropped > bits + 1:
        return sign
    kept = quotient >> dropped
    rest = quotient - (kept << dropped)
    half = 1 << (dropped - 1)
    if rest > half or (rest == half and (inexact or kept & 1)):
        kept += 1
    return sign | min(kept + ((spacing - smallest) << trailing), infinity)


@compiled
def wrong_integers(a: Array, b: Array, quotients: Array, floor: bool) -> tuple[int, int]:
    """Return how many quotients are wrong, and the position of the first; `b` may be one element."""
    limits = np.iinfo(quotients.dtype)
    wrong, first = 0, NONE
    for i in range(quotients.size):
        divisor = b[0] if b.size == 1 else b[i]
        if quotients[i] != exact_integer(np.int64(a[i]), np.int64(divisor), floor, limits.min, limits.max):
            first = i if wrong == 0 else first
            wrong += 1
    return wrong, first


@compiled
def wrong_floats(a: Array, b: Array, quotients: Array, precision: int, exponent_bits: int) -> tuple[int, int]:
    """Return how many encodings are wrong, and the position of the first; every NaN is as good as another."""
    magnitude = (1 << (precision + exponent_bits - 1)) - 1
    infinity = magnitude + 1 - (1 << (precision - 1))
    wrong, first = 0, NONE
    for i in range(quotients.size):
        exact = exact_float(np.int64(a[i]), np.int64(b[i]), precision, exponent_bits)
        actual = np.int64(quotients[i])
        both_nan = (exact & magnitude) > infinity and (actual & magnitude) > infinity
        if actual != exact and not both_nan:
            first = i if wrong == 0 else first
            wrong += 1
    return wrong, first
