"""The plan: whatever the strides, every element of the result is met once, beside its own operands."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from vinculum.tensors.broadcasting import multidirectional
from vinculum.tensors.walk import Walk, along, expanded, plan

Array = np.ndarray[Any, Any]
ITEM = 4


def walk_of(a: Array, b: Array, out: Array | None = None) -> Walk:
    """Plan the division of two arrays under multidirectional broadcasting."""
    return plan(
        multidirectional(a.shape, b.shape), a.strides, b.strides, None if out is None else out.strides, a.itemsize
    )


def visited(walk: Walk) -> list[tuple[int, int, int]]:
    """Return the offsets of dividend, divisor and result in the order of the walk."""
    places: Array = np.zeros((1, 3), np.int64)
    for size, *strides in walk.nest.T.tolist():
        steps = np.arange(size)[:, None] * np.array(strides)
        places = (places[:, None] + steps[None]).reshape(-1, 3)
    return [tuple(place) for place in places.tolist()]


def offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Return where each element of an array lies, in row-major order."""
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Array, Array, Array]:
    """Draw two operands and an array of the joined shape, in any order of dimensions, with gaps, turns and repeats."""
    full = draw(st.lists(st.integers(1, 4), max_size=4))
    arrays = []
    for is_result in (False, False, True):
        cut = 0 if is_result else draw(st.integers(0, len(full)))
        shape = [size if is_result or draw(st.booleans()) else 1 for size in full[cut:]]
        strides, step = [0] * len(shape), ITEM
        for d in draw(st.permutations(range(len(shape)))):
            strides[d] = draw(st.sampled_from([step, -step])) if is_result or draw(st.booleans()) else 0
            step *= shape[d] * draw(st.sampled_from([1, 1, 2]))
        arrays.append(as_strided(np.zeros(1, np.int32), shape, strides))
    return arrays[0], arrays[1], arrays[2]


class TestVisits:
    """A walk and the arrays' own strides tell the same places."""

    @given(layouts())
    def test_into_an_array(self, arrays: tuple[Array, Array, Array]) -> None:
        a, b, _ = arrays
        shape = np.broadcast_shapes(a.shape, b.shape)
        out = as_strided(np.zeros(1, np.int32), shape, arrays[2].strides[len(arrays[2].strides) - len(shape) :])
        walk = walk_of(a, b, out)
        x, y = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
        expected = zip(*(offsets(shape, z.strides) for z in (x, y, out)), strict=True)
        places = visited(walk)
        assert sorted(places) == sorted(expected)
        if walk.row_major:
            assert [place[2] for place in places] == offsets(shape, out.strides)

    @given(layouts())
    def test_into_a_result_of_its_own(self, arrays: tuple[Array, Array, Array]) -> None:
        """The result is dense: its places are a run of neighbours, in the order of the walk."""
        a, b, _ = arrays
        walk = walk_of(a, b)
        result = walk.new_result(np.dtype(np.int32))
        shape = np.broadcast_shapes(a.shape, b.shape)
        assert result.shape == shape
        x, y = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
        expected = zip(*(offsets(shape, z.strides) for z in (x, y, result)), strict=True)
        places = visited(walk)
        assert sorted(places) == sorted(expected)
        assert [place[2] for place in places] == list(range(0, ITEM * result.size, ITEM))

    @given(layouts())
    def test_no_dimension_is_left_that_could_be_joined(self, arrays: tuple[Array, Array, Array]) -> None:
        a, b, _ = arrays
        columns = walk_of(a, b).nest.T.tolist()
        assert all(size > 1 for size, *_ in columns) or len(columns) == 1
        for (_, *outer), (size, *inner) in pairwise(columns):
            assert outer != [size * stride for stride in inner]


class TestCoalescing:
    """Dimensions that all three arrays step through as one become one."""

    @pytest.mark.parametrize(
        ("a", "b", "depth"),
        [
            ((2, 3, 4, 5), (2, 3, 4, 5), 1),
            ((2, 3, 4, 5), (), 1),
            ((), (2, 3, 4, 5), 1),
            ((2, 3, 4, 5), (1, 1, 1, 1), 1),
            ((), (), 1),
            ((1, 1), (1,), 1),
            ((2, 3, 4, 5), (4, 5), 2),
            ((2, 3, 4, 5), (2, 3, 1, 1), 2),
            ((2, 3, 4, 5), (3, 1, 1), 3),
            ((2, 1, 4, 1), (1, 3, 1, 5), 4),
            ((6, 1, 7), (6, 1, 1), 2),
        ],
    )
    def test_depth(self, a: tuple[int, ...], b: tuple[int, ...], depth: int) -> None:
        walk = walk_of(np.zeros(a, "f4"), np.zeros(b, "f4"))
        assert (walk.nest.shape[1], walk.row_major) == (depth, True)

    def test_columns_first_is_one_line_too(self) -> None:
        a, b = (np.asfortranarray(np.zeros((2, 3, 4), "f4")) for _ in range(2))
        walk = walk_of(a, b)
        assert (walk.nest.tolist(), walk.row_major) == ([[24], [4], [4], [4]], False)
        assert walk.new_result(a.dtype).flags.f_contiguous

    def test_repeats(self) -> None:
        row, one = np.zeros(6, "f4"), np.zeros((), "f4")
        stretched = np.broadcast_to(one, 6)
        for a, b, strides in ((row, one, (4, 0)), (one, row, (0, 4)), (stretched, one, (0, 0))):
            assert walk_of(a, b).nest.tolist() == [[6], [strides[0]], [strides[1]], [4]]

    def test_gaps_and_turns(self) -> None:
        base, six = np.zeros(12, "f4"), np.zeros(6, "f4")
        assert walk_of(base[::2], six).nest.tolist() == [[6], [8], [4], [4]]
        assert walk_of(base[::-1], base).nest.tolist() == [[12], [-4], [4], [4]]
        assert walk_of(six, six, base[::2]).nest.tolist() == [[6], [4], [4], [8]]
        rows = np.zeros((3, 4), "f4")
        assert walk_of(rows[:, :3], rows[:, :3]).nest.shape == (4, 2)
        assert walk_of(rows[::-1], rows).nest.shape == (4, 2)


class TestExpanded:
    """An operand in the result's shape is a view that repeats it."""

    def test_a_view(self) -> None:
        b = np.arange(3, dtype="f4")
        alignment = multidirectional((2, 1), (3,))
        view = expanded(b, alignment.b, alignment.shape)
        assert np.shares_memory(view, b)
        assert view.tolist() == [[0, 1, 2]] * 2
        assert along(alignment.b, b.strides) == (0, 4)
        assert not view.flags.writeable
