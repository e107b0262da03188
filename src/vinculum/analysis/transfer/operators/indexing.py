"""Operators that pick elements by index, put some elsewhere, or tell indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from vinculum.analysis.domain import dimensions
from vinculum.analysis.domain.abstract_tensor import SMALL, AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box, compact
from vinculum.analysis.domain.constants import constant
from vinculum.analysis.domain.dimensions import Dimension, Shape, bounds, element_count, fixed, resized
from vinculum.analysis.domain.facts import Fact, Facts, Kind
from vinculum.analysis.domain.formats import gamma, outward
from vinculum.analysis.domain.joining import join, unknown_size
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.operators.shapes import shape_from
from vinculum.analysis.transfer.shared import axis_of, counts, hulled, hulled_with_zero, like, rest_on


def _gather(call: Call, a: AbstractTensor, indices: AbstractTensor) -> AbstractTensor:
    if a.shape is None or indices.shape is None:
        return hulled(a, None)
    axis = axis_of(call.attribute("axis", 0), len(a.shape))
    shape = resized(a.shape, axis, *indices.shape)
    chosen = indices.small
    size = a.shape[axis]
    if chosen is not None and isinstance(size, int) and size and chosen.size and _inside(chosen, size):
        return _gathered(a, axis, size, chosen, shape)
    box = (
        _reached(a, axis, indices)
        .along((axis,))
        .mapped(lambda b: b.reshape((*b.shape[:axis], *[1] * len(indices.shape or ()), *b.shape[axis + 1 :])))
    )
    shift = len(indices.shape) - 1
    facts = tuple(
        Fact(f.kind, f.axis if f.axis < axis else f.axis + shift, f.low, f.high) for f in a.facts if f.axis != axis
    )
    return like(a, shape, box, facts=facts)


def _reached(a: AbstractTensor, axis: int, indices: AbstractTensor) -> Box:
    """Return the box of the elements along an axis that indices of one sign can reach."""
    size = (a.shape or ())[axis]
    low, high = indices.box.hull()
    if not isinstance(size, int) or low < 0 <= high:
        return a.box
    first, last = (int(max(end + (size if high < 0 else 0), 0)) for end in (low, high))
    if first >= size:
        return a.box
    reached = slice(first, min(last, size - 1) + 1)
    places = (*[slice(None)] * axis, reached)
    return a.box.mapped(lambda bounds: bounds[places] if bounds.shape[axis] > 1 else bounds)


def _inside(chosen: Any, size: int) -> bool:
    return bool((chosen >= -size).all() and (chosen < size).all())


def _gathered(a: AbstractTensor, axis: int, size: int, chosen: Any, shape: Shape) -> AbstractTensor:
    def take(bounds_: Any) -> Any:
        if bounds_.shape[axis] == 1:
            return bounds_.reshape((*bounds_.shape[:axis], *[1] * chosen.ndim, *bounds_.shape[axis + 1 :]))
        return np.take(bounds_, chosen, axis=axis)

    box = compact(a.box.mapped(take)) if a.low.size * chosen.size <= 1 << 20 else None
    whole = np.take(a.constant, chosen, axis=axis) if a.constant is not None and a.constant.size <= 1 << 20 else None
    entries = None
    if a.entries is not None and len(a.shape or ()) == 1 and chosen.ndim <= 1:
        entries = tuple(a.entries[int(place)] for place in chosen.reshape(-1))
    facts = _facts_of_gathered(a, axis, size, chosen)
    if box is None:
        return hulled(a, shape, constant=whole, entries=entries)
    return like(a, shape, box, constant=whole, entries=entries, facts=facts)


def _facts_of_gathered(a: AbstractTensor, axis: int, size: int, chosen: Any) -> Facts:
    """Return facts along other axes, and along this one if all of it is gathered along the last axis of the indices."""
    shift = chosen.ndim - 1
    facts = tuple(replace(f, axis=f.axis if f.axis < axis else f.axis + shift) for f in a.facts if f.axis != axis)
    if chosen.ndim and chosen.shape[-1] == chosen.size == size and np.array_equal(chosen.reshape(-1), np.arange(size)):
        facts += tuple(replace(f, axis=axis + shift) for f in a.facts if f.axis == axis)
    return facts


def _gather_elements(call: Call, a: AbstractTensor, indices: AbstractTensor) -> AbstractTensor:
    return hulled(a, indices.shape)


def _gather_nd(call: Call, a: AbstractTensor, indices: AbstractTensor) -> AbstractTensor:
    shape: Shape | None = None
    if a.shape is not None and indices.shape and isinstance(indices.shape[-1], int):
        first = indices.shape[-1] + int(call.attribute("batch_dims", 0))
        shape = (*indices.shape[:-1], *a.shape[first:])
    facts = _facts_of_rows(a, indices, shape) if not call.attribute("batch_dims", 0) else ()
    return hulled(a, shape, facts=facts)


def _facts_of_rows(a: AbstractTensor, indices: AbstractTensor, shape: Shape | None) -> Facts:
    """Return facts on rows along the last axis, where every row of the result is a row of the operand."""
    if indices.constant is None or shape is None or not a.shape or len(a.shape) != indices.constant.shape[-1]:
        return ()
    rows = indices.constant
    if rows.shape[-2:-1] != a.shape[-1:] or not (rows[..., -1] == np.arange(rows.shape[-2])).all():
        return ()
    if not (rows[..., :-1] == rows[..., :1, :-1]).all():
        return ()
    return tuple(replace(f, axis=len(shape) - 1) for f in a.facts if f.axis == len(a.shape) - 1)


def _scatter(call: Call, a: AbstractTensor, indices: AbstractTensor, updates: AbstractTensor) -> AbstractTensor:
    reduction = call.attribute("reduction", "none")
    if reduction not in ("none", "max", "min"):
        return _accumulated(a, updates, reduction)
    left = hulled(a, a.shape)
    right = hulled(updates, a.shape)
    result = join(left, right.known(element_type=a.element_type))
    facts: Facts = ()
    if call.operator == "ScatterND" and reduction == "none" and _writes_every_row(a, indices):
        facts = (Fact(Kind.SOME_AT_LEAST, 1, float(updates.low.min())),)
    return result.known(facts=facts)


def _writes_every_row(a: AbstractTensor, indices: AbstractTensor) -> bool:
    """Tell whether indices of two numbers name every row of a matrix, whatever the columns are."""
    if a.shape is None or len(a.shape) != 2 or not indices.shape or indices.shape[-1] != 2:
        return False
    spread = indices.box.spread(indices.shape)
    rows = a.shape[0]
    if spread is None or not isinstance(rows, int):
        return False
    first = spread.mapped(lambda b: b.reshape(-1, 2)[:, 0])
    sure = first.low == first.high
    return set(range(rows)) <= {int(row) for row in first.low[sure]}


def _accumulated(a: AbstractTensor, updates: AbstractTensor, reduction: str) -> AbstractTensor:
    """Return what is left where updates are added, in every order; of products nothing is known."""
    count = updates.shape
    if reduction != "add" or a.form is None or count is None or a.may_infinite or updates.may_infinite:
        return anything(a.element_type, a.shape)
    most = float(np.prod([bounds(size)[1] for size in count]))
    if not np.isfinite(most):
        return anything(a.element_type, a.shape)
    low, high = updates.box.hull()
    total = most * max(abs(low), abs(high)) + float(a.box.largest().max())
    error = gamma(most, a.form) * total
    lows, highs = a.low.min() + min(low * most, 0) - error, a.high.max() + max(high * most, 0) + error
    if total + error > a.form.max:
        return anything(a.element_type, a.shape)
    lows, highs = outward(np.asarray(lows), np.asarray(highs), a.form)
    return tensor(
        a.element_type, a.shape, lows, highs, may_nan=a.may_nan or updates.may_nan, bounds_from=rest_on(a, updates)
    )


def _tensor_scatter(call: Call, cache: AbstractTensor, update: AbstractTensor, *_: Operand) -> AbstractTensor:
    return join(hulled(cache, cache.shape), hulled(update, cache.shape))


def _non_zero(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return counts(None)
    most = dimensions.product(a.shape)
    count = unknown_size(0, np.inf if most is None else bounds(most)[1])
    high = np.array([[max(dimensions.largest(size) - 1, 0)] for size in a.shape])
    high = high if high.size else np.zeros((1, 1))
    return counts((len(a.shape), count), high, np.zeros_like(high))


def _compress(call: Call, a: AbstractTensor, condition: AbstractTensor) -> AbstractTensor:
    axis = call.attribute("axis", None)
    if axis is None or a.shape is None:
        most = np.inf if a.shape is None else element_count(a.shape)[1]
        return hulled(a, (unknown_size(0, most),))
    place = axis_of(axis, len(a.shape))
    new = unknown_size(0, dimensions.largest(a.shape[place]))
    return like(a, resized(a.shape, place, new), a.box.along((place,)))


def _unique(call: Call, a: AbstractTensor) -> Result:
    most = np.inf if a.shape is None else element_count(a.shape)[1]
    axis = call.attribute("axis", None)
    count: Dimension = unknown_size(0, most)
    shape: Shape | None = (count,)
    if axis is not None:
        shape = None
        if a.shape is not None:
            place = axis_of(axis, len(a.shape))
            shape = resized(a.shape, place, count)
    index = counts((unknown_size(0, most),), min(most, 2.0**62))
    repeats = counts((unknown_size(0, most),), min(max(most, 1), 2.0**62), 1)
    return hulled(a, shape), index, index.known(number=0), repeats


def _one_hot(call: Call, indices: AbstractTensor, depth: AbstractTensor, values: AbstractTensor) -> AbstractTensor:
    shape: Shape | None = None
    if indices.shape is not None:
        sizes = depth.sizes()
        size = sizes[0] if sizes is not None and len(sizes) == 1 and sizes[0] is not None else unknown_size()
        axis = axis_of(call.attribute("axis", -1), len(indices.shape) + 1)
        shape = (*indices.shape[:axis], size, *indices.shape[axis:])
        low, high = indices.box.hull()
        if values.small is not None and values.small.size == 2 and -bounds(size)[0] <= low and high < bounds(size)[0]:
            return hulled(values, shape, facts=(Fact(Kind.SOME_AT_LEAST, axis, float(values.small.reshape(-1)[1])),))
    return hulled(values, shape)


def _select_boxes(call: Call, *operands: Operand) -> AbstractTensor:
    return counts((unknown_size(), 3), 2.0**31)


def _max_unpool(call: Call, a: AbstractTensor, *_: Operand) -> AbstractTensor:
    return hulled_with_zero(a, None)


def _eye_like(call: Call, a: AbstractTensor) -> AbstractTensor:
    code = call.attribute("dtype", None)
    element_type = a.element_type if code is None else call.element_type(code)
    facts: Facts = ()
    if a.shape is not None and len(a.shape) == 2 and a.shape[0] == a.shape[1] and not call.attribute("k", 0):
        facts = tuple(Fact(Kind.SOME_AT_LEAST, axis, 1.0) for axis in (0, 1))
    return tensor(element_type, a.shape, 0, 1, may_minus_zero=False, integral=True, facts=facts)


def _range(call: Call, start: AbstractTensor, limit: AbstractTensor, delta: AbstractTensor) -> AbstractTensor:
    whole = start.integral and limit.integral and delta.integral
    count = _count_of_range(start, limit, delta)
    low, high = min(start.low.min(), limit.low.min()), max(start.high.max(), limit.high.max())
    if start.form is not None and not whole:
        # Runtimes add delta again and again, or multiply it: the error is of the last element.
        slack = 1e-2 * (abs(low) + abs(high)) + float(delta.box.largest().max())
        low, high = low - slack, high + slack
    elif delta.low.min() > 0:
        low, high = float(start.low.min()), max(float(start.high.max()), float(limit.high.max()) - 1)
        if start.form is not None and high > 1 / start.form.u:
            low, high = low * 0.98 - 2, high * 1.02 + 2
    box_low: Any = low
    box_high: Any = high
    fixed_start, fixed_delta = start.scalar, delta.scalar
    if isinstance(count, int) and 0 < count <= SMALL and whole and fixed_start is not None and fixed_delta is not None:
        values = fixed_start + fixed_delta * np.arange(count)
        if np.abs(values).max() < 2**24:
            box_low = box_high = values
            whole_values = values.astype(start.constant.dtype) if start.constant is not None else None
            return tensor(
                start.element_type, (count,), values, values, may_minus_zero=False, integral=True, constant=whole_values
            )
    return tensor(start.element_type, (count,), box_low, box_high, integral=whole, bounds_from=rest_on(start, limit))


def _count_of_range(start: AbstractTensor, limit: AbstractTensor, delta: AbstractTensor) -> Dimension:
    if None not in (start.scalar, limit.scalar, delta.scalar) and delta.scalar:
        assert start.scalar is not None
        assert limit.scalar is not None
        return (
            max(int(np.ceil((limit.scalar - start.scalar) / delta.scalar)), 0) if start.form is None else unknown_size()
        )
    first, last = start.sizes(), limit.sizes()
    if first is None or last is None or first[0] is None or last[0] is None or delta.scalar != 1:
        return unknown_size()
    found = dimensions.minus(last[0], first[0])
    return found if found is not None and bounds(found)[0] >= 0 else unknown_size()


def _constant_of_shape(call: Call, asked: AbstractTensor) -> AbstractTensor:
    value = call.attribute("value", None)
    value = np.zeros(1, np.float32) if value is None else value
    known = constant(np.asarray(value).reshape(()), call.narrowed if value.dtype == np.float32 else None)
    shape = shape_from(asked)
    sizes = fixed(shape)
    whole = None
    if sizes is not None and prod(sizes) <= SMALL:
        whole = np.full(sizes, np.asarray(value).reshape(()))
    return like(known, shape, known.box, bounds_from=BoundsFrom.MODEL, constant=whole)


TABLE: Mapping[str, Operator] = {
    "Compress": Operator(_compress),
    "ConstantOfShape": Operator(_constant_of_shape, error=errors.decided),
    "EyeLike": Operator(_eye_like),
    "Gather": Operator(_gather, error=errors.moved),
    "GatherElements": Operator(_gather_elements, error=errors.moved),
    "GatherND": Operator(_gather_nd, error=errors.moved),
    "MaxUnpool": Operator(_max_unpool),
    "NonMaxSuppression": Operator(_select_boxes),
    "NonZero": Operator(_non_zero, error=errors.decided),
    "OneHot": Operator(_one_hot),
    "Range": Operator(_range),
    "Scatter": Operator(_scatter),
    "ScatterElements": Operator(_scatter),
    "ScatterND": Operator(_scatter),
    "TensorScatter": Operator(_tensor_scatter),
    "Unique": Operator(_unique),
}
