"""Views of memory such as slicing, transposing and broadcasting make them, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st

from tests.kernels.comparing import DTYPES, random_encodings

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

_FEW = 6

half_as_often = settings(max_examples=settings().max_examples // 2)
"""Fewer examples of what takes long, and is enumerated in tests/kernels."""


@dataclass(frozen=True)
class View:
    """An array, and all the memory that it lies in."""

    array: Array
    memory: Array


@st.composite
def shapes(draw: st.DrawFn, most: int = _FEW) -> Shape:
    """Draw a shape of rank 0 to 6; now and then one dimension is longer than what the loops take at once."""
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5]), max_size=most))
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
    if rank > _FEW:  # gaps in so many dimensions would fill more memory than there is
        steps = [step if size > 1 else 1 for size, step in zip(kept, steps, strict=True)]
        gaps = [0] * rank
    sizes = [size * abs(step) + gap for size, step, gap in zip(kept, steps, gaps, strict=True)]
    memory = random_encodings(name, tuple(sizes[d] for d in order), draw(st.integers(0, 9)))
    if not writable:
        memory = draw(st.sampled_from([_plain, _plain, _unaligned, _byte_swapped, _read_only]))(memory)
    whole = memory.transpose(np.argsort(order)) if rank else memory
    sliced = whole[tuple(slice(None, None, step) for step in steps)][tuple(slice(size) for size in kept)]
    # Indexing a rank-0 array with () would give a scalar.
    return View(np.broadcast_to(sliced, shape) if any(repeats) else (sliced if rank else memory), memory)


def _plain(memory: Array) -> Array:
    return memory


def _unaligned(memory: Array) -> Array:
    raw = np.zeros(memory.nbytes + 1, np.uint8)
    moved = raw[1:].view(memory.dtype).reshape(memory.shape)
    moved[...] = memory
    return moved


def _byte_swapped(memory: Array) -> Array:
    return memory.astype(memory.dtype.newbyteorder())


def _read_only(memory: Array) -> Array:
    memory.flags.writeable = False
    return memory


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


def joined(a: Shape, b: Shape) -> Shape:
    """Return the shape that NumPy's rule gives; its own function goes no further than rank 32."""
    rank = max(len(a), len(b))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (a, b)]
    return tuple(y if x == 1 else x for x, y in zip(*padded, strict=True))


names = st.sampled_from(list(DTYPES))
