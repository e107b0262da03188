"""The functions of `vinculum.sonnx`: the choice of the operator, tags of constraints, reals, and bounds of errors.

That the bounds hold, and how sharp they are, is in tests/reference and tests/proofs.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum import (
    AttributeValueError,
    BroadcastError,
    ConstraintError,
    ElementTypeError,
    VinculumError,
    sonnx,
)

Array = np.ndarray[Any, Any]
RATIONALS = st.fractions()


def reals(values: list[Fraction]) -> Array:
    """Return an object array of rationals."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


class TestReals:
    """Quotients of reals are exact, for operands of any layout."""

    @given(st.lists(st.tuples(RATIONALS, RATIONALS.filter(bool)), max_size=5))
    def test_quotients_times_divisors_are_dividends(self, pairs: list[tuple[Fraction, Fraction]]) -> None:
        a, b = reals([x for x, _ in pairs]), reals([y for _, y in pairs])
        quotients = sonnx.div(a, b)
        assert (quotients.dtype, quotients.shape) == (np.dtype(object), a.shape)
        assert [q * y for q, y in zip(quotients, b, strict=True)] == a.tolist()
        assert all(type(q) is Fraction for q in quotients)

    def test_views(self) -> None:
        a = reals([Fraction(n) for n in range(1, 7)])
        for x in (a.reshape(2, 3).T, a[::-2], np.broadcast_to(a[:1], 3), a[0:0], a[2:3].reshape(())):
            assert (sonnx.div(x, x) == 1).all()

    def test_out(self) -> None:
        a, b = reals([Fraction(1), Fraction(2)]), reals([Fraction(3), Fraction(4)])
        out = np.empty(2, object)
        assert sonnx.div(a, b, out=out) is out
        assert out.tolist() == [Fraction(1, 3), Fraction(1, 2)]
        assert sonnx.div(a, a[::-1], out=a) is a
        assert a.tolist() == [Fraction(1, 2), 2]

    def test_nothing_is_written_if_a_divisor_is_zero(self) -> None:
        a, b = reals([Fraction(1), Fraction(2)]), reals([Fraction(3), Fraction(0)])
        out = np.full(2, Fraction(9), object)
        with pytest.raises(ConstraintError, match=r"^\[C2\] 1 of 2 divisors of SONNX .* at index \(1,\)"):
            sonnx.div(a, b, out=out)
        assert out.tolist() == [9, 9]

    def test_a_subclass_of_fraction_is_something_else(self) -> None:
        class Rounded(Fraction):
            """A rational with a division of its own."""

        with pytest.raises(ElementTypeError, match="holds Rounded"):
            sonnx.div(reals([Rounded(1)]), reals([Fraction(1)]))


class TestWhichConstraint:
    """Violations are reported in this order: the operand's kind, types, shapes, elements."""

    @pytest.mark.parametrize(
        ("a", "b", "line"),
        [
            ([1], np.zeros(2, "i8"), "[GR2]"),
            (np.ones(2, "i4"), np.zeros(3, "i8"), "[C2] A is int32 and B int64"),
            (np.ones(2, "i4"), np.zeros(3, "i4"), "[C1] A has shape (2,) and B (3,)"),
            (np.array([-(2**31), 1], "int32"), np.array([-1, 0], "int32"), "[C3]"),
            (np.array([-(2**31), 1], "int32"), np.array([-1, 1], "int32"), "[V1]"),
        ],
    )
    def test_in_order(self, a: Any, b: Any, line: str) -> None:
        with pytest.raises(ConstraintError) as violation:
            sonnx.div(a, b)
        assert violation.value.tag == line.split()[0]
        assert str(violation.value).startswith(line)
        assert isinstance(violation.value, VinculumError)
        assert isinstance(violation.value, ValueError)

    def test_out_is_not_a_constraint(self) -> None:
        """It is our own argument, with the errors of the other operators."""
        a = np.ones(2, "f4")
        with pytest.raises(BroadcastError):
            sonnx.div(a, a, out=np.ones(3, "f4"))
        with pytest.raises(ElementTypeError):
            sonnx.div(a, a, out=np.ones(2, "f8"))


class TestErrorConditions:
    """Indices of Python's integers, in row-major order, whatever the layout."""

    def test_layouts(self) -> None:
        a = np.zeros((3, 4), "f4")
        b = np.ones((3, 4), "f4")
        b[0, 2] = b[2, 1] = -0.0
        swapped = b.astype(b.dtype.newbyteorder())
        for x, y in ((a, b), (np.asfortranarray(a), b), (a[::-1, ::-1], b), (a, np.asfortranarray(b)), (a, swapped)):
            assert sonnx.error_conditions(x, y) == [(0, 2), (2, 1)]
        assert all(type(i) is int for index in sonnx.error_conditions(a, b) for i in index)

    @pytest.mark.parametrize("dtype", ["i4", "u8"])
    def test_integers_have_none(self, dtype: str) -> None:
        """A zero divisor violates a constraint; only floats have the error condition."""
        assert sonnx.error_conditions(np.zeros(3, dtype), np.zeros(3, dtype)) == []
        with pytest.raises(ConstraintError, match=r"\[C2\] A is u?int\d\d and B float"):
            sonnx.error_conditions(np.zeros(3, dtype), np.zeros(3, "f4"))


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
        exact = sonnx.accuracy(A, B, 0, 0).total
        np.testing.assert_array_equal(sonnx.accuracy(A, B, np.longdouble(0), 0).total, exact)
        for bound in (1, np.int8(1), np.array([1, 1], "uint64"), [1, 1.0]):
            np.testing.assert_array_equal(sonnx.accuracy(A, B, bound, bound).total, expected)
        a, b = (x.astype(x.dtype.newbyteorder()) for x in (A, B))
        np.testing.assert_array_equal(sonnx.accuracy(a, b, 1, 1).total, expected)

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
