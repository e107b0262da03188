"""The bounds of SONNX's numeric accuracy: missing bounds, rounding outward, and all errors of small integers.

`tests/proofs/test_accuracy_formulas.py` compares them with the theorems, which prove them sound and attained.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from vinculum.reference.accuracy import accuracy, error_bounds
from vinculum.reference.exact_quotient import truncating
from vinculum.spec.element_types import (
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT4,
    INT8,
    REAL,
    ElementType,
)


def bounds_of(a: Any, b: Any, a_err: Any, b_err: Any, element_type: ElementType) -> list[Any]:
    """Return the three bounds of a single quotient."""
    dividend, divisor = (np.array(x).astype(element_type.numpy) for x in (a, b))
    result = accuracy(dividend, divisor, a_err, b_err, element_type)
    return [bound.item() for bound in (result.propagated, result.introduced, result.total)]


class TestNoBound:
    """The bound is infinite where no finite one is sound."""

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
        """SONNX refuses it, so there is no result to bound."""
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


class TestSoundness:
    """SONNX Div, 'Numeric accuracy': no error exceeds its bound."""

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

    @pytest.mark.parametrize("exponent", [-149, -140, -127, -120])
    def test_floats_around_the_smallest_normal_number(self, exponent: int) -> None:
        for dividend in (math.ldexp(a, exponent) for a in range(1, 50)):
            _, introduced, _ = bounds_of(dividend, 3, 0, 0, FLOAT)
            quotient = np.float32(dividend) / np.float32(3)
            assert abs(Fraction(float(quotient)) - Fraction(dividend) / 3) <= Fraction(introduced)
