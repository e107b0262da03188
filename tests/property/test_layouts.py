"""Wherever operands lie, and however they are broadcast: as if they were contiguous and of one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, lenient, random_encodings
from tests.property.views import View, broadcastable, half_as_often, joined, names, shapes, views

Array = npt.NDArray[Any]
Division = Callable[..., Array]


def divide_and_check(divide: Division, name: str, a: View, b: View, full_b: Array, shape: tuple[int, ...]) -> None:
    """Divide views; compare with the same operator on contiguous copies of one shape, and with the operands' memory."""
    before = a.memory.copy(), b.memory.copy()
    full = [np.array(np.broadcast_to(x, shape), DTYPES[name], order="C") for x in (a.array, full_b)]
    if name in FLOATS:
        assert_same(divide(a.array, b.array), divide(*full, equal_shapes=True))
    else:
        expected = divide(*full, equal_shapes=True, zero_divisor="saturate", overflow="saturate")
        assert_same(divide(a.array, b.array, zero_divisor="saturate", overflow="saturate"), expected)
        zero = np.argwhere(full[1] == 0)
        if len(zero):
            with pytest.raises(vinculum.DivisionByZeroError) as caught:
                divide(a.array, b.array)
            assert (caught.value.count, caught.value.first_index) == (len(zero), tuple(zero[0].tolist()))
    for memory, copy in zip((a.memory, b.memory), before, strict=True):
        assert memory.tobytes() == copy.tobytes()


def multidirectional(*operands: Array, equal_shapes: bool = False, **policies: Any) -> Array:
    """Divide by Div-14."""
    quotients: Array = vinculum.div(*operands, **policies)
    return quotients


def floored(*operands: Array, equal_shapes: bool = False, **policies: Any) -> Array:
    """Divide by Divide-1."""
    quotients: Array = vinculum.divide(*operands, auto_broadcast="none" if equal_shapes else "numpy", **policies)
    return quotients


def limited(axis: int | None) -> Division:
    """Divide by Div-6."""

    def divide(*operands: Array, equal_shapes: bool = False, **policies: Any) -> Array:
        attributes = {} if equal_shapes else {"broadcast": 1, "axis": axis}
        quotients: Array = vinculum.div(*operands, opset=6, **policies | attributes)
        return quotients

    return divide


def pdpd(axis: int) -> Division:
    """Divide by Divide-1 as PaddlePaddle does."""

    def divide(*operands: Array, equal_shapes: bool = False, **policies: Any) -> Array:
        attributes = {"auto_broadcast": "none"} if equal_shapes else {"auto_broadcast": "pdpd", "axis": axis}
        quotients: Array = vinculum.divide(*operands, **policies | attributes)
        return quotients

    return divide


def placed(b: Array, axis: int, rank: int) -> Array:
    """View B so that NumPy's rule lets it begin at A's dimension `axis`."""
    return b.reshape((1,) * axis + b.shape + (1,) * (rank - axis - b.ndim))


class TestLayouts:
    """No operand is copied for its layout, and none changes the result."""

    @half_as_often
    @given(st.data(), names, st.sampled_from([multidirectional, floored]))
    @pytest.mark.clause("multidirectional-broadcasting")
    @pytest.mark.clause("auto-broadcast-numpy")
    def test_multidirectional(self, data: st.DataObject, name: str, divide: Division) -> None:
        shape = data.draw(shapes())
        a, b = (data.draw(views(name, each)) for each in data.draw(broadcastable(shape)))
        divide_and_check(divide, name, a, b, b.array, joined(a.array.shape, b.array.shape))

    @half_as_often
    @given(st.data(), names)
    @pytest.mark.clause("equal-shapes-by-default")
    @pytest.mark.clause("auto-broadcast-none")
    def test_equal_shapes(self, data: st.DataObject, name: str) -> None:
        shape = data.draw(shapes())
        a, b = data.draw(views(name, shape)), data.draw(views(name, shape))

        def none(*operands: Array, equal_shapes: bool = False, **policies: Any) -> Array:
            quotients: Array = vinculum.divide(*operands, auto_broadcast="none", **policies)
            return quotients

        divide_and_check(none, name, a, b, b.array, shape)

    @half_as_often
    @given(st.data(), st.sampled_from(["int32", "uint64", "int64", "float16", "float32", "float64"]))
    @pytest.mark.clause("broadcast-axis")
    @pytest.mark.clause("broadcast-suffix")
    @pytest.mark.clause("one-element-divisor")
    def test_limited(self, data: st.DataObject, name: str) -> None:
        shape = data.draw(shapes())
        axis = data.draw(st.integers(0, len(shape)))
        end = data.draw(st.integers(axis, len(shape)))
        a, b = data.draw(views(name, shape)), data.draw(views(name, shape[axis:end]))
        divide_and_check(limited(axis), name, a, b, placed(b.array, axis, len(shape)), shape)
        if end == len(shape):
            divide_and_check(limited(None), name, a, b, b.array, shape)

    @half_as_often
    @given(st.data(), names)
    @pytest.mark.clause("auto-broadcast-pdpd")
    @pytest.mark.clause("pdpd-axis")
    def test_pdpd(self, data: st.DataObject, name: str) -> None:
        shape = data.draw(shapes())
        axis = data.draw(st.integers(0, len(shape)))
        end = data.draw(st.integers(axis, len(shape)))
        run = tuple(data.draw(st.sampled_from([size, size, 1])) for size in shape[axis:end])
        a, b = data.draw(views(name, shape)), data.draw(views(name, run))
        divide_and_check(pdpd(axis), name, a, b, placed(b.array, axis, len(shape)), shape)
        if end == len(shape):
            divide_and_check(pdpd(-1), name, a, b, b.array, shape)

    @half_as_often
    @given(st.data(), st.sampled_from(FLOATS))
    @pytest.mark.clause("element-by-element")
    def test_reciprocal(self, data: st.DataObject, name: str) -> None:
        x = data.draw(views(name, data.draw(shapes())))
        before = x.memory.tobytes()
        assert_same(vinculum.reciprocal(x.array), vinculum.reciprocal(np.array(x.array, DTYPES[name], order="C")))
        assert x.memory.tobytes() == before

    @half_as_often
    @given(st.data(), names)
    def test_overlapping_windows(self, data: st.DataObject, name: str) -> None:
        memory = random_encodings(name, (40,), data.draw(st.integers(0, 9)))
        window, step = data.draw(st.integers(1, 20)), data.draw(st.sampled_from([1, 2, -1, -3]))
        windows = np.lib.stride_tricks.sliding_window_view(memory, window)[::step]
        a, b = View(windows, memory), View(windows[::-1], memory)
        divide_and_check(multidirectional, name, a, b, b.array, windows.shape)


class TestNewResults:
    """A result that is not given has no gaps, and lies in memory as the first operand does that nothing repeats."""

    @half_as_often
    @given(st.data(), names)
    def test_memory_order(self, data: st.DataObject, name: str) -> None:
        shape = tuple(size for size in data.draw(shapes()) if size > 1)
        a, b = (data.draw(views(name, each)).array for each in data.draw(broadcastable(shape)))
        result = vinculum.div(a, b, **lenient(name))
        sized = result.squeeze()
        assert sized.transpose(memory_order(sized)).flags.c_contiguous
        unrepeated = [x for x in (a, b) if x.shape == result.shape and all(x.strides)]
        expected = memory_order(unrepeated[0]) if unrepeated else list(range(result.ndim))
        assert memory_order(result) == expected


def memory_order(array: Array) -> list[int]:
    """Return the dimensions of an array as they lie in memory, outermost first."""
    return sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))
