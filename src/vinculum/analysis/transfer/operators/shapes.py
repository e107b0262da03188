"""Operators that change the shape and move elements along, and those that tell shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vinculum.analysis.domain import dimensions
from vinculum.analysis.domain.abstract_tensor import SMALL, AbstractTensor, tensor
from vinculum.analysis.domain.box import Box, compact
from vinculum.analysis.domain.constants import constant
from vinculum.analysis.domain.dimensions import Dimension, Shape, bounds, fixed, resized
from vinculum.analysis.domain.facts import Facts, Kind, moved_facts
from vinculum.analysis.domain.joining import known_size, unknown_size
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand, Result, Transfer
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.shared import axis_of, broadcast, counts, hulled, hulled_with_zero, like, moved, rest_on


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
    box = a.box.mapped(lambda b: np.transpose(b, order))
    shape = tuple(a.shape[axis] for axis in order)
    facts = moved_facts(a.facts, [order.index(axis) for axis in range(len(order))])
    whole = None if a.constant is None else np.transpose(a.constant, order)
    return like(a, shape, box, facts=facts, constant=whole)


def _reshape(call: Call, a: AbstractTensor, asked: Operand = None) -> AbstractTensor:
    if call.opset < 5:
        listed: Sequence[Dimension | None] | None = call.attribute("shape", None)
    else:
        listed = shape_from(asked)
    if listed is None:
        return reshaped(a, None)
    shape: list[Dimension] = []
    for place, size in enumerate(listed):
        if size == 0 and not call.attribute("allowzero", 0):
            size = a.shape[place] if a.shape is not None and place < len(a.shape) else unknown_size()
        shape.append(known_size(size))
    if -1 in shape:
        shape[shape.index(-1)] = _left_over(a, [size for size in shape if size != -1])
    return reshaped(a, tuple(shape))


def _left_over(a: AbstractTensor, others: list[Dimension]) -> Dimension:
    if a.shape is None:
        return unknown_size()
    whole, known = dimensions.product(a.shape), dimensions.product(others)
    return known_size(None if whole is None or known is None else dimensions.quotient(whole, known))


def reshaped(a: AbstractTensor, shape: Shape | None) -> AbstractTensor:
    """Return the same elements, in the same order, in another shape."""
    if shape == a.shape:
        return like(a, shape, a.box, facts=a.facts, constant=a.constant, entries=a.entries)
    sizes = fixed(shape)
    facts: Facts = ()
    if shape and a.shape:
        facts = _facts_of_reshaped(a, shape)
    if sizes is None or fixed(a.shape) is None:
        entries = a.entries if shape is not None and len(shape) <= 1 else None
        box = _box_of_unsqueezed(a, shape)
        return hulled(a, shape, facts=facts, entries=entries) if box is None else like(a, shape, box, facts=facts)
    entries = a.entries if len(sizes) <= 1 else None
    return moved(a, sizes, lambda b: b.reshape(sizes), facts=facts, entries=entries)


def _box_of_unsqueezed(a: AbstractTensor, shape: Shape | None) -> Box | None:
    """Return the box where only axes of size 1 come or go."""
    if shape is None or a.shape is None:
        return None
    if [s for s in shape if s != 1] != [s for s in a.shape if s != 1]:
        return None
    kept = iter([axis for axis, size in enumerate(a.shape) if size != 1])
    places = [None if size == 1 else next(kept) for size in shape]
    return a.box.mapped(lambda b: b.reshape([1 if place is None else b.shape[place] for place in places]))


def _facts_of_reshaped(a: AbstractTensor, shape: Shape) -> Facts:
    """Return facts on the last axis if that stays, and on others if only axes of size 1 come or go."""
    assert a.shape is not None
    if [s for s in shape if s != 1] == [s for s in a.shape if s != 1]:
        targets = iter([axis for axis, size in enumerate(shape) if size != 1])
        return moved_facts(a.facts, [None if size == 1 else next(targets) for size in a.shape])
    if shape[-1] == a.shape[-1]:
        return moved_facts(a.facts, [*[None] * (len(a.shape) - 1), len(shape) - 1])
    return ()


def _flatten(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return reshaped(a, (unknown_size(), unknown_size()))
    axis = axis_of(call.attribute("axis", 1), len(a.shape))
    halves = [dimensions.product(part) for part in (a.shape[:axis], a.shape[axis:])]
    return reshaped(a, tuple(map(known_size, halves)))


def _axes(call: Call, given: Operand) -> list[int] | None:
    return integers(given, call.attribute("axes", None))


def _squeeze(call: Call, a: AbstractTensor, given: Operand = None) -> AbstractTensor:
    axes = _axes(call, given)
    if a.shape is None or (axes is None and given is not None):
        return reshaped(a, None)
    if axes is None:
        if fixed(a.shape) is None:
            return reshaped(a, None)
        axes = [axis for axis, size in enumerate(a.shape) if size == 1]
    gone = {axis_of(axis, len(a.shape)) for axis in axes}
    kept = tuple(size for axis, size in enumerate(a.shape) if axis not in gone)
    box = a.box.mapped(lambda b: b.squeeze(axis=tuple(axis for axis in gone if axis < b.ndim and b.shape[axis] == 1)))
    if box.low.ndim != len(kept):
        return reshaped(a, kept)
    places = iter(range(len(kept)))
    facts = moved_facts(a.facts, [None if axis in gone else next(places) for axis in range(len(a.shape))])
    whole = None if a.constant is None else a.constant.reshape([s for s in kept if isinstance(s, int)])
    return like(a, kept, box, facts=facts, constant=whole, entries=a.entries)


def _unsqueeze(call: Call, a: AbstractTensor, given: Operand = None) -> AbstractTensor:
    axes = _axes(call, given)
    if a.shape is None or axes is None:
        return reshaped(a, None)
    rank = len(a.shape) + len(axes)
    new = {axis_of(axis, rank) for axis in axes}
    old = [axis for axis in range(rank) if axis not in new]
    sizes = iter(a.shape)
    shape = tuple(1 if axis in new else next(sizes) for axis in range(rank))
    box = a.box.mapped(lambda b: np.expand_dims(b, tuple(sorted(new))))
    facts = moved_facts(a.facts, old)
    whole = None if a.constant is None else np.expand_dims(a.constant, tuple(sorted(new)))
    return like(a, shape, box, facts=facts, constant=whole, entries=a.entries if rank <= 1 else None)


def _expand(call: Call, a: AbstractTensor, asked: Operand = None) -> AbstractTensor:
    wanted = shape_from(asked)
    shape = None if wanted is None else broadcast(a.shape, wanted)
    if shape is None:
        return hulled(a, None)
    facts: Facts = ()
    if a.shape is not None:
        before = len(shape) - len(a.shape)
        kept = [before + axis if shape[before + axis] == size else None for axis, size in enumerate(a.shape)]
        facts = moved_facts(a.facts, kept)
    return like(a, shape, a.box, facts=facts)


def _tile(call: Call, a: AbstractTensor, repeats: Operand = None) -> AbstractTensor:
    counts = None if repeats is None else repeats.sizes()
    if a.shape is None or counts is None or len(counts) != len(a.shape):
        return hulled(a, None if a.shape is None else tuple(unknown_size() for _ in a.shape))
    sizes = [
        None if count is None else dimensions.times(size, count) for size, count in zip(a.shape, counts, strict=True)
    ]
    shape = tuple(map(known_size, sizes))
    stretched = [count != 1 for count in counts]
    keep = tuple(axis for axis, again in enumerate(stretched) if again)
    return like(a, shape, a.box.along(keep))


def _concat(call: Call, *operands: Operand) -> AbstractTensor:
    given = [operand for operand in operands if operand is not None]
    first = given[0]
    ranks = {operand.rank for operand in given}
    if None in ranks or len(ranks) > 1:
        return _joined(given, None)
    axis = axis_of(call.attribute("axis", 1), first.rank or 0)
    total: Dimension | None = 0
    for operand in given:
        total = None if total is None or operand.shape is None else dimensions.plus(total, operand.shape[axis])
    others = [
        next((o.shape[x] for o in given if o.shape and isinstance(o.shape[x], int)), (first.shape or ())[x])
        for x in range(first.rank or 0)
    ]
    shape = resized(tuple(others), axis, known_size(total))
    result = _joined(given, shape)
    sizes = [operand.sizes() for operand in given]
    entries = None
    if first.rank == 1 and all(found is not None for found in sizes):
        entries = tuple(size for found in sizes for size in found or ())
    whole = None
    if (
        all(o.constant is not None for o in given)
        and sum(o.constant.size for o in given if o.constant is not None) <= SMALL
    ):
        whole = np.concatenate([o.constant for o in given if o.constant is not None], axis)
    box = _boxes_side_by_side(given, axis, shape)
    if box is not None:
        result = like(result, shape, box)
    facts = tuple(
        f for f in given[0].facts if f.kind is Kind.SUM and f.axis != axis and all(f in o.facts for o in given)
    )
    return result.known(entries=entries, constant=whole, facts=facts)


def _joined(given: Sequence[AbstractTensor], shape: Shape | None) -> AbstractTensor:
    return tensor(
        given[0].element_type,
        shape,
        min(operand.low.min() for operand in given),
        max(operand.high.max() for operand in given),
        min(operand.mag.min() for operand in given),
        may_nan=any(operand.may_nan for operand in given),
        may_plus_zero=any(operand.may_plus_zero for operand in given),
        may_minus_zero=any(operand.may_minus_zero for operand in given),
        integral=all(operand.integral for operand in given),
        bounds_from=rest_on(*given),
    )


def _boxes_side_by_side(given: Sequence[AbstractTensor], axis: int, shape: Shape) -> Box | None:
    """Return an interval for each place along the axis, and along others for each if they are few."""
    counts = [operand.shape[axis] for operand in given if operand.shape is not None]
    fixed_counts = fixed(tuple(counts))
    if fixed_counts is None or not 0 < sum(fixed_counts) <= SMALL:
        return None
    parts = [(operand, count) for operand, count in zip(given, fixed_counts, strict=True) if count]
    others = [max(o.low.shape[x] for o, _ in parts) for x in range(len(shape))]
    if np.prod([*others[:axis], *others[axis + 1 :], 1.0]) * sum(count for _, count in parts) > SMALL * 4:
        return None

    def stacked(name: str) -> Any:
        spread = []
        for operand, count in parts:
            target = [count if x == axis else size for x, size in enumerate(others)]
            spread.append(np.broadcast_to(getattr(operand, name), target))
        return np.concatenate(spread, axis)

    return compact(Box(stacked("low"), stacked("high"), stacked("mag")))


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
        sizes: list[Dimension] = [unknown_size() for _ in range(count)]
        return [hulled(a, resized(a.shape, axis, sizes[k])) for k in range(count)]
    results, start = [], 0
    for part in parts:
        place = (*[slice(None)] * axis, slice(start, start + part))
        shape = resized(a.shape, axis, part)
        results.append(_cut(a, shape, place, axis))
        start += part
    return results


def _cut(a: AbstractTensor, shape: Shape, place: tuple[slice, ...], axis: int) -> AbstractTensor:
    """Return some places along an axis; the box need not be spread for it."""
    if a.low.shape[axis] == 1 and a.high.shape[axis] == 1 and a.mag.shape[axis] == 1:
        box = a.box
    else:

        def each(b: Any) -> Any:
            return b[place] if b.shape[axis] > 1 else b

        box = a.box.mapped(each)
        if box.low.size == 0 or box.high.size == 0 or box.mag.size == 0:
            return hulled(a, shape)
    whole = None if a.constant is None else a.constant[place]
    entries = None if a.entries is None or len(a.shape or ()) != 1 else a.entries[place[0]]
    facts = tuple(fact for fact in a.facts if fact.axis != axis)
    return like(a, shape, box, constant=whole, entries=entries, facts=facts)


def _slice(
    call: Call,
    a: AbstractTensor,
    starts: Operand = None,
    ends: Operand = None,
    axes: Operand = None,
    steps: Operand = None,
) -> AbstractTensor:
    if a.shape is None:
        return hulled(a, None)
    rank = len(a.shape)
    begin, end = integers(starts, call.attribute("starts", None)), integers(ends, call.attribute("ends", None))
    along = integers(axes, call.attribute("axes", None))
    step = integers(steps, None)
    unknown_axes = along is None and axes is not None
    if along is None:
        count = len(begin or end or []) or (
            starts.shape[0] if starts is not None and starts.shape and isinstance(starts.shape[0], int) else rank
        )
        along = list(range(count))
    along = [axis_of(axis, rank) for axis in along]
    if unknown_axes:
        return hulled(a, tuple(unknown_size(0, dimensions.largest(size)) for size in a.shape))
    if begin is None or end is None or (steps is not None and step is None):
        return _slice_of_unknown(call, a, along, starts, ends, step if steps is not None else [1] * len(along))
    step = step or [1] * len(along)
    result, facts = a, a.facts
    for axis, start, stop, stride in zip(along, begin, end, step, strict=True):
        result = _sliced(result, axis, start, stop, stride)
        if result.shape != a.shape:
            facts = ()
    if result.shape == a.shape:
        return result.known(facts=a.facts, number=0)
    kept = tuple(f for f in a.facts if f.axis not in along)
    return result.known(facts=kept or facts, number=0)


def _sliced(a: AbstractTensor, axis: int, start: int, stop: int, stride: int) -> AbstractTensor:
    assert a.shape is not None
    size = a.shape[axis]
    last = None if stride < 0 and stop < -(2**31) else stop
    if isinstance(size, int):
        places = range(*slice(start, last, stride).indices(size))
        cut = slice(start, last, stride)
        return _cut(a, resized(a.shape, axis, len(places)), (*[slice(None)] * axis, cut), axis)
    new: Dimension = unknown_size(0, dimensions.largest(size))
    if abs(stride) == 1 and _covers(start, stop, stride):
        new = size
    elif stride == 1 and 0 <= start < stop < 2**31 and stop <= bounds(size)[0]:
        new = stop - start
    elif stride == 1 and start >= 0 and stop >= 2**31 and start <= bounds(size)[0]:
        new = dimensions.minus(size, start) or new
    elif stride == 1 and start < 0 and stop >= 2**31 and -start <= bounds(size)[0]:
        new = -start
    return like(a, resized(a.shape, axis, new), a.box)


def _covers(start: int, stop: int, stride: int) -> bool:
    if stride == 1:
        return start == 0 and stop >= 2**31 - 1
    return start == -1 and stop < -(2**31)


def _slice_of_unknown(
    call: Call, a: AbstractTensor, along: list[int], starts: Operand, ends: Operand, step: list[int] | None
) -> AbstractTensor:
    assert a.shape is not None
    shape = list(a.shape)
    low, high = (starts.sizes() if starts is not None else None), (ends.sizes() if ends is not None else None)
    for place, axis in enumerate(along):
        new: Dimension = unknown_size(0, dimensions.largest(a.shape[axis]))
        if low is not None and high is not None and step is not None and step[place] == 1:
            start, stop = low[place], high[place]
            length = dimensions.minus(stop, start) if start is not None and stop is not None else None
            inside = (
                length is not None and start is not None and stop is not None and _is_inside(start, stop, a.shape[axis])
            )
            new = length if inside and length is not None else new
        shape[axis] = new
    along_box = a.box.along(tuple(along))
    facts = tuple(f for f in a.facts if f.axis not in along)
    return like(a, tuple(shape), along_box, facts=facts)


def _is_inside(start: Dimension, stop: Dimension, size: Dimension) -> bool:
    """Tell whether a slice takes exactly stop - start elements."""
    room, length = dimensions.minus(size, stop), dimensions.minus(stop, start)
    if room is None or length is None:
        return False
    return bounds(room)[0] >= 0 and bounds(length)[0] >= 0 and bounds(start)[0] >= 0


def _shape(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return counts((unknown_size(),))
    sizes = a.shape[call.attribute("start", 0) : call.attribute("end", None)]
    if fixed(sizes) is not None:
        return constant(np.array(sizes, np.int64))
    return _listed(sizes)


def _listed(sizes: Shape) -> AbstractTensor:
    ends = [bounds(size) for size in sizes]
    low, high = np.array([low for low, _ in ends]), np.array([high for _, high in ends])
    return counts((len(sizes),), np.minimum(high, 2.0**62), np.maximum(low, 0)).known(entries=sizes)


def _size(call: Call, a: AbstractTensor) -> AbstractTensor:
    count = None if a.shape is None else dimensions.product(a.shape)
    if isinstance(count, int):
        return constant(np.array(count, np.int64))
    if count is None:
        return counts(())
    return reshaped(_listed((count,)), ()).known(entries=(count,))


def _pad(
    call: Call, a: AbstractTensor, pads: Operand = None, value: Operand = None, axes: Operand = None
) -> AbstractTensor:
    widths = integers(pads, call.attribute("pads", None)) if call.opset >= 11 or pads is None else None
    along = integers(axes)
    shape: Shape | None = None
    if a.shape is not None:
        rank = len(a.shape)
        along = (
            [axis_of(axis, rank) for axis in along]
            if along is not None
            else None
            if axes is not None
            else list(range(rank))
        )
        shape = tuple(unknown_size() for _ in a.shape)
        if widths is not None and along is not None:
            added = {axis: widths[k] + widths[k + len(along)] for k, axis in enumerate(along)}
            sizes = [dimensions.plus(size, added.get(axis, 0)) for axis, size in enumerate(a.shape)]
            shape = tuple(map(known_size, sizes))
    if call.attribute("mode", "constant") != "constant":
        return hulled(a, shape)
    filled = value
    if filled is None:
        filled = constant(np.array(call.attribute("value", 0.0), np.float64), a.element_type or "float64")
    both = [hulled(a, shape), hulled(filled, shape)]
    result = _joined([both[0], both[1].known(element_type=a.element_type)], shape)
    return result if a.form is not None or value is not None else result.known(element_type=a.element_type)


def _depth_and_space(*, to_space: bool) -> Transfer:
    def transfer(call: Call, a: AbstractTensor) -> AbstractTensor:
        if a.shape is None or len(a.shape) != 4:
            return hulled(a, None)
        block = int(call.attribute("blocksize", 1))
        batch, depth, height, width = a.shape
        sizes: list[Dimension | None]
        if to_space:
            sizes = [
                batch,
                dimensions.quotient(depth, block * block),
                dimensions.times(height, block),
                dimensions.times(width, block),
            ]
        else:
            sizes = [
                batch,
                dimensions.times(depth, block * block),
                dimensions.quotient(height, block),
                dimensions.quotient(width, block),
            ]
        return hulled(a, tuple(map(known_size, sizes)))

    return transfer


def _reverse_sequence(call: Call, a: AbstractTensor, lengths: Operand = None) -> AbstractTensor:
    return hulled(a, a.shape)


def _center_crop_pad(call: Call, a: AbstractTensor, asked: Operand = None) -> AbstractTensor:
    return hulled_with_zero(a, None if a.shape is None else tuple(unknown_size() for _ in a.shape))


def _triangle(call: Call, a: AbstractTensor, diagonal: Operand = None) -> AbstractTensor:
    box = Box(np.minimum(a.low, 0), np.maximum(a.high, 0), np.zeros_like(a.mag))
    result = like(a, a.shape, box, may_plus_zero=True)
    place = 0 if diagonal is None else diagonal.scalar
    if a.small is None or place is None:
        return result
    cut = np.triu if call.attribute("upper", 1) else np.tril
    return constant(cut(a.small, int(place)), a.element_type)


TABLE: Mapping[str, Operator] = {
    "CenterCropPad": Operator(_center_crop_pad),
    "Concat": Operator(_concat, error=errors.chosen),
    "DepthToSpace": Operator(_depth_and_space(to_space=True), error=errors.moved),
    "Expand": Operator(_expand, error=errors.moved),
    "Flatten": Operator(_flatten, error=errors.moved),
    "Pad": Operator(_pad),
    "Reshape": Operator(_reshape, error=errors.moved),
    "ReverseSequence": Operator(_reverse_sequence),
    "Shape": Operator(_shape, error=errors.none),
    "Size": Operator(_size, error=errors.none),
    "Slice": Operator(_slice, error=errors.moved),
    "SpaceToDepth": Operator(_depth_and_space(to_space=False), error=errors.moved),
    "Split": Operator(_split, error=errors.moved),
    "Squeeze": Operator(_squeeze, error=errors.moved),
    "Tile": Operator(_tile, error=errors.moved),
    "Transpose": Operator(_transpose, error=errors.moved),
    "Trilu": Operator(_triangle),
    "Unsqueeze": Operator(_unsqueeze, error=errors.moved),
}
