"""`sonnx.accuracy`: what it returns, what it takes, and that its bounds hold. Sharpness: tests/reference."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

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
        "bound",
        [
            *(-0.5, -1, Fraction(-1, 3), float("nan"), np.float32("nan"), -np.inf, [[0, 0], [0, -1e-300]]),
            *(None, "0.5", b"1", 1j, Decimal("0.5"), [[0], [0, 0]], {}, object()),
        ],
    )
    def test_others_are_refused(self, bound: Any) -> None:
        for errors, name in (((bound, 0), "a_err"), ((0, bound), "b_err")):
            with pytest.raises(AttributeValueError, match=f"^{name} holds .*non-negative") as refusal:
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
