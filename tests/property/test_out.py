"""``out``: any strides of its own, and any overlap with the operands, give what a new result would hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, encodings, random_encodings
from tests.property.views import broadcastable, half_as_often, joined, names, shapes, views

Array = npt.NDArray[Any]

operators = st.sampled_from([vinculum.div, vinculum.divide])


def policies(name: str) -> dict[str, Any]:
    """Return policies that give every pair a value."""
    return {} if name in FLOATS else {"zero_divisor": "saturate", "overflow": "saturate"}


def assert_only_written_in(memory: Array, before: Array, out: Array) -> None:
    """Fail if memory has changed outside a view of it."""
    marks = np.zeros(memory.shape, bool)
    offset = out.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    places = np.full(out.shape, offset // memory.itemsize)
    for d, (size, stride) in enumerate(zip(out.shape, out.strides, strict=True)):
        shape = [1] * out.ndim
        shape[d] = size
        places = places + (np.arange(size) * (stride // memory.itemsize)).reshape(shape)
    marks.reshape(-1)[places.reshape(-1)] = True
    assert np.array_equal(encodings(memory)[~marks], encodings(before)[~marks])


class TestOut:
    """``out`` is honoured everywhere: written in its own layout, returned, and nothing beside it is touched."""

    @half_as_often
    @given(st.data(), names, operators)
    def test_memory_of_its_own(self, data: st.DataObject, name: str, operator: Any) -> None:
        shape = data.draw(shapes())
        a, b = (data.draw(views(name, each)) for each in data.draw(broadcastable(shape)))
        out = data.draw(views(name, joined(a.array.shape, b.array.shape), writable=True))
        before = a.memory.copy(), b.memory.copy(), out.memory.copy()
        assert operator(a.array, b.array, out=out.array, **policies(name)) is out.array
        assert_same(out.array, operator(a.array, b.array, **policies(name)))
        assert_only_written_in(out.memory, before[2], out.array)
        for memory, copy in zip((a.memory, b.memory), before, strict=False):
            assert memory.tobytes() == copy.tobytes()

    @half_as_often
    @given(st.data(), names, operators)
    def test_windows_of_one_memory(self, data: st.DataObject, name: str, operator: Any) -> None:
        """Identical, shifted, reversed, interleaved with the operands: whatever slices of 3,000 elements make."""
        size = data.draw(st.sampled_from([1, 2, 7, 64, 500, 1400]))
        memory = random_encodings(name, (3000,), data.draw(st.integers(0, 9)))

        def window() -> Array:
            step = data.draw(st.sampled_from([1, 1, 1, 2, -1, -1, -2]))
            start = data.draw(st.integers(0, min(9, 3000 - abs(step) * size)))
            taken = memory[start : start + abs(step) * size : abs(step)]
            return taken[::-1] if step < 0 else taken

        some = [window() for _ in range(data.draw(st.integers(1, 3)))]
        self.check(memory, operator, name, *(data.draw(st.sampled_from(some)) for _ in range(3)))

    @half_as_often
    @given(st.data(), names, operators)
    def test_views_of_one_square(self, data: st.DataObject, name: str, operator: Any) -> None:
        """Transposed, mirrored, and rows and columns of the very memory that is written."""
        n = data.draw(st.integers(1, 40))
        memory = random_encodings(name, (n, n), data.draw(st.integers(0, 9)))
        i = data.draw(st.integers(0, n - 1))
        square = st.sampled_from([memory, memory.T, memory[::-1], memory[:, ::-1], memory[::-1, ::-1].T])
        part = st.sampled_from([memory[i], memory[:, i], memory[i : i + 1], memory[:, i : i + 1], memory[i, i:][:1]])
        self.check(memory, operator, name, data.draw(square), data.draw(square | part), data.draw(square))
        self.check(memory, operator, name, data.draw(square | part), data.draw(square), data.draw(square))

    @staticmethod
    def check(memory: Array, operator: Any, name: str, a: Array, b: Array, out: Array) -> None:
        """Divide into a view of the operands' memory; compare with what a result of its own holds."""
        expected = operator(a.copy(), b.copy(), **policies(name))
        assume(expected.shape == out.shape)
        before = memory.copy()
        assert operator(a, b, out=out, **policies(name)) is out
        assert_same(out, expected)
        assert_only_written_in(memory, before, out)

    @half_as_often
    @given(st.data(), st.sampled_from(FLOATS))
    def test_reciprocal(self, data: st.DataObject, name: str) -> None:
        shape = data.draw(shapes())
        x, out = data.draw(views(name, shape)), data.draw(views(name, shape, writable=True))
        before = x.memory.copy()
        expected = vinculum.reciprocal(np.array(x.array, DTYPES[name], order="C"))
        assert vinculum.reciprocal(x.array, out=out.array) is out.array
        assert_same(out.array, expected)
        assert x.memory.tobytes() == before.tobytes()
        expected = vinculum.reciprocal(out.array.copy())
        mirrored = out.array[::-1] if shape else out.array
        vinculum.reciprocal(out.array, out=mirrored)
        assert_same(mirrored, expected)

    @half_as_often
    @given(st.data(), st.sampled_from(["int8", "int64", "uint32"]), operators)
    def test_an_error_tells_the_first_index_all_the_same(self, data: st.DataObject, name: str, operator: Any) -> None:
        memory = random_encodings(name, (24, 24), data.draw(st.integers(0, 9)))
        square = st.sampled_from([memory, memory.T, memory[::-1], memory[:, ::-1], memory[::-1, ::-1].T])
        a, b, out = (data.draw(square) for _ in range(3))
        zero = np.argwhere(b == 0)
        with pytest.raises(vinculum.DivisionByZeroError) as caught:
            operator(a, b, out=out)
        assert (caught.value.count, caught.value.first_index) == (len(zero), tuple(zero[0].tolist()))
