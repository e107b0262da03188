"""The bounds of SONNX's numeric accuracy: examples, missing bounds, and soundness by true errors of drawn cases.

`tests/proofs/test_accuracy_formulas.py` shows that they are those of the theorems, which prove them sound and attained.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.test_rounding import form
from vinculum.reference.accuracy import Bound, accuracy, error_bounds
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


def bounds_of(a: Any, b: Any, a_err: Any, b_err: Any, element_type: ElementType) -> list[Any]:
    """Return the three bounds of a single quotient."""
    dividend, divisor = (np.array(x).astype(element_type.numpy) for x in (a, b))
    result = accuracy(dividend, divisor, a_err, b_err, element_type)
    return [bound.item() for bound in (result.propagated, result.introduced, result.total)]


def real_array(*values: Fraction | int | str) -> NDArray[Any]:
    """Return an object array of Fractions."""
    return np.array([Fraction(v) for v in values], dtype=object)


class TestDocumentExamples:
    """The examples of SONNX Div."""

    def test_int_example_1(self) -> None:
        a, b = np.array([6, 5, -35]), np.array([3, 3, 3])
        result = accuracy(a, b, 0, 0, INT64)
        assert result.propagated.tolist() == [0, 0, 0]
        assert result.introduced.tolist() == [math.nextafter(2 / 3, 1)] * 3
        assert result.total.tolist() == result.introduced.tolist()

    def test_float_example_1(self) -> None:
        a = np.array([[3.0, 4.5], [16.0, 1.0], [25.5, 24.25]], dtype=np.float32)
        b = np.array([[3.0, 2.0], [4.0, 0.0], [5.0, 4.0]], dtype=np.float32)
        result = accuracy(a, b, 0, 0, FLOAT)
        assert result.introduced[1, 1] == result.propagated[1, 1] == result.total[1, 1] == math.inf
        assert result.introduced[0].tolist() == [2.0**-24, 2.25 * 2.0**-24]
        error = abs(Fraction(float(np.float32(5.1))) - Fraction(51, 10))
        assert 0 < error <= Fraction(float(result.total[2, 0]))

    def test_float_example_2_has_no_bound_where_it_is_nan(self) -> None:
        assert bounds_of(0.0, 0.0, 0, 0, DOUBLE) == [math.inf] * 3

    def test_real_example_1(self) -> None:
        a, b = real_array("6.1", "9.5", "35.7"), real_array(3, "3.3", "5.1")
        result = accuracy(a, b, Fraction(1, 10), 0, REAL)
        assert result.propagated.tolist() == [Fraction(1, 30), Fraction(1, 33), Fraction(1, 51)]
        assert result.introduced.tolist() == [0, 0, 0]
        assert result.total.tolist() == result.propagated.tolist()
        assert {type(bound) for bound in result.total} == {Fraction}


class TestNoBound:
    """Where nothing finite is sound the bound is infinite."""

    @pytest.mark.parametrize(
        ("a", "b"), [(1, 0), (math.inf, 1), (1, math.inf), (math.nan, 1), (1, -math.inf), (0, -0.0)]
    )
    def test_zero_divisors_and_operands_that_are_not_finite(self, a: float, b: float) -> None:
        assert bounds_of(a, b, 0, 0, FLOAT) == [math.inf] * 3

    def test_a_divisor_that_may_be_zero(self) -> None:
        assert bounds_of(1, 2, 0, 2, DOUBLE) == [math.inf, 2.0**-54, math.inf]
        assert bounds_of(1, 2, 0, Fraction(2), REAL) == [math.inf, 0, math.inf]
        assert bounds_of(1, 0, 0, 0, REAL) == [math.inf] * 3

    def test_an_infinite_bound_of_an_operand(self) -> None:
        assert bounds_of(1, 2, math.inf, 0, DOUBLE) == [math.inf, 2.0**-54, math.inf]
        assert bounds_of(1, 2, 0, np.float32("inf"), INT8) == [math.inf, 0.5, math.inf]

    def test_a_quotient_that_overflows(self) -> None:
        assert bounds_of(60000, 0.5, 0, 0, FLOAT16) == [0, math.inf, math.inf]
        propagated, introduced, total = bounds_of(60000, 1, 6000, 0, FLOAT16)
        assert (propagated, total) == (6000, math.inf)
        assert math.isfinite(introduced)

    def test_the_smallest_integer_by_minus_one(self) -> None:
        """SONNX refuses it: its quotient is not an int8, and nothing bounds a result that is not there."""
        assert bounds_of(-128, -1, 0, 0, INT8) == [0, math.inf, math.inf]
        assert bounds_of(-128, 1, 0, 0, INT8) == [0, 0, 0]

    def test_an_exact_zero_has_no_rounding_error(self) -> None:
        assert bounds_of(0, 3, 0, 0, FLOAT) == [0, 0, 0]


class TestResult:
    """Bounds are rounded outward to binary64, and keep the operands' shape."""

    def test_outward(self) -> None:
        propagated, introduced, total = bounds_of(1, 3, Fraction(1, 10), 0, DOUBLE)
        exact = error_bounds(Fraction(1), Fraction(3), Fraction(1, 10), Fraction(0), DOUBLE)
        for bound, rational in zip((propagated, introduced, total), exact, strict=True):
            assert rational is not None
            assert Fraction(math.nextafter(bound, 0)) < rational <= Fraction(bound)


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
