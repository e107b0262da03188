"""`sonnx.accuracy`: what it returns, what it takes, and that its bounds hold. Sharpness: tests/reference."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum import AttributeValueError, BroadcastError, ConstraintError, ElementTypeError, sonnx

Array = np.ndarray[Any, Any]
A, B = np.array([[3.0, 1.5], [16.0, 1.0]], "float32"), np.array([[3.0, 2.0], [-4.0, 7.0]], "float32")


class TestResult:
    """Three arrays of the operands' shape: binary64 for floats and integers, exact for reals."""

    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "u8"])
    @pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 2), (2, 0)])
    def test_shapes_and_types(self, dtype: str, shape: tuple[int, ...]) -> None:
        ones = np.ones(shape, dtype)
        bounds = sonnx.accuracy(ones, ones, 0.25, 0.25)
        for bound in (bounds.propagated, bounds.introduced, bounds.total):
            assert (bound.shape, bound.dtype) == (shape, np.dtype("f8"))

    def test_reals(self) -> None:
        a, b = np.array([Fraction(1), Fraction(2)], object), np.array([Fraction(3), Fraction(-4)], object)
        b_err: Any = [Fraction(1, 7), 0]
        bounds = sonnx.accuracy(a, b, Fraction(1, 3), b_err)
        assert bounds.propagated.tolist() == [
            (Fraction(1, 3) + Fraction(1, 21)) / (3 - Fraction(1, 7)),
            Fraction(1, 12),
        ]
        assert bounds.introduced.tolist() == [0, 0]
        assert bounds.total.tolist() == bounds.propagated.tolist()

    def test_no_errors_leave_the_introduced_one(self) -> None:
        bounds = sonnx.accuracy(A, B, 0, 0)
        assert not bounds.propagated.any()
        assert (bounds.total == bounds.introduced).all()
        assert (bounds.introduced > 0).all()

    def test_infinite_where_there_is_no_bound(self) -> None:
        """A divisor that its error may bring to zero, or that is zero; an operand that is not finite."""
        a = np.array([1, 1, np.inf, np.nan, 1], "float32")
        b = np.array([2, 0, 1, 1, 2], "float32")
        bounds = sonnx.accuracy(a, b, 0, [2, 0, 0, 0, np.inf])
        assert np.isinf(bounds.propagated).all()
        assert np.isinf(bounds.total).all()
        assert np.isinf(bounds.introduced).tolist() == [False, True, True, True, False]


class TestArguments:
    """Bounds are non-negative numbers of any exact kind, in a shape that broadcasts to the operands'."""

    @pytest.mark.parametrize(
        "bound",
        [0.5, Fraction(1, 2), np.float16(0.5), np.float64(0.5), np.full((2, 2), 0.5, "f4"), [0.5, 0.5], [[0.5], [0.5]]],
    )
    def test_numbers(self, bound: Any) -> None:
        expected = sonnx.accuracy(A, B, np.full((2, 2), 0.5), np.full((2, 2), 0.5)).total
        np.testing.assert_array_equal(sonnx.accuracy(A, B, bound, bound).total, expected)

    def test_whole_numbers(self) -> None:
        expected = sonnx.accuracy(A, B, 1.0, 1.0).total
        ones = np.array([Fraction(1)], object)
        largest = sonnx.accuracy(ones, ones, np.array([2**64 - 1], np.uint64), 0)
        assert largest.propagated.item() == 2**64 - 1
        for bound in (1, np.int8(1), np.array([1, 1], "uint64"), [1, 1.0]):
            np.testing.assert_array_equal(sonnx.accuracy(A, B, bound, bound).total, expected)

    @pytest.mark.parametrize(
        "bound", [-0.5, -1, Fraction(-1, 3), float("nan"), np.float32("nan"), -np.inf, [[0, 0], [0, -1e-300]]]
    )
    def test_negative_or_nan(self, bound: Any) -> None:
        for errors, name in (((bound, 0), "a_err"), ((0, bound), "b_err")):
            with pytest.raises(AttributeValueError, match=f"^{name} holds .* non-negative"):
                sonnx.accuracy(A, B, *errors)

    @pytest.mark.parametrize("bound", [None, "0.5", b"1", 1j, Decimal("0.5"), [[0], [0, 0]], {}, object()])
    def test_no_number(self, bound: Any) -> None:
        for errors, name in (((bound, 0), "a_err"), ((0, bound), "b_err")):
            with pytest.raises(AttributeValueError, match=f"^{name} holds ") as refusal:
                sonnx.accuracy(A, B, *errors)
            assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize("shape", [(3,), (2, 2, 1), (1, 2, 2), (0,)])
    def test_shapes_that_do_not_broadcast(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(BroadcastError, match=r"a_err has shape .* does not broadcast to the operands' \(2, 2\)"):
            sonnx.accuracy(A, B, np.zeros(shape), 0)

    def test_operands_as_div_takes_them(self) -> None:
        with pytest.raises(ConstraintError, match=r"^\[GR2\]"):
            sonnx.accuracy([1.0], [2.0], 0, 0)
        with pytest.raises(ConstraintError, match=r"^\[C1\]"):
            sonnx.accuracy(A, A[0], 0, 0)
        with pytest.raises(ConstraintError, match=r"^\[C2\] A is float and B double"):
            sonnx.accuracy(A, A.astype("f8"), 0, 0)
        with pytest.raises(ElementTypeError, match="does not take bfloat16"):
            sonnx.accuracy(A.astype(ml_dtypes.bfloat16), A.astype(ml_dtypes.bfloat16), 0, 0)

    def test_nothing_is_written(self) -> None:
        a, b, error = A.copy(), B.copy(), np.full((2, 2), 0.5)
        for array in (a, b, error):
            array.flags.writeable = False
        sonnx.accuracy(a, b, error, error)


class TestSoundness:
    """The quotient that is computed lies within the bound of the one that was meant."""

    @given(st.data())
    def test_floats(self, data: st.DataObject) -> None:
        dtype = data.draw(st.sampled_from(["f2", "f4", "f8"]))
        width: Any = {"f2": 16, "f4": 32, "f8": 64}[dtype]
        numbers = st.floats(width=width, allow_nan=False, allow_infinity=False)
        a, b = data.draw(numbers), data.draw(numbers.filter(bool))
        meant_a, meant_b = data.draw(st.fractions(-100, 100)), data.draw(st.fractions(-100, 100))
        if not meant_b:
            return
        errors = abs(Fraction(a) - meant_a), abs(Fraction(b) - meant_b)
        bound = sonnx.accuracy(np.array(a, dtype), np.array(b, dtype), *errors).total
        quotient = float(sonnx.div(np.array(a, dtype), np.array(b, dtype)))
        if np.isfinite(bound):
            assert abs(Fraction(quotient) - meant_a / meant_b) <= Fraction(float(bound))
