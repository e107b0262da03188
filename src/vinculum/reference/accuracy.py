"""How far a quotient may lie from the exact one: sound bounds, in rationals, rounded outward.

Source: SONNX Div, "Numeric accuracy", of the float and the int operator. Two statements of the note published
with that document do not hold and are not followed. It allows an integer quotient an introduced error of at
most 0.5, but 5 / 3 discards 2/3. Its bound of the propagated error has a factor 1 / abs(B) too much: for
A = 1, B = 2 and an error of 0.5 in B it allows 0.05, where the error is 0.1.

Derivation. Let X = A / B, X' = (A + A_err) / (B + B_err), abs(A_err) <= p and abs(B_err) <= q < abs(B). Then

    X' - X = (A_err * B - A * B_err) / (B * (B + B_err)),

    abs(X' - X) <= P,    P = (p + abs(X) * q) / (abs(B) - q),

attained at A_err = p, B_err = -q for positive A and B, where abs(X') is largest too: abs(X) + P.

A quotient y rounded to nearest is off by at most E(y) = max(u * abs(y), min(h, abs(y))): u * abs(y) among the
normal numbers; half the smallest subnormal, h, below them, where u * abs(y) < h; and no more than y itself if
it becomes 0. E grows with abs(y), so the rounded quotient lies within

    P + E(abs(X) + P)

of X. That is below (1 + u) * P + u * abs(X) + h by at least the one of the last terms that does not apply. If
abs(X) + P rounds to infinity, so may the quotient, and no finite bound is sound.

Truncation takes at most 1 - 1 / abs(B) off an integer quotient, and the result is off by at most

    P + 1 - 1 / abs(B),

attained for operands that are off themselves (A = 2, B = 3, p = 1: the operator gives 0 and may owe 1). Exact
operands may reach the operator with a larger divisor, abs(B) + n for an integer n <= q, and truncation takes
more off; the bound holds all the same. A result beyond X, or across zero from it, is off by P at most, as
truncation only takes it towards zero. Any other lies between 0 and X. It is off by at most abs(X), which is within
the bound if abs(A) < abs(B), and by at most (p + abs(X) * n) / (abs(B) + n) + 1 - 1 / (abs(B) + n): otherwise P
exceeds the first term of that by at least 2 * n**2 / (B**2 - n**2), no less than the n / (abs(B) * (abs(B) + n))
that the second gains.

Each bound holds in both directions: for exact operands a, b that reach the operator with errors, and for
operands a, b of the operator that are off by those errors themselves.

proofs/theories/accuracy*.mlw prove all this but the sentence on infinity. Of that they prove what makes the bound
sound: nothing overflows unless abs(X) + P does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vinculum.errors import AttributeValueError, BroadcastError
from vinculum.reference import elements
from vinculum.reference.rounding import decode, infinity, power_of_two, round_to_nearest_even, round_up
from vinculum.spec.element_types import DOUBLE, FLOAT, FLOAT16, BinaryFormat, ElementType, Kind

# A bound of an absolute error, None where no finite one holds.
Bound = Fraction | None
# NumPy's own ArrayLike knows no Fraction.
ErrorBound = ArrayLike | Fraction

# NumPy's floats by their size in bytes.
_FORMATS = {each.bits // 8: each.binary_format for each in (FLOAT16, FLOAT, DOUBLE) if each.binary_format}


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Bounds of the absolute error of each quotient, infinite where there is none.

    Attributes
    ----------
    propagated : ndarray
        Of the exact quotient, from the operands' errors alone.
    introduced : ndarray
        Of the operator itself, on operands without error.
    total : ndarray
        Of the operator's result against the quotient of the exact operands.
    """

    propagated: NDArray[Any]
    introduced: NDArray[Any]
    total: NDArray[Any]


def accuracy(
    a: NDArray[Any], b: NDArray[Any], a_err: ErrorBound, b_err: ErrorBound, element_type: ElementType
) -> Accuracy:
    """Return sound upper bounds of the errors of a / b, integers truncated, floats rounded to nearest.

    The operands have one shape, and both are of the element type. Their own errors' bounds are non-negative ints,
    floats or Fractions, in a shape that broadcasts to theirs. The results are binary64 rounded upward; for reals exact,
    as object arrays of Fraction (and ``inf``).

    They bound results that the operator gives, not operands that it would refuse. A zero divisor, an operand that is
    not finite and MIN / -1, which SONNX refuses, have no bound. The formulas, and where they depart from the published
    note, are derived at the top of this module.

    ElementTypeError if operands are not of the type, BroadcastError if bounds do not fit the shape. AttributeValueError
    if a bound is negative, NaN or not a number.
    """
    dividends, divisors = _exact_values(a, element_type), _exact_values(b, element_type)
    p, q = _error_bounds(a_err, "a_err", a.shape), _error_bounds(b_err, "b_err", a.shape)
    rows = [error_bounds(*each, element_type) for each in zip(dividends, divisors, p, q, strict=True)]
    return Accuracy(*(_rounded_outward([row[i] for row in rows], a.shape, element_type) for i in range(3)))


