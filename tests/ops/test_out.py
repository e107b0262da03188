"""`out`: honoured everywhere, wherever it lies, and inputs are never written unless they are it."""

from __future__ import annotations

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from vinculum import (
    AttributeValueError,
    BroadcastError,
    DivisionByZeroError,
    ElementTypeError,
    VinculumError,
    div,
    divide,
    reciprocal,
    sonnx,
)

Array = np.ndarray[Any, Any]
TYPES: list[Any] = ["int8", "int32", "int64", "float16", "float32", "float64", ml_dtypes.bfloat16, ml_dtypes.int4]


def call(a: Array, b: Array, out: Array) -> Array:
    """Divide with the operator that takes every type."""
    return divide(a, b, out=out, m_pythondiv=False)


class TestHonoured:
    """The array given is the array returned, and holds the quotients."""

    @pytest.mark.parametrize("dtype", TYPES)
    @pytest.mark.parametrize(
        "layout",
        [
            lambda shape, dtype: np.empty(shape, dtype),
            lambda shape, dtype: np.empty(shape[::-1], dtype).T,
            lambda shape, dtype: np.empty([2 * n for n in shape], dtype)[tuple(slice(1, None, 2) for _ in shape)],
            lambda shape, dtype: np.empty(shape, dtype)[tuple(slice(None, None, -1) for _ in shape)],
            lambda shape, dtype: np.empty((shape[1], 3, shape[0]), dtype)[:, 1].T,
        ],
        ids=["rows", "columns", "every other", "backwards", "a slice"],
    )
    def test_in_every_layout(self, layout: Any, dtype: Any) -> None:
        a, b = np.arange(1, 7).reshape(2, 3).astype(dtype), np.array([1, 2, 3]).astype(dtype)
        out = layout((2, 3), dtype)
        assert call(a, b, out) is out
        expected = (
            [[1, 1, 1], [4, 2, 2]]
            if np.dtype(dtype).kind in "iu" or dtype is ml_dtypes.int4
            else [[1, 1, 1], [4, 2.5, 2]]
        )
        assert out.astype("f4").tolist() == expected

    def test_every_operator(self) -> None:
        x, out = np.array([1, 2, 4], "float32"), np.empty(3, "f4")
        for divided in (div(x, x, out=out), divide(x, x, out=out), sonnx.div(x, x, out=out), reciprocal(x, out=out)):
            assert divided is out
        assert out.tolist() == [1, 0.5, 0.25]

    def test_memory_beside_it_is_left_alone(self) -> None:
        base = np.full((4, 8), -1, "i4")
        div(np.full((2, 3), 6, "i4"), np.int32(2), out=base[1:3, 2:8:2])
        assert (base[1:3, 2:8:2] == 3).all()
        assert (base == -1).sum() == 32 - 6


class TestOperands:
    """`out` may be an operand, overlap it, or be another view of it: the quotients are those of the old values."""

    @pytest.mark.parametrize("dtype", TYPES)
    def test_in_place(self, dtype: Any) -> None:
        for order in ("C", "F"):
            a = np.array([[6, 4], [2, 7]], order=order).astype(dtype)
            b = np.array([[3, 2], [1, 7]], order=order).astype(dtype)
            first, second = a.copy(order="K"), b.copy(order="K")
            assert call(first, b, first) is first
            assert call(a, second, second) is second
            assert first.astype(int).tolist() == second.astype(int).tolist() == [[2, 2], [2, 1]]
        assert (call(first, first, first).astype(int) == 1).all()

    def test_in_place_over_more_than_the_loops_take_at_once(self) -> None:
        for n in (4095, 4096, 4097, 10_001):
            a, b = np.arange(n, dtype="i4"), np.arange(n, dtype="i4") % 7 + 1
            expected = a // b
            div(a, b, out=b)
            np.testing.assert_array_equal(b, expected)

    def test_an_operand_that_is_broadcast(self) -> None:
        a = np.array([[8, 6], [4, 2]], "float32")
        assert div(a, a[0], out=a).tolist() == [[1, 1], [0.5, np.float32(2 / 6)]]
        b = np.array([2, 4], "float32")
        assert div(b[:1], b, out=b).tolist() == [1, 0.5]

    @given(st.data())
    def test_any_views_of_one_memory(self, data: st.DataObject) -> None:
        """Operands and result lie anywhere in one piece of memory, in any direction, with gaps and repeats."""
        dtype = data.draw(st.sampled_from(["int16", "int32", "float16", "float32"]))
        base = np.random.default_rng(1).integers(1, 50, 400).astype(dtype)
        shape = tuple(data.draw(st.lists(st.integers(0, 4), max_size=3)))
        a, b, out = (view(data, base, shape, spread=which == 2) for which in range(3))
        x, y = a.copy(), b.copy()
        quotients = div(a, b, out=out)
        assert quotients is out
        np.testing.assert_array_equal(out, (x / y).astype(dtype))


