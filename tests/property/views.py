"""Random views of memory, as made by slicing, transposing and broadcasting."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st

from tests.kernels.comparing import DTYPES, random_encodings
from tests.kernels.layouts import byte_swapped, c_order, read_only, unaligned

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

half_as_often = settings(max_examples=settings().max_examples // 2)
"""Fewer examples for slow properties, of which tests/kernels enumerate the main cases."""


@dataclass(frozen=True)
class View:
    """An array, and the memory that it views."""

    array: Array
    memory: Array


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Draw a shape of rank 0 to 6; sometimes one dimension is longer than a chunk of the loops."""
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5]), max_size=6))
    if shape and draw(st.integers(0, 4)) == 0:
        shape = [min(size, 2) for size in shape]
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.sampled_from([1023, 1025, 4097]))
    while prod(shape) > 10_000:
        shape.pop()
    return tuple(shape)


@st.composite
def views(draw: st.DrawFn, name: str, shape: Shape, *, writable: bool = False) -> View:
    """Draw a view of that shape: dimensions in any order, steps of either sign, gaps, repeated dimensions."""
    rank = len(shape)
    order = draw(st.permutations(range(rank)))
    steps = draw(st.lists(st.sampled_from([1, 1, 1, -1, 2, -2, 3]), min_size=rank, max_size=rank))
    repeats = draw(st.lists(st.integers(0, 5).map(lambda n: n == 0 and not writable), min_size=rank, max_size=rank))
    kept = [1 if repeated else size for size, repeated in zip(shape, repeats, strict=True)]
    gaps = draw(st.lists(st.integers(0, 1), min_size=rank, max_size=rank))
    sizes = [size * abs(step) + gap for size, step, gap in zip(kept, steps, gaps, strict=True)]
    memory = random_encodings(name, tuple(sizes[d] for d in order), draw(st.integers(0, 9)))
    if not writable:
        memory = draw(st.sampled_from([c_order, c_order, unaligned, byte_swapped, read_only]))(memory)
    whole = memory.transpose(np.argsort(order)) if rank else memory
    sliced = whole[tuple(slice(None, None, step) for step in steps)][tuple(slice(size) for size in kept)]
    # Indexing a rank-0 array with () would give a scalar.
    return View(np.broadcast_to(sliced, shape) if any(repeats) else (sliced if rank else memory), memory)


@st.composite
def broadcastable(draw: st.DrawFn, shape: Shape) -> tuple[Shape, Shape]:
    """Draw two shapes that NumPy's rule joins to a shape, or to one with more dimensions of size 1."""
    stretched = [draw(st.sampled_from(["neither", "neither", "a", "b"])) for _ in shape]
    full = [tuple(1 if who == name else size for who, size in zip(stretched, shape, strict=True)) for name in "ab"]
    return _shortened(full[0], draw(st.booleans())), _shortened(full[1], draw(st.booleans()))


def _shortened(shape: Shape, shorten: bool) -> Shape:
    while shorten and shape and shape[0] == 1:
        shape = shape[1:]
    return shape


names = st.sampled_from(list(DTYPES))
