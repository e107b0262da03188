"""The bounds of SONNX's numeric accuracy are sound, by true errors of drawn cases.

`tests/proofs/test_accuracy_formulas.py` shows that they are those of the theorems, which prove them sound and attained.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from tests.reference.test_rounding import form
from vinculum.reference.accuracy import Bound, error_bounds
from vinculum.reference.exact_quotient import truncating
from vinculum.reference.rounding import decode, round_to_nearest_even
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E5M2,
    FLOAT16,
    INT4,
    INT8,
    INT64,
    REAL,
    UINT8,
    ElementType,
)

PROPAGATED, INTRODUCED, TOTAL = "propagated", "introduced", "total"
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Case:
    """A quotient, the bounds p and q of its operands' errors, and true errors within them."""

    element_type: ElementType
    a: Fraction
    b: Fraction
    p: Fraction
    q: Fraction
    a_err: Fraction
    b_err: Fraction


def operator(a: Fraction, b: Fraction, element_type: ElementType) -> Fraction | None:
    """Return what the operator gives for real operands, None for an infinity; b is not 0."""
    if element_type.is_integer:
        return Fraction(math.trunc(a / b))
    if element_type is REAL:
        return a / b
    number = decode(round_to_nearest_even(a / b, form(element_type)), form(element_type))
    return number.value if number.is_finite else None


def violated(case: Case) -> set[str]:
    """Return which of the three bounds the true errors of a case exceed, both ways round for the total."""
    propagated, introduced, total = error_bounds(case.a, case.b, case.p, case.q, case.element_type)
    erroneous = case.a + case.a_err, case.b + case.b_err
    exact = case.a / case.b
    if erroneous[1] == 0:
        return {name for name, bound in ((PROPAGATED, propagated), (TOTAL, total)) if bound is not None}
    off = erroneous[0] / erroneous[1]
    errors: list[tuple[str, Bound, Fraction | None, Fraction]] = [(PROPAGATED, propagated, off, exact)]
    if gives_a_result(case.a, case.b, case.element_type):
        result = operator(case.a, case.b, case.element_type)
        errors += [(INTRODUCED, introduced, result, exact), (TOTAL, total, result, off)]
    if gives_a_result(*erroneous, case.element_type):
        errors.append((TOTAL, total, operator(*erroneous, case.element_type), exact))
    return {
        name for name, bound, got, wanted in errors if bound is not None and (got is None or abs(got - wanted) > bound)
    }


def gives_a_result(a: Fraction, b: Fraction, element_type: ElementType) -> bool:
    """Return whether integer operands and their quotient are values of the type; others always are."""
    if not element_type.is_integer:
        return True
    low, high = element_type.minimum, element_type.maximum
    return all(v.denominator == 1 and low <= v <= high for v in (a, b)) and a / b <= high


def drawn_case(draw: random.Random, element_type: ElementType) -> Case:
    """Return a case with operands of the type and errors within their bounds, often at the extremes."""
    a, b = (operand(draw, element_type) for _ in range(2))
    b = b or Fraction(1)  # a zero divisor has no bound and its own test
    p, q = abs(a) * size(draw), abs(b) * size(draw)
    a_err, b_err = p * signed_part(draw), q * signed_part(draw)
    if element_type.is_integer:
        a_err, b_err = Fraction(math.trunc(a_err)), Fraction(math.trunc(b_err))
    return Case(element_type, a, b, p, q, a_err, b_err)


def operand(draw: random.Random, element_type: ElementType) -> Fraction:
    """Return a finite value of the type, small integers and subnormals among them more often than not."""
    if element_type is REAL:
        return Fraction(draw.randint(-20, 20), draw.randint(1, 20))
    if element_type.is_integer:
        near_zero = draw.random() < 0.5
        low, high = max(element_type.minimum, -9), min(element_type.maximum, 9)
        return Fraction(draw.randint(low, high) if near_zero else whole_range(draw, element_type))
    fmt = form(element_type)
    top = fmt.largest if draw.random() < 0.5 else 2 << fmt.trailing_bits
    return decode(draw.randint(0, top) | draw.choice((0, fmt.sign_mask)), fmt).value


def whole_range(draw: random.Random, element_type: ElementType) -> int:
    """Return any integer of the type."""
    return draw.randint(element_type.minimum, element_type.maximum)


def size(draw: random.Random) -> Fraction:
    """Return a relative bound: zero, small, or as large as the operand."""
    return draw.choice((Fraction(0), Fraction(1, 1000), Fraction(1, 8), HALF, Fraction(draw.random()), Fraction(1)))


def signed_part(draw: random.Random) -> Fraction:
    """Return which part of its bound an error takes, from -1 to 1."""
    return Fraction(draw.choice((-1, 0, 1, draw.uniform(-1, 1))))


@cache
def drawn_cases() -> list[Case]:
    """Return cases of every kind of arithmetic, the same ones each time."""
    draw = random.Random(754)
    counts = {FLOAT8E5M2: 1300, FLOAT16: 500, BFLOAT16: 250, FLOAT: 250, DOUBLE: 250, REAL: 500}
    counts |= {INT4: 1500, INT8: 1000, UINT8: 500, INT64: 250}
    return [drawn_case(draw, element_type) for element_type, n in counts.items() for _ in range(n)]


class TestSoundness:
    """SONNX Div, 'Numeric accuracy': no error exceeds its bound."""

    def test_drawn_cases_of_every_arithmetic(self) -> None:
        assert [case for case in drawn_cases() if violated(case)] == []

    def test_every_small_integer_with_every_error(self) -> None:
        bounds_of_errors = list(itertools.product((0, 1, 2, 5), (0, 1, 2)))
        for a, b, (p, q) in itertools.product(range(8), range(1, 8), bounds_of_errors):
            _, _, bound = error_bounds(Fraction(a), Fraction(b), Fraction(p), Fraction(q), INT4)
            if bound is None:
                assert q >= b
                continue
            for other_a, other_b in itertools.product(range(a - p, a + p + 1), range(b - q, b + q + 1)):
                assert abs(truncating(other_a, other_b) - Fraction(a, b)) <= bound
                assert abs(truncating(a, b) - Fraction(other_a, other_b)) <= bound
