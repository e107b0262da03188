"""One quotient at a time, exactly: integers, encodings of binary formats, and rationals."""

from __future__ import annotations

from fractions import Fraction

from vinculum.errors import AttributeValueError
from vinculum.reference.rounding import decode, infinity, round_ratio
from vinculum.spec.element_types import BinaryFormat, ElementType
from vinculum.spec.model import IntegerRounding

_ZERO_DIVISOR = ("raise", "zero", "saturate")
_OVERFLOW = ("wrap", "raise", "saturate")


def truncating(a: int, b: int) -> int:
    """Return a / b rounded toward zero, b not 0."""
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


def floor(a: int, b: int) -> int:
    """Return a / b rounded toward minus infinity, b not 0."""
    return a // b


def integer_quotient(
    a: int,
    b: int,
    element_type: ElementType,
    rounding: IntegerRounding,
    zero_divisor: str = "raise",
    overflow: str = "wrap",
) -> int:
    """Return the integer quotient that an operator gives for values of the element type, its policies applied.

    - `zero_divisor`: what a / 0 gives. Saturated: the largest or smallest value by the sign of a, and 0 / 0 = 0.
    - `overflow`: what MIN / -1, the only quotient outside the type, gives: MIN, an error, or the largest value.

    ZeroDivisionError or OverflowError under the two policies ``"raise"``. AttributeValueError for any other policy.
    """
    _check_policy("zero_divisor", zero_divisor, _ZERO_DIVISOR)
    _check_policy("overflow", overflow, _OVERFLOW)
    if b == 0:
        return _quotient_by_zero(a, element_type, zero_divisor)
    quotient = truncating(a, b) if rounding is IntegerRounding.TRUNCATING else floor(a, b)
    if quotient > element_type.maximum:
        return _overflowed(a, b, element_type, overflow)
    return quotient


def float_quotient(a_bits: int, b_bits: int, fmt: BinaryFormat) -> int:
    """Return the encoding of the correctly rounded quotient of two encodings.

    IEEE 754 division, roundTiesToEven: classify, compute, round. Where the document is silent (signed zeros,
    infinities, NaN operands) IEEE 754 decides; a format without infinities has NaN instead.
    """
    dividend, divisor = decode(a_bits, fmt), decode(b_bits, fmt)
    negative = dividend.negative != divisor.negative
    if dividend.is_finite and divisor.is_finite and divisor.significand:
        scale = dividend.exponent - divisor.exponent
        if scale < 0:
            return round_ratio(dividend.significand, divisor.significand << -scale, fmt, negative=negative)
        return round_ratio(dividend.significand << scale, divisor.significand, fmt, negative=negative)
    if dividend.is_nan or divisor.is_nan:
        return fmt.nan
    invalid_operation = (dividend.is_infinite and divisor.is_infinite) or (dividend.is_zero and divisor.is_zero)
    if invalid_operation:
        return fmt.nan
    division_by_zero = divisor.is_zero
    if dividend.is_infinite or division_by_zero:
        return infinity(fmt, negative=negative)
    return round_ratio(0, 1, fmt, negative=negative)  # by infinity


def rational_quotient(a: Fraction, b: Fraction) -> Fraction:
    """Return a / b exactly; a zero divisor raises ZeroDivisionError."""
    if b == 0:
        raise ZeroDivisionError(f"{a} / 0 is undefined over the reals; give a divisor that is not zero")
    return a / b


def _check_policy(name: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        choices = ", ".join(repr(a) for a in allowed)
        raise AttributeValueError(f"{name} is {given!r}; allowed: {choices}")


def _quotient_by_zero(a: int, element_type: ElementType, zero_divisor: str) -> int:
    if zero_divisor == "raise":
        raise ZeroDivisionError(f"{a} / 0 in {element_type}; choose zero_divisor='zero' or 'saturate' to get a value")
    if zero_divisor == "zero" or a == 0:
        return 0
    return element_type.maximum if a > 0 else element_type.minimum


def _overflowed(a: int, b: int, element_type: ElementType, overflow: str) -> int:
    if overflow == "raise":
        raise OverflowError(
            f"{a} / {b} exceeds the largest {element_type}, {element_type.maximum}; "
            "choose overflow='wrap' or 'saturate' to get a value"
        )
    return element_type.minimum if overflow == "wrap" else element_type.maximum
