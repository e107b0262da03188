"""Multidirectional broadcasting against NumPy's own: Div-7 and later, Divide-1 with auto_broadcast numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.errors import BroadcastError
from vinculum.tensors.broadcasting import Shape, multidirectional

# Small sizes, so that two shapes often fit and often do not; zeros and ones over-weighted.
SHAPES = st.lists(st.sampled_from([0, 1, 1, 2, 2, 3]), max_size=6).map(tuple)
RANK_64 = (1,) * 61 + (2, 1, 3)


def numpys_answer(a: Shape, b: Shape) -> Shape | None:
    """Return the shape that NumPy joins two shapes to, None if it does not."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return None


@given(SHAPES, SHAPES)
def test_agrees_with_numpy(a: Shape, b: Shape) -> None:
    joined = numpys_answer(a, b)
    if joined is None:
        with pytest.raises(BroadcastError, match="neither is 1") as refusal:
            multidirectional(a, b)
        assert str(a) in str(refusal.value)
        assert str(b) in str(refusal.value)
        return
    assert multidirectional(a, b).shape == joined


@given(SHAPES, SHAPES)
def test_each_operand_runs_along_its_own_dimensions(a: Shape, b: Shape) -> None:
    """None where an operand is repeated, else its dimension, which has the result's size; and each at most once."""
    if numpys_answer(a, b) is None:
        return
    alignment = multidirectional(a, b)
    for operand, along in ((a, alignment.a), (b, alignment.b)):
        assert len(along) == len(alignment.shape)
        used = [d for d in along if d is not None]
        assert used == sorted(set(used))
        assert all(operand[d] == size for d, size in zip(along, alignment.shape, strict=True) if d is not None)
        assert all(operand[d] == 1 for d in range(len(operand)) if d not in used)


def test_numpys_largest_rank() -> None:
    assert multidirectional(RANK_64, (5, 1)).shape == (1,) * 61 + (2, 5, 3)
    assert multidirectional((), RANK_64).shape == RANK_64
