"""The page on SONNX Div, part float: IEEE 754, and the one error condition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from vinculum import sonnx

every_float = pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])

B = [[3.0, 2.0], [4.0, 0.0], [5.0, 4.0]]


def is_nearest(quotient: np.floating[Any], exact: Fraction) -> bool:
    """Whether no number of the type lies nearer to the exact quotient."""
    return abs(Fraction(float(quotient)) - exact) <= Fraction(float(np.spacing(quotient))) / 2


class TestExamples:
    """The two examples of the informal specification, in each of the three types."""

    @pytest.mark.clause("SONNX Div (float)", "ieee-754", "special-values")
    @every_float
    def test_example_1(self, dtype: str) -> None:
        """Lines 171 to 181: 1.0/0.0 is +inf."""
        quotients = sonnx.div(np.array([[3.0, 4.5], [16.0, 1.0], [25.5, 24.25]], dtype), np.array(B, dtype))
        assert quotients.dtype == np.dtype(dtype)
        assert quotients.ravel()[[0, 1, 2, 3, 5]].tolist() == [1.0, 2.25, 4.0, np.inf, 6.0625]
        assert is_nearest(quotients[2, 0], Fraction(51, 10))

    @pytest.mark.clause("SONNX Div (float)", "ieee-754", "zero-by-zero-error-condition")
    @every_float
    def test_example_2(self, dtype: str) -> None:
        """Lines 183 to 193: 0.0/0.0 is NaN; 3.25/3.0 is about 1.0833."""
        a, b = np.array([[3.25, 4.5], [16.0, 0.0], [25.5, 24.25]], dtype), np.array(B, dtype)
        quotients = sonnx.div(a, b)
        assert is_nearest(quotients[0, 0], Fraction(13, 12))
        assert is_nearest(quotients[2, 0], Fraction(51, 10))
        assert np.isnan(quotients[1, 1])
        assert quotients.ravel()[[1, 2, 5]].tolist() == [2.25, 4.0, 6.0625]
        assert sonnx.error_conditions(a, b) == [(1, 1)]


class TestErrorCondition:
    """Lines 195 and 196: NaN where both operands are zero, of either sign; told and not raised."""

    @pytest.mark.clause("SONNX Div (float)", "zero-by-zero-error-condition")
    @every_float
    def test_every_pair_of_zeros(self, dtype: str) -> None:
        a = np.array([[0.0, -0.0, 1.0], [0.0, -0.0, np.nan]], dtype)
        b = np.array([[0.0, 0.0, 0.0], [-0.0, -0.0, 0.0]], dtype)
        assert np.isnan(sonnx.div(a, b)[:, :2]).all()
        assert sonnx.error_conditions(a, b) == [(0, 0), (0, 1), (1, 0), (1, 1)]

    def test_in_tensors_without_dimensions_and_without_elements(self) -> None:
        assert sonnx.error_conditions(np.float32(0), np.float32(-0.0)) == [()]
        assert sonnx.error_conditions(np.empty((0, 2), "f4"), np.empty((0, 2), "f4")) == []


class TestAccuracy:
    """Lines 236 to 238, the note on numeric accuracy, corrected as our readings say."""

    @pytest.mark.clause("SONNX Div (float)", "propagated-error")
    @every_float
    def test_the_case_that_refutes_the_note(self, dtype: str) -> None:
        """A = 1, B = 2, B_err = 0.5: the error may be 1/1.5 - 1/2 = 1/6, where the note allows 0.05."""
        bounds = sonnx.accuracy(np.array([1], dtype), np.array([2], dtype), 0, 0.5)
        assert Fraction(1, 6) <= Fraction(bounds.propagated[0]) <= Fraction(1, 6) + Fraction(1, 2**50)

    @pytest.mark.clause("SONNX Div (float)", "introduced-error")
    @every_float
    def test_rounding_errs_by_half_a_spacing(self, dtype: str) -> None:
        """1/3 is in the normal range: the bound is u * 1/3, and what rounding really did lies within it."""
        a, b = np.array([1], dtype), np.array([3], dtype)
        bound = Fraction(sonnx.accuracy(a, b, 0, 0).introduced[0])
        exact = Fraction(1, 3) * Fraction(float(np.finfo(dtype).eps)) / 2
        assert exact <= bound <= exact * (1 + Fraction(1, 2**50))
        assert abs(Fraction(float(sonnx.div(a, b)[0])) - Fraction(1, 3)) <= bound
