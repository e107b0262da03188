"""Encodings of binary formats as exact rationals, and rationals rounded back, in plain Python integers."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from vinculum.spec.element_types import BinaryFormat


class NumberClass(Enum):
    """The kind of number that an encoding stands for."""

    NAN = "NaN"
    INFINITE = "infinite"
    FINITE = "finite"


class Number(NamedTuple):
    """The exact meaning of an encoding."""

    number_class: NumberClass
    negative: bool  # The sign bit, so that the two zeros stay apart.
    significand: int = 0  # The absolute value is significand * 2**exponent; 0 unless it is finite.
    exponent: int = 0

    @property
    def is_nan(self) -> bool:
        """Whether it is not a number."""
        return self.number_class is NumberClass.NAN

    @property
    def is_infinite(self) -> bool:
        """Whether it is an infinity."""
        return self.number_class is NumberClass.INFINITE

    @property
    def is_finite(self) -> bool:
        """Whether it is zero, subnormal or normal."""
        return self.number_class is NumberClass.FINITE

    @property
    def is_zero(self) -> bool:
        """Whether it is one of the two zeros."""
        return self.is_finite and self.significand == 0

    @property
    def magnitude(self) -> Fraction:
        """The absolute value; 0 unless it is finite."""
        return self.significand * power_of_two(self.exponent)

    @property
    def value(self) -> Fraction:
        """The finite value, in which both zeros are 0."""
        return -self.magnitude if self.negative else self.magnitude


@lru_cache(maxsize=512)  # both 8-bit formats fit, so that a table of every pair decodes each encoding once
def decode(bits: int, fmt: BinaryFormat) -> Number:
    """Return exactly what an encoding, an unsigned integer of the format's width, stands for; ValueError for others."""
    if not 0 <= bits < 2 * fmt.sign_mask:
        raise ValueError(f"encoding {bits} is not from 0 to {2 * fmt.sign_mask - 1}; mask it to the format's width")
    negative = bits >= fmt.sign_mask
    unsigned = bits % fmt.sign_mask
    if unsigned > fmt.largest:
        infinite = fmt.infinities and unsigned == fmt.largest + 1
        return Number(NumberClass.INFINITE if infinite else NumberClass.NAN, negative)
    biased_exponent, trailing = divmod(unsigned, 1 << fmt.trailing_bits)
    if biased_exponent == 0:
        return Number(NumberClass.FINITE, negative, trailing, fmt.subnormal_exponent)
    significand = (1 << fmt.trailing_bits) + trailing
    return Number(NumberClass.FINITE, negative, significand, fmt.subnormal_exponent + biased_exponent - 1)


def round_to_nearest_even(value: Fraction, fmt: BinaryFormat, *, negative_zero: bool = False) -> int:
    """Return the encoding of the number nearest to a rational, of two equally near ones the even one.

    IEEE 754 roundTiesToEven with gradual underflow. What would round beyond the largest number, were the
    exponent not limited, becomes infinity, or NaN in a format without infinities (it does not saturate).
    With `negative_zero` an exact 0, which has no sign as a rational, becomes -0.
    """
    negative = value < 0 or (value == 0 and negative_zero)
    return round_ratio(abs(value.numerator), value.denominator, fmt, negative=negative)


def round_ratio(numerator: int, denominator: int, fmt: BinaryFormat, *, negative: bool, away: bool = False) -> int:
    """Return the encoding of the number nearest to a ratio of integers, which need not be in lowest terms.

    As in `round_to_nearest_even`, or with `away`, of the nearest number that is not closer to zero. The numerator is
    not negative and the denominator positive.
    """
    sign = fmt.sign_mask if negative else 0
    if numerator == 0:
        return sign
    spacing_exponent = max(_exponent(numerator, denominator) - fmt.trailing_bits, fmt.subnormal_exponent)
    if spacing_exponent < 0:
        numerator <<= -spacing_exponent
    else:
        denominator <<= spacing_exponent
    significand, remainder = divmod(numerator, denominator)
    above_middle = 2 * remainder + significand % 2 > denominator  # or in the middle, and odd
    if above_middle or (away and remainder):
        significand += 1
    # A carry out of the significand increments the exponent, as it must.
    unsigned = significand + ((spacing_exponent - fmt.subnormal_exponent) << fmt.trailing_bits)
    return sign | unsigned if unsigned <= fmt.largest else infinity(fmt, negative=negative)


def infinity(fmt: BinaryFormat, *, negative: bool) -> int:
    """Return the encoding of a signed infinity, or of NaN in a format that has no infinities."""
    if not fmt.infinities:
        return fmt.nan
    return fmt.largest + 1 + (fmt.sign_mask if negative else 0)


def round_up(value: Fraction, fmt: BinaryFormat) -> int:
    """Return the encoding of the smallest number not below a rational, of infinity above the largest.

    A conversion such as ``float(value)`` would depend on the processor, which may have been switched to flush subnormal
    numbers to zero. ValueError if the value is negative.
    """
    if value < 0:
        raise ValueError(f"{value} is negative; only the size of an error is rounded upward, give its absolute value")
    return round_ratio(value.numerator, value.denominator, fmt, negative=False, away=True)


@lru_cache(maxsize=4096)  # more exponents than binary64 has
def power_of_two(exponent: int) -> Fraction:
    """Return 2**exponent exactly."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _exponent(numerator: int, denominator: int) -> int:
    """Return the e with 2**e <= numerator / denominator < 2**(e + 1)."""
    estimate = numerator.bit_length() - denominator.bit_length()
    below = numerator < denominator << estimate if estimate >= 0 else numerator << -estimate < denominator
    return estimate - below