def view(data: st.DataObject, base: Array, shape: tuple[int, ...], spread: bool) -> Array:
    """Draw a view of memory; `spread`: every element has a place of its own."""
    strides, step = [0] * len(shape), 1
    for d in data.draw(st.permutations(range(len(shape)))):
        stride = step if spread else data.draw(st.sampled_from([step, step, 1, 0]))
        strides[d] = stride * data.draw(st.sampled_from([1, 1, -1]))
        step *= max(shape[d], 1) * data.draw(st.sampled_from([1, 1, 2]))
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True) if n]
    lowest, highest = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    start = data.draw(st.integers(-lowest, base.size - 1 - highest))
    return as_strided(base[start:], shape, [s * base.itemsize for s in strides])


class TestRefused:
    """An `out` that cannot hold the result; nothing has been written then."""

    def test_shape(self) -> None:
        for shape in ((), (1,), (3,), (2, 1), (2, 2), (1, 2)):
            out = np.full(shape, 9, "i4")
            with pytest.raises(BroadcastError, match=r"the result has shape \(2,\)"):
                div(np.array([6, 4], "int32"), np.int32(2), out=out)
            assert (out == 9).all()

    @pytest.mark.parametrize("dtype", ["i8", "u4", "f4", ">i4", object, "V4", "?"])
    def test_element_type(self, dtype: Any) -> None:
        with pytest.raises(ElementTypeError, match="the result has type int32"):
            div(np.array([6], "int32"), np.array([2], "int32"), out=np.empty(1, dtype))

    @pytest.mark.parametrize(
        "out", [[0], (np.empty(1, "i4"),), 0, "out", memoryview(bytearray(4))], ids=lambda x: type(x).__name__
    )
    def test_no_array(self, out: Any) -> None:
        for divided in (div, divide, sonnx.div):
            with pytest.raises(ElementTypeError, match=r"out is an? .*; it must be an array of NumPy"):
                divided(np.array([6], "int32"), np.array([2], "int32"), out=out)

    def test_read_only(self) -> None:
        a = np.array([6, 4], "int32")
        fixed = a.copy()
        fixed.flags.writeable = False
        for out in (fixed, np.broadcast_to(np.int32(1), 2)):
            with pytest.raises(ElementTypeError, match="read-only"):
                div(a, a, out=out)
            with pytest.raises(ElementTypeError, match="read-only"):
                div(fixed, fixed, out=fixed)
        assert fixed.tolist() == [6, 4]

    def test_repeated_memory(self) -> None:
        out = as_strided(np.empty(1, "i4"), (2,), (0,))
        with pytest.raises(BroadcastError, match="repeats memory"):
            div(np.array([6, 4], "int32"), np.array([2, 2], "int32"), out=out)


class TestErrors:
    """After an error `out` may hold partial results, and the error says so; the inputs are what they were."""

    @pytest.mark.parametrize("in_place", [False, True])
    def test_partial_results(self, in_place: bool) -> None:
        a, b = np.arange(9000, dtype="i4"), np.ones(9000, "i4")
        b[8000] = 0
        kept = a.copy(), b.copy()
        with pytest.raises(DivisionByZeroError, match="partial results") as error:
            div(a, b, out=a if in_place else np.empty_like(a))
        assert error.value.first_index == (8000,)
        np.testing.assert_array_equal(b, kept[1])
        if not in_place:
            np.testing.assert_array_equal(a, kept[0])

    @pytest.mark.parametrize(
        ("operator", "divisor"), [(div, 0), (partial(div, overflow="raise"), -1), (sonnx.div, 0), (sonnx.div, -1)]
    )
    def test_said_only_of_an_array_of_the_caller(self, operator: Any, divisor: int) -> None:
        a, b = np.array([-128, 1], "i1"), np.array([divisor, 1], "i1")
        for out in (None, np.empty_like(a)):
            with pytest.raises(VinculumError) as error:
                operator(a, b, out=out)
            assert ("; out may hold partial results" in str(error.value)) == (out is not None)

    @pytest.mark.parametrize("dtype", TYPES)
    def test_inputs_are_never_written(self, dtype: Any) -> None:
        a, b = np.arange(1, 7).astype(dtype), np.array([1, 2, 3, 1, 2, 3]).astype(dtype)
        before = a.tobytes(), b.tobytes()
        for x, y in ((a, b), (a[::-1], b), (a.reshape(2, 3), b[:3]), (a[:1], b), (a.reshape(2, 3).T, b[:2])):
            divide(x, y)
            divide(x, y, out=np.empty(np.broadcast_shapes(x.shape, y.shape), dtype))
        assert (a.tobytes(), b.tobytes()) == before


class TestWhere:
    """`where`: nothing is divided elsewhere, and `out` stays."""

    def test_a_zero_divisor_elsewhere(self) -> None:
        a, b = np.array([7, 8, -128], "i1"), np.array([2, 0, -1], "i1")
        out = np.array([99, 98, 97], "i1")
        assert div(a, b, out=out, where=b > 0, overflow="raise") is out
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
