"""The functions of `vinculum.sonnx`: which of the three operators, which tag, and what reals are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum import (
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
    """Exact, whatever the operands and wherever they lie."""

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
            """A rational whose division could mean anything."""

        with pytest.raises(ElementTypeError, match="holds Rounded"):
            sonnx.div(reals([Rounded(1)]), reals([Fraction(1)]))


class TestWhichConstraint:
    """One violation is told at a time: the operand's kind, then types, then shapes, then elements."""

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
        """It is an argument of ours, so that its errors are those of every other operator."""
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
        for x, y in ((a, b), (np.asfortranarray(a), b), (a[::-1, ::-1], b), (a, np.asfortranarray(b))):
            assert sonnx.error_conditions(x, y) == [(0, 2), (2, 1)]
        assert all(type(i) is int for index in sonnx.error_conditions(a, b) for i in index)

    @pytest.mark.parametrize("dtype", ["i4", "u8"])
    def test_integers_have_none(self, dtype: str) -> None:
        """A zero divisor is a violated constraint there; the condition is of floats."""
        assert sonnx.error_conditions(np.zeros(3, dtype), np.zeros(3, dtype)) == []
        with pytest.raises(ConstraintError, match=r"\[C2\] A is u?int\d\d and B float"):
            sonnx.error_conditions(np.zeros(3, dtype), np.zeros(3, "f4"))
