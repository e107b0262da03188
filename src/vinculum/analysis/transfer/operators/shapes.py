"""Operators that change the shape and move elements along, and those that tell shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from vinculum.analysis.domain import dimensions
from vinculum.analysis.domain.abstract_tensor import SMALL, AbstractTensor, constant
from vinculum.analysis.domain.box import Box, compact
from vinculum.analysis.domain.dimensions import Dimension, Shape, bounds, fixed, known_size, resized, unknown_size
from vinculum.analysis.domain.facts import Kind, moved_facts
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.shared import (
    axis_of,
    broadcast,
    counts,
    first_of,
    hulled,
    hulled_with_zero,
    like,
    rearranged,
    result_of,
    with_zero,
)


def shape_from(sizes: AbstractTensor | None) -> Shape | None:
    """Return the shape that a list of integers asks for."""
    if sizes is None:
        return None
    found = sizes.sizes()
    if found is not None:
        return tuple(map(known_size, found))
    if sizes.shape is not None and len(sizes.shape) == 1 and isinstance(sizes.shape[0], int):
        return tuple(unknown_size() for _ in range(sizes.shape[0]))
    return None


def integers(operand: Operand, listed: Any = None) -> list[int] | None:
    """Return the integers of a constant operand, or of an attribute; None if neither is there or known."""
    if operand is not None:
        return None if operand.constant is None else [int(v) for v in operand.constant.reshape(-1)]
    return None if listed is None else [int(v) for v in listed]


def _transpose(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return a.known(number=0, facts=(), constant=None, entries=None, affine=None)
    order = call.attribute("perm", None) or list(range(len(a.shape)))[::-1]
    places = [order.index(axis) for axis in range(len(order))]
    return rearranged(a, tuple(a.shape[axis] for axis in order), lambda b: np.transpose(b, order), places)


def _reshape(call: Call, a: AbstractTensor, asked: Operand = None) -> AbstractTensor:
    listed: Sequence[Dimension] | None = call.attribute("shape", None) if call.opset < 5 else shape_from(asked)
    if listed is None:
        return reshaped(a, None)
    shape = list(listed)
    for place, size in enumerate(shape):
        if size == 0 and not call.attribute("allowzero", 0):
            shape[place] = a.shape[place] if a.shape is not None and place < len(a.shape) else unknown_size()
    if -1 in shape:
        others = dimensions.product(size for size in shape if size != -1)
        whole = None if a.shape is None else dimensions.product(a.shape)
        left = None if whole is None or others is None else dimensions.quotient(whole, others)
        shape[shape.index(-1)] = known_size(left)
    return reshaped(a, tuple(shape))


def reshaped(a: AbstractTensor, shape: Shape | None) -> AbstractTensor:
    """Return the same elements, in the same order, in another shape."""
    if shape == a.shape:
        return like(a, shape, a.box, facts=a.facts, constant=a.constant, entries=a.entries)
    sizes = fixed(shape)
    entries = a.entries if shape is not None and len(shape) <= 1 else None
    if shape is None or a.shape is None:
        return hulled(a, shape, entries=entries)
    before, after = ([axis for axis, size in enumerate(s) if size != 1] for s in (a.shape, shape))
    if [a.shape[axis] for axis in before] == [shape[axis] for axis in after]:  # Only axes of size 1 come or go.
        to, of = dict(zip(before, after, strict=True)), dict(zip(after, before, strict=True))
        facts = moved_facts(a.facts, [to.get(axis) for axis in range(len(a.shape))])
        box = a.box.mapped(lambda b: b.reshape([b.shape[of[axis]] if axis in of else 1 for axis in range(len(shape))]))
    else:
        stays = shape and a.shape and shape[-1] == a.shape[-1]
        facts = moved_facts(a.facts, [*[None] * (len(a.shape) - 1), len(shape) - 1]) if stays else ()
        spread = None if sizes is None else a.box.spread(a.shape)
        box = a.box.hulled() if spread is None else spread.mapped(lambda b: b.reshape(sizes))
    whole = None if sizes is None or a.constant is None else a.constant.reshape(sizes)
    return like(a, shape, compact(box), facts=facts, constant=whole, entries=entries)


def _flatten(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return reshaped(a, (unknown_size(), unknown_size()))
    axis = axis_of(call.attribute("axis", 1), len(a.shape))
    halves = [dimensions.product(part) for part in (a.shape[:axis], a.shape[axis:])]
    return reshaped(a, tuple(map(known_size, halves)))


def _squeeze(call: Call, a: AbstractTensor, given: Operand = None) -> AbstractTensor:
    axes = integers(given, call.attribute("axes", None))
    if axes is None and given is None and fixed(a.shape) is not None:
        axes = [axis for axis, size in enumerate(a.shape or ()) if size == 1]
    if a.shape is None or axes is None:
        return reshaped(a, None)
    gone = {axis_of(axis, len(a.shape)) for axis in axes}
    kept = tuple(size for axis, size in enumerate(a.shape) if axis not in gone)
    places = iter(range(len(kept)))
    targets = [None if axis in gone else next(places) for axis in range(len(a.shape))]
    return rearranged(a, kept, lambda b: b.squeeze(axis=tuple(gone)), targets, entries=a.entries)


def _unsqueeze(call: Call, a: AbstractTensor, given: Operand = None) -> AbstractTensor:
    axes = integers(given, call.attribute("axes", None))
    if a.shape is None or axes is None:
        return reshaped(a, None)
    rank = len(a.shape) + len(axes)
    new = tuple(sorted({axis_of(axis, rank) for axis in axes}))
    old, sizes = [axis for axis in range(rank) if axis not in new], iter(a.shape)
    shape = tuple(1 if axis in new else next(sizes) for axis in range(rank))
    return rearranged(a, shape, lambda b: np.expand_dims(b, new), old, entries=a.entries if rank <= 1 else None)


def _expand(call: Call, a: AbstractTensor, asked: Operand = None) -> AbstractTensor:
    wanted = shape_from(asked)
    shape = None if wanted is None else broadcast(a.shape, wanted)
    if shape is None or a.shape is None:
        return hulled(a, None)
    before = len(shape) - len(a.shape)
    kept = [before + axis if shape[before + axis] == size else None for axis, size in enumerate(a.shape)]
    return like(a, shape, a.box, facts=moved_facts(a.facts, kept))


def _tile(call: Call, a: AbstractTensor, repeats: Operand = None) -> AbstractTensor:
    counts = None if repeats is None else repeats.sizes()
    if a.shape is None:
        return hulled(a, None)
    if counts is None or len(counts) != len(a.shape):
        return hulled(a, tuple(unknown_size() for _ in a.shape))
    pairs = zip(a.shape, counts, strict=True)
    shape = tuple(known_size(None if count is None else dimensions.times(size, count)) for size, count in pairs)
    return like(a, shape, a.box.along(tuple(axis for axis, count in enumerate(counts) if count != 1)))


def _concat(call: Call, *operands: Operand) -> AbstractTensor:
    given = [operand for operand in operands if operand is not None]
    shapes = [operand.shape for operand in given if operand.shape is not None]
    if len(shapes) < len(given) or len(set(map(len, shapes))) > 1:
        return _joined(given, None)
    first = shapes[0]
    axis = axis_of(call.attribute("axis", 1), len(first))
    others = [next((s[x] for s in shapes if isinstance(s[x], int)), size) for x, size in enumerate(first)]
    shape = resized(tuple(others), axis, known_size(dimensions.total(s[axis] for s in shapes)))
    result = _joined(given, shape)
    sizes = [operand.sizes() for operand in given]
    entries = None
    if len(first) == 1 and None not in sizes:
        entries = tuple(size for found in sizes for size in found or ())
    held = [operand.constant for operand in given if operand.constant is not None]
    small = len(held) == len(given) and sum(array.size for array in held) <= SMALL
    box = _boxes_side_by_side(given, axis, shape)
    if box is not None:
        result = like(result, shape, box)
    facts = tuple(
        f for f in given[0].facts if f.kind is Kind.SUM and f.axis != axis and all(f in o.facts for o in given)
    )
    return result.known(entries=entries, constant=np.concatenate(held, axis) if small else None, facts=facts)


def _joined(given: Sequence[AbstractTensor], shape: Shape | None) -> AbstractTensor:
    return result_of(
        given,
        shape,
        min(operand.low.min() for operand in given),
        max(operand.high.max() for operand in given),
        min(operand.mag.min() for operand in given),
        may_plus_zero=any(operand.may_plus_zero for operand in given),
        may_minus_zero=any(operand.may_minus_zero for operand in given),
        integral=all(operand.integral for operand in given),
    )


def _boxes_side_by_side(given: Sequence[AbstractTensor], axis: int, shape: Shape) -> Box | None:
    """Return an interval for each place along the axis, and along others for each if they are few."""
    counts = fixed(tuple(operand.shape[axis] for operand in given if operand.shape is not None))
    if counts is None or not 0 < sum(counts) <= SMALL:
        return None
    parts = [(operand.box, count) for operand, count in zip(given, counts, strict=True) if count]
    sizes = [max(box.low.shape[x] for box, _ in parts) for x in range(len(shape))]
    sizes[axis] = sum(counts)
    if np.prod(sizes, dtype=float) > SMALL * 4:
        return None
    stacked = []
    for name in ("low", "high", "mag"):
        each = (np.broadcast_to(getattr(box, name), [*sizes[:axis], count, *sizes[axis + 1 :]]) for box, count in parts)
        stacked.append(np.concatenate(list(each), axis))
    return compact(Box(*stacked))


def _split(call: Call, a: AbstractTensor, given: Operand = None) -> Result:
    count = len(call.results)
    if a.shape is None:
        return [hulled(a, None) for _ in range(count)]
    axis = axis_of(call.attribute("axis", 0), len(a.shape))
    parts = integers(given, call.attribute("split", None))
    size = a.shape[axis]
    if parts is None and given is None and isinstance(size, int):
        each = -(-size // count)
        parts = [max(min(each, size - k * each), 0) for k in range(count)]
    if parts is None or len(parts) != count:
        return [hulled(a, resized(a.shape, axis, unknown_size())) for _ in range(count)]
    ends = [sum(parts[:k]) for k in range(count + 1)]
    return [_cut(a, axis, slice(start, end), end - start) for start, end in pairwise(ends)]


def _cut(a: AbstractTensor, axis: int, kept: slice, count: int) -> AbstractTensor:
    """Return some places along an axis; the box need not be spread for it."""
    assert a.shape is not None
    place, shape = (*[slice(None)] * axis, kept), resized(a.shape, axis, count)
    box = a.box.mapped(lambda b: b[place] if b.shape[axis] > 1 else b)
    if not (box.low.size and box.high.size and box.mag.size):
        return hulled(a, shape)
    whole = None if a.constant is None else a.constant[place]
    entries = None if a.entries is None or len(a.shape) != 1 else a.entries[kept]
    return like(a, shape, box, constant=whole, entries=entries, facts=tuple(f for f in a.facts if f.axis != axis))


def _slice(call: Call, a: AbstractTensor, *others: Operand) -> AbstractTensor:
    if a.shape is None:
        return hulled(a, None)
    starts, ends, axes, steps = first_of(others, 4)
    rank = len(a.shape)
    begin, end = integers(starts, call.attribute("starts", None)), integers(ends, call.attribute("ends", None))
    along, step = integers(axes, call.attribute("axes", None)), integers(steps, None)
    if along is None and axes is not None:
        return hulled(a, tuple(unknown_size(0, dimensions.largest(size)) for size in a.shape))
    if along is None:
        asked = (starts.shape or (rank,))[0] if starts is not None else rank
        along = list(range(len(begin or end or []) or (asked if isinstance(asked, int) else rank)))
    along = [axis_of(axis, rank) for axis in along]
    if begin is None or end is None or (steps is not None and step is None):
        return _slice_of_unknown(a, along, starts, ends, step if steps is not None else [1] * len(along))
    result = a
    for axis, start, stop, stride in zip(along, begin, end, step or [1] * len(along), strict=True):
        result = _sliced(result, axis, start, stop, stride)
    kept = a.facts if result.shape == a.shape else tuple(f for f in a.facts if f.axis not in along)
    return result.known(facts=kept, number=0)


def _sliced(a: AbstractTensor, axis: int, start: int, stop: int, stride: int) -> AbstractTensor:
    assert a.shape is not None
    size = a.shape[axis]
    if isinstance(size, int):
        kept = slice(start, None if stride < 0 and stop < -(2**31) else stop, stride)
        return _cut(a, axis, kept, len(range(*kept.indices(size))))
    new: Dimension = unknown_size(0, dimensions.largest(size))
    if ((start, stride) == (0, 1) and stop >= min(2**31 - 1, dimensions.largest(size))) or (
        (start, stride) == (-1, -1) and stop < -(2**31)
    ):
        new = size
    elif stride == 1 and 0 <= start < stop < 2**31 and stop <= bounds(size)[0]:
        new = stop - start
    elif stride == 1 and stop >= 2**31 and abs(start) <= bounds(size)[0]:
        new = -start if start < 0 else dimensions.minus(size, start) or new
    return like(a, resized(a.shape, axis, new), a.box)


def _slice_of_unknown(
    a: AbstractTensor, along: list[int], starts: Operand, ends: Operand, step: list[int] | None
) -> AbstractTensor:
    assert a.shape is not None
    shape = list(a.shape)
    low, high = (starts.sizes() if starts is not None else None), (ends.sizes() if ends is not None else None)
    for place, axis in enumerate(along):
        length = None
        if low is not None and high is not None and step is not None and step[place] == 1:
            length = _length(low[place], high[place], a.shape[axis])
        shape[axis] = unknown_size(0, dimensions.largest(a.shape[axis])) if length is None else length
    facts = tuple(f for f in a.facts if f.axis not in along)
    return like(a, tuple(shape), a.box.along(tuple(along)), facts=facts)


def _length(start: Dimension | None, stop: Dimension | None, size: Dimension) -> Dimension | None:
    """Return stop - start if a slice takes exactly so many elements; None if that is not known."""
    if start is None or stop is None:
        return None
    room, length = dimensions.minus(size, stop), dimensions.minus(stop, start)
    if room is None or length is None or min(bounds(end)[0] for end in (room, length, start)) < 0:
        return None
    return length


def _shape(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return counts((unknown_size(),))
    sizes = a.shape[call.attribute("start", 0) : call.attribute("end", None)]
    return constant(np.array(sizes, np.int64)) if fixed(sizes) is not None else _listed(sizes)


def _listed(sizes: Shape) -> AbstractTensor:
    ends = [bounds(size) for size in sizes]
    low, high = np.array([low for low, _ in ends]), np.array([high for _, high in ends])
    return counts((len(sizes),), np.minimum(high, 2.0**62), np.maximum(low, 0)).known(entries=sizes)


def _size(call: Call, a: AbstractTensor) -> AbstractTensor:
    count = None if a.shape is None else dimensions.product(a.shape)
    if count is None:
        return counts(())
    if isinstance(count, int):
        return constant(np.array(count, np.int64))
    return reshaped(_listed((count,)), ()).known(entries=(count,))


def _pad(
    call: Call, a: AbstractTensor, pads: Operand = None, value: Operand = None, axes: Operand = None
) -> AbstractTensor:
    widths = integers(pads, call.attribute("pads", None)) if call.opset >= 11 or pads is None else None
    along = integers(axes)
    shape: Shape | None = None
    if a.shape is not None:
        rank = len(a.shape)
        shape = tuple(unknown_size() for _ in a.shape)
        if widths is not None and (along is not None or axes is None):
            chosen = range(rank) if along is None else [axis_of(axis, rank) for axis in along]
            added = {axis: widths[k] + widths[k + len(chosen)] for k, axis in enumerate(chosen)}
            shape = tuple(known_size(dimensions.plus(size, added.get(axis, 0))) for axis, size in enumerate(a.shape))
    if call.attribute("mode", "constant") != "constant":
        return hulled(a, shape)
    filled = value
    if filled is None:
        filled = constant(np.array(call.attribute("value", 0.0), np.float64), a.element_type or "float64")
    return _joined([hulled(a, shape), hulled(filled, shape)], shape)


def _depth_and_space(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None or len(a.shape) != 4:
        return hulled(a, None)
    block = int(call.attribute("blocksize", 1))
    less, more = (dimensions.quotient, dimensions.times)
    if call.operator == "SpaceToDepth":
        less, more = more, less
    batch, depth, height, width = a.shape
    return hulled(a, (batch, *map(known_size, (less(depth, block * block), more(height, block), more(width, block)))))


def _triangle(call: Call, a: AbstractTensor, diagonal: Operand = None) -> AbstractTensor:
    place = 0 if diagonal is None else diagonal.scalar
    if a.small is None or place is None:
        return like(a, a.shape, with_zero(a.box), may_plus_zero=True)
    return constant((np.triu if call.attribute("upper", 1) else np.tril)(a.small, int(place)), a.element_type)


TABLE: Mapping[str, Operator] = {
    "CenterCropPad": Operator(
        lambda call, a, *_: hulled_with_zero(a, None if a.shape is None else tuple(unknown_size() for _ in a.shape))
    ),
    "Concat": Operator(_concat, error=errors.chosen),
    "DepthToSpace": Operator(_depth_and_space, error=errors.moved),
    "Expand": Operator(_expand, error=errors.moved),
    "Flatten": Operator(_flatten, error=errors.moved),
    "Pad": Operator(_pad),
    "Reshape": Operator(_reshape, error=errors.moved),
    "ReverseSequence": Operator(lambda call, a, *_: hulled(a, a.shape)),
    "Shape": Operator(_shape, error=errors.none),
    "Size": Operator(_size, error=errors.none),
    "Slice": Operator(_slice, error=errors.moved),
    "SpaceToDepth": Operator(_depth_and_space, error=errors.moved),
    "Split": Operator(_split, error=errors.moved),
    "Squeeze": Operator(_squeeze, error=errors.moved),
    "Tile": Operator(_tile, error=errors.moved),
    "Transpose": Operator(_transpose, error=errors.moved),
    "Trilu": Operator(_triangle),
    "Unsqueeze": Operator(_unsqueeze, error=errors.moved),
}
