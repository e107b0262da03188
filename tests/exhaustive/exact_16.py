"""Which quotients of 16-bit integers and floats are wrong, by multiplying back in integers: no division is used.

Written from the definitions; nothing is shared with the kernels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def wrong_integers(a: Array, b: Array, quotients: Array, floor: bool) -> Mask:
    """Return which quotients are wrong; those by zero saturate, and MIN/-1 wraps.

    Parameters
    ----------
    a, b, quotients : ndarray
        Of at most 16 bits; the divisors may be one element.
    floor : bool
        Whether quotients are rounded down; else toward zero.
    """
    limits = np.iinfo(quotients.dtype)
    a, b, q = (x.astype(np.int64) for x in (a, b, quotients))
    remainder = a - q * b
    # It is smaller than the divisor, and of the sign of the divisor, or else of the dividend.
    wrong: Mask = (abs(remainder) >= abs(b)) | ((remainder != 0) & ((remainder < 0) != ((b if floor else a) < 0)))
    if limits.min < 0:
        wraps = (a == limits.min) & (b == -1)
        wrong[wraps] = q[wraps] != limits.min
    by_zero = np.broadcast_to(b == 0, wrong.shape)
    saturated = np.where(a > 0, limits.max, np.where(a < 0, limits.min, 0))
    wrong[by_zero] = (q != saturated)[by_zero]
    return wrong


class Format(NamedTuple):
    """A format of IEEE 754 by the bits of its significand and of its exponent."""

    precision: int
    exponent_bits: int

    @property
    def fraction(self) -> int:
        """Bits of the significand that are stored."""
        return self.precision - 1

    @property
    def sign(self) -> int:
        """Encoding of -0."""
        return 1 << (self.fraction + self.exponent_bits)

    @property
    def infinity(self) -> int:
        """Encoding of plus infinity; of anything greater, NaN."""
        return self.sign - (1 << self.fraction)

    def significand(self, magnitudes: Array) -> Array:
        """Return how many times its spacing each finite number is."""
        normal = magnitudes >> self.fraction != 0
        significands: Array = (magnitudes & ((1 << self.fraction) - 1)) | (normal << self.fraction)
        return significands

    def spacing(self, magnitudes: Array) -> Array:
        """Return the exponent of two of each number's spacing, counted from the smallest subnormal number's."""
        exponents: Array = np.maximum(magnitudes >> self.fraction, 1) - 1
        return exponents

    @property
    def smallest(self) -> int:
        """Exponent of two of the smallest subnormal number."""
        return 2 - (1 << (self.exponent_bits - 1)) - self.fraction


FORMATS = {"float16": Format(11, 5), "bfloat16": Format(8, 8)}


def wrong_floats(fmt: Format, a: Array, b: Array, quotients: Array) -> Mask:
    """Return which encodings are not the quotient rounded to nearest, ties to even; every NaN is as good as another.

    Parameters
    ----------
    fmt : Format
        Of the encodings.
    a, b, quotients : ndarray of uint16
        Encodings; the divisors may be one element.
    """
    a, b, q = (x.astype(np.int64) for x in (a, b, quotients))
    negative = (a ^ b) & fmt.sign
    a, b, magnitude = (x & (fmt.sign - 1) for x in (a, b, q))
    wrong = _far_from_the_quotient(a, b, magnitude, fmt) | (q & fmt.sign != negative)
    infinite, zero = (a == fmt.infinity) | (b == 0), (b == fmt.infinity) | (a == 0)
    wrong = np.where(infinite, q != negative | fmt.infinity, wrong)
    wrong = np.where(zero, q != negative, wrong)
    nan = (infinite & zero) | (a > fmt.infinity) | (b > fmt.infinity)
    return np.where(nan, magnitude <= fmt.infinity, wrong)


def _far_from_the_quotient(a: Array, b: Array, q: Array, fmt: Format) -> Mask:
    """Return where the quotient of finite positive numbers lies outside the interval that is rounded to `q`.

    Infinity stands there for the power of two that it has the place of, and everything above.
    """
    dividend, divisor, quotient = (fmt.significand(x) for x in (a, b, q))
    # a/b and q, in quarters of q's spacing and times b's significand. Beyond 2^32 either way all is decided.
    shift = np.clip(fmt.spacing(a) - fmt.spacing(b) - fmt.spacing(q) - fmt.smallest, -32, 32)
    exact = dividend << (2 + np.maximum(shift, 0))
    divisor = divisor << np.maximum(-shift, 0)
    off = exact - ((quotient * divisor) << 2)
    # Half of the spacing either way; below a power of two numbers lie closer, but subnormal ones.
    power_of_two = (quotient == 1 << fmt.fraction) & (q >> fmt.fraction > 1)
    below, above = divisor << (1 - power_of_two), divisor << 1
    odd = quotient & 1
    far: Mask = (-off > below - odd) | ((off > above - odd) & (q != fmt.infinity)) | (q > fmt.infinity)
    return far