def error_bounds(
    dividend: Fraction | None,
    divisor: Fraction | None,
    p: Fraction | None,
    q: Fraction | None,
    element_type: ElementType,
) -> tuple[Bound, Bound, Bound]:
    """Return the propagated, introduced and total bound of one quotient.

    The operands may be off by p and q. None stands for an operand that is not finite, or an infinite p or q.
    """
    if dividend is None or divisor is None or divisor == 0:
        return None, None, None
    quotient = dividend / divisor
    propagated = None if p is None or q is None else propagated_error(dividend, divisor, p, q)
    if element_type.is_integer and quotient > element_type.maximum:
        return propagated, None, None  # MIN / -1
    introduced = introduced_error(abs(quotient), abs(divisor), element_type)
    if propagated is None:
        return None, introduced, None
    introduced_at_farthest = introduced_error(abs(quotient) + propagated, abs(divisor), element_type)
    total = None if introduced_at_farthest is None else propagated + introduced_at_farthest
    return propagated, introduced, total


def propagated_error(dividend: Fraction, divisor: Fraction, p: Fraction, q: Fraction) -> Bound:
    """Return P = (p + abs(A/B) * q) / (abs(B) - q), None unless q < abs(B)."""
    if q >= abs(divisor):
        return None
    return (p + abs(dividend / divisor) * q) / (abs(divisor) - q)


def introduced_error(quotient: Fraction, divisor: Fraction, element_type: ElementType) -> Bound:
    """Return the largest error of turning an exact quotient into the element type.

    Both are absolute values, the quotient the largest in question, and the divisor is not 0.
    """
    if element_type.is_integer:
        return 1 - 1 / divisor
    if element_type.binary_format is not None:
        return rounding_error(quotient, element_type.binary_format)
    return Fraction(0)


def rounding_error(magnitude: Fraction, fmt: BinaryFormat) -> Bound:
    """Return E = max(u * y, min(h, y)) for rounding a y from 0 to the magnitude, None if it may overflow."""
    if not decode(round_to_nearest_even(magnitude, fmt), fmt).is_finite:
        return None
    u = power_of_two(-fmt.significand_bits)
    h = power_of_two(fmt.subnormal_exponent - 1)
    return max(u * magnitude, min(h, magnitude))


def _exact_values(array: NDArray[Any], element_type: ElementType) -> list[Fraction | None]:
    fmt = element_type.binary_format
    if fmt is None:
        return [Fraction(value) for value in elements(array, element_type)]
    numbers = (decode(bits, fmt) for bits in elements(array, element_type))
    return [number.value if number.is_finite else None for number in numbers]


def _error_bounds(given: ErrorBound, name: str, shape: tuple[int, ...]) -> list[Fraction | None]:
    # Floats are left in their type: converting them is a computation, which may flush subnormal numbers to zero.
    is_float = isinstance(given, np.ndarray | np.generic) and given.dtype.kind == "f"
    bounds = np.asarray(given, dtype=None if is_float else object)
    try:
        spread = np.broadcast_to(bounds, shape)
    except ValueError:
        message = f"{name} has shape {bounds.shape}, which does not broadcast to the operands' {shape}"
        raise BroadcastError(message) from None
    return [_error_bound(value, name) for value in spread.flat]


def _error_bound(value: object, name: str) -> Fraction | None:
    if isinstance(value, Rational) and int(value.numerator) >= 0:
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float | np.floating):
        array = np.asarray(value)
        if (fmt := _FORMATS.get(array.itemsize)) is None:
            # A long double, for which no processor flushes subnormal numbers.
            if value >= 0:
                return None if np.isinf(value) else Fraction(*value.as_integer_ratio())
        else:
            number = decode(int(array.view(f"u{array.itemsize}")), fmt)
            if number.is_zero or not (number.is_nan or number.negative):
                return None if number.is_infinite else number.magnitude
    raise AttributeValueError(
        f"{name} holds {value!r} ({type(value).__name__}); a bound of an absolute error is a non-negative "
        "int, float or Fraction, so give the largest absolute error"
    )


def _rounded_outward(bounds: list[Bound], shape: tuple[int, ...], element_type: ElementType) -> NDArray[Any]:
    if element_type.kind is Kind.REAL:
        exact = [math.inf if bound is None else bound for bound in bounds]
        return np.array(exact, dtype=object).reshape(shape)
    fmt = _FORMATS[8]
    encodings = [infinity(fmt, negative=False) if bound is None else round_up(bound, fmt) for bound in bounds]
    return np.array(encodings, dtype=np.uint64).view(np.float64).reshape(shape)
