"""The page on SONNX Div, part real: the mathematical quotient, here of exact rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from vinculum import ConstraintError, sonnx

Array = np.ndarray[Any, Any]


def reals(*rows: str) -> Array:
    """Return an array of exact rationals, a row for each string."""
    values = np.array([[Fraction(word) for word in row.split()] for row in rows], dtype=object)
    return values[0] if len(rows) == 1 else values


class TestExamples:
    """The two examples of the informal specification."""

    @pytest.mark.clause("SONNX Div (real)", "exact-quotient")
    def test_example_1(self) -> None:
        """Lines 49 to 61; 35.7/5.1 is the whole number 7."""
        quotients = sonnx.div(reals("6.1 9.5 35.7"), reals("3 3.3 5.1"))
        assert quotients.tolist() == [Fraction(61, 30), Fraction(95, 33), 7]

    @pytest.mark.clause("SONNX Div (real)", "exact-quotient")
    def test_example_2(self) -> None:
        """Lines 63 to 87."""
        quotients = sonnx.div(reals("3.7 4.4", "16.2 0.5", "25.3 24.8"), reals("3 2.2", "4.1 1", "5.2 4"))
        assert quotients.tolist() == [
            [Fraction(37, 30), 2],
            [Fraction(162, 41), Fraction(1, 2)],
            [Fraction(253, 52), Fraction(62, 10)],
        ]
        assert all(type(quotient) is Fraction for quotient in quotients.flat)


class TestConstraints:
    """[C2], the definition domain."""

    @pytest.mark.clause("SONNX Div (real)", "[C2]")
    def test_c2_no_divisor_is_zero(self) -> None:
        """Lines 115 and 116, and line 40: the quotient is undefined there."""
        a, b = reals("1 2", "0 4"), reals("1 2", "0 0")
        with pytest.raises(
            ConstraintError, match=r"^\[C2\] 2 of 4 divisors of SONNX Div .* are zero, the first at index \(1, 0\)"
        ) as e:
            sonnx.div(a, b)
        assert (e.value.tag, e.value.count, e.value.first_index) == ("[C2]", 2, (1, 0))

    @pytest.mark.clause("SONNX Div (real)", "no-error-condition")
    def test_there_is_no_error_condition(self) -> None:
        """Lines 89 and 90."""
        assert sonnx.error_conditions(reals("0 1"), reals("0 0")) == []


class TestAccuracy:
    """Reals are exact, so that only the operands' own errors reach the result."""

    @pytest.mark.clause("SONNX Div (real)", "propagated-error")
    def test_propagated_error_is_exact(self) -> None:
        """The case that refutes the published note: 1/2 with B_err = 0.5 may err by 1/1.5 - 1/2 or 1/2.5 - 1/2."""
        bounds = sonnx.accuracy(reals("1"), reals("2"), 0, 0.5)
        assert bounds.propagated.tolist() == bounds.total.tolist() == [Fraction(1, 6)]
        assert bounds.introduced.tolist() == [0]
        assert Fraction(1) / Fraction("1.5") - Fraction(1, 2) == Fraction(1, 6)
