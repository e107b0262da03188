"""`out` and `where`: results are written to `out`, and inputs are not, unless they are `out`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from vinculum import (
    AttributeValueError,
    BroadcastError,
    DivisionByZeroError,
    ElementTypeError,
    Operator,
    VinculumError,
    div,
    divide,
    reciprocal,
    sonnx,
)

Array = np.ndarray[Any, Any]


class TestErrors:
    """After an error `out` may hold partial results, and the error says so."""

    @pytest.mark.parametrize(
        ("operator", "divisor"), [(div, 0), (partial(div, overflow="raise"), -1), (sonnx.div, 0), (sonnx.div, -1)]
    )
    def test_said_only_of_an_array_of_the_caller(self, operator: Any, divisor: int) -> None:
        a, b = np.array([-128, 1], "i1"), np.array([divisor, 1], "i1")
        for out in (None, np.empty_like(a)):
            with pytest.raises(VinculumError) as error:
                operator(a, b, out=out)
            assert ("; out may hold partial results" in str(error.value)) == (out is not None)
            assert ", the first at index (0,)" in str(error.value)


class TestWhere:
    """Where the mask is False nothing is divided, and `out` keeps its elements."""

    def test_a_zero_divisor_elsewhere(self) -> None:
        a, b = np.array([7, 8, -128], "i1"), np.array([2, 0, -1], "i1")
        out = np.array([99, 98, 97], "i1")
        assert div(a, b, out=out, where=b > 0, overflow="raise") is out
        assert Operator("Div", overflow="raise")(a, b, out, where=b > 0) is out
        assert out.tolist() == [3, 98, 97]

    def test_broadcasting(self) -> None:
        a, b = np.arange(6, dtype="f4").reshape(2, 3), np.array([2, 0, 4], "f4")
        out = np.full((2, 3), -1, "f4")
        divide(a, b, out=out, where=b != 0)
        assert out.tolist() == [[0, -1, 0.5], [1.5, -1, 1.25]]
        out[:] = -1
        div(a, b[:2], opset=6, broadcast=1, axis=0, out=out, where=np.array([[True], [False]]))
        assert out.tolist() == [[0, 0.5, 1], [-1, -1, -1]]

    def test_reciprocal_in_place_and_a_number(self) -> None:
        x = np.array([4.0, 0.0, 8.0])
        assert reciprocal(x, out=x, where=x != 0).tolist() == [0.25, 0, 0.125]
        assert div(1, x, out=x, where=x != 0).tolist() == [4, 0, 8]

    def test_exceptions_are_those_where_it_is_true(self) -> None:
        a, out = np.ones((2, 2), "i4"), np.zeros((2, 2), "i4")
        with pytest.raises(DivisionByZeroError) as raised:
            div(a, np.array([[0, 1], [1, 0]], "i4"), out=out, where=np.array([[False, True], [True, True]]))
        assert (raised.value.count, raised.value.first_index) == (1, (1, 1))
        assert not out.any()

    def test_refused(self) -> None:
        a = np.ones(2, "f4")
        with pytest.raises(AttributeValueError, match="where is given without out"):
            div(a, a, where=a > 0)
        with pytest.raises(ElementTypeError, match="where has type float32; a mask has type bool"):
            div(a, a, out=a, where=a)
        with pytest.raises(BroadcastError, match=r"where has shape \(3,\), the result \(2,\)"):
            div(a, a, out=a, where=np.ones(3, bool))
        with pytest.raises(ElementTypeError, match="the result has type float32"):
            div(a, a, out=np.ones(2), where=a > 0)
        with pytest.raises(ElementTypeError, match="A float and B double"):
            div(a, np.ones(2), out=np.ones(2), where=a > 0)
