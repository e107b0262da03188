"""Operands and results of any layout, broadcast by any rule, give the quotients of contiguous ones of one shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import DTYPES, FLOATS, assert_same, encodings, exact_quotients, lenient, random_encodings
from tests.kernels.layouts import byte_swapped, c_order, read_only, unaligned

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

RULES: dict[str, tuple[Callable[..., Array], dict[str, Any]]] = {
    "Div-14": (vinculum.div, {}),
    "Divide-1": (vinculum.divide, {}),
    "limited": (vinculum.div, {"opset": 6, "broadcast": 1}),
    "pdpd": (vinculum.divide, {"auto_broadcast": "pdpd"}),
}
"""A function and its attributes for each broadcasting rule."""
OF_DIV_6 = ["int32", "uint64", "int64", "float16", "float32", "float64"]


@dataclass(frozen=True)
class View:
    """An array, and all the memory that it lies in."""

    array: Array
    memory: Array


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Draw a shape of rank 0 to 6, sometimes with one dimension that is longer than a block."""
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


def placed(b: Array, axis: int, rank: int) -> Array:
    """View B so that NumPy's rule lets it begin at A's dimension `axis`."""
    return b.reshape((1,) * axis + b.shape + (1,) * (rank - axis - b.ndim))


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


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=settings().max_examples // 2)  # each takes long
@given(st.data())
def test_views_of_any_memory(rule: str, data: st.DataObject) -> None:
    """No layout changes the result; operands, and memory beside the result, are not written."""
    function, attributes = RULES[rule]
    name = data.draw(st.sampled_from(OF_DIV_6 if rule == "limited" else list(DTYPES)))
    shape = data.draw(shapes())
    if rule in ("limited", "pdpd"):
        axis = data.draw(st.integers(0, len(shape)))
        end = data.draw(st.integers(axis, len(shape)))
        run = shape[axis:end]
        if rule == "pdpd":
            run = tuple(data.draw(st.sampled_from([size, size, 1])) for size in run)
        a, b = data.draw(views(name, shape)), data.draw(views(name, run))
        full_b = placed(b.array, axis, len(shape))
        if end < len(shape) or data.draw(st.booleans()):  # else it is the default
            attributes = attributes | {"axis": axis}
    else:
        a, b = (data.draw(views(name, each)) for each in data.draw(broadcastable(shape)))
        full_b, shape = b.array, np.broadcast_shapes(a.array.shape, b.array.shape)
    out = data.draw(views(name, shape, writable=True))
    before = [x.memory.copy() for x in (a, b, out)]
    full = [np.array(np.broadcast_to(x, shape), DTYPES[name], order="C") for x in (a.array, full_b)]
    expected = exact_quotients(*full, floor=function is vinculum.divide)
    assert_same(function(a.array, b.array, **attributes, **lenient(name)), expected)
    assert function(a.array, b.array, out=out.array, **attributes, **lenient(name)) is out.array
    assert_same(out.array, expected)
    assert_only_written_in(out.memory, before[2], out.array)
    if name not in FLOATS and len(zero := np.argwhere(full[1] == 0)):
        with pytest.raises(vinculum.DivisionByZeroError) as caught:
            function(a.array, b.array, **attributes)
        assert (caught.value.count, caught.value.first_index) == (len(zero), tuple(zero[0].tolist()))
    for x, copy in zip((a, b), before, strict=False):
        assert x.memory.tobytes() == copy.tobytes()
