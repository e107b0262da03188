"""Operators that pick elements by index, put some elsewhere, or tell indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from vinculum.analysis.domain import dimensions
from vinculum.analysis.domain.abstract_tensor import SMALL, AbstractTensor, BoundsFrom, anything, constant, join, tensor
from vinculum.analysis.domain.box import Box, compact
from vinculum.analysis.domain.dimensions import (
    Dimension,
    Shape,
    bounds,
    element_count,
    fixed,
    known_size,
    resized,
    unknown_size,
)
from vinculum.analysis.domain.facts import Fact, Facts, Kind, moved_facts
from vinculum.analysis.domain.formats import gamma, outward
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Result
from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.operators.shapes import shape_from
from vinculum.analysis.transfer.relations import least_of_groups
from vinculum.analysis.transfer.shared import axis_of, counts, hulled, hulled_with_zero, like, result_of

_LARGEST = 1 << 20
"""Elements that are gathered one by one, at most."""


def _gather(call: Call, a: AbstractTensor, indices: AbstractTensor) -> AbstractTensor:
    if a.shape is None or indices.shape is None:
        return hulled(a, None)
    axis, rank = axis_of(call.attribute("axis", 0), len(a.shape)), len(indices.shape)
    shape, size, chosen = resized(a.shape, axis, *indices.shape), a.shape[axis], indices.small
    facts = moved_facts(a.facts, [None if x == axis else x + (rank - 1) * (x > axis) for x in range(len(a.shape))])
    if chosen is not None and isinstance(size, int) and size and chosen.size and _inside(chosen, size):
        return _gathered(a, axis, size, chosen, shape, facts)
    box = _at_least(_reached(a, axis, indices).along((axis,)), least_of_groups(call.values, a, indices))
    return like(
        a, shape, box.mapped(lambda b: b.reshape([*b.shape[:axis], *[1] * rank, *b.shape[axis + 1 :]])), facts=facts
    )


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


def _gathered(a: AbstractTensor, axis: int, size: int, chosen: Any, shape: Shape, facts: Facts) -> AbstractTensor:
    def take(bounds_: Any) -> Any:
        if bounds_.shape[axis] == 1:
            return bounds_.reshape(resized(bounds_.shape, axis, *[1] * chosen.ndim))
        return np.take(bounds_, chosen, axis=axis)

    whole = np.take(a.constant, chosen, axis=axis) if a.constant is not None and a.constant.size <= _LARGEST else None
    entries = None
    if a.entries is not None and len(a.shape or ()) == 1 and chosen.ndim <= 1:
        entries = tuple(a.entries[int(place)] for place in chosen.reshape(-1))
    if a.low.size * chosen.size > _LARGEST:
        return hulled(a, shape, constant=whole, entries=entries)
    facts += _facts_of_gathered(a, axis, size, chosen)
    return like(a, shape, compact(a.box.mapped(take)), constant=whole, entries=entries, facts=facts)


def _facts_of_gathered(a: AbstractTensor, axis: int, size: int, chosen: Any) -> Facts:
    """Return facts along the axis if all of it is gathered along the last axis of the indices."""
    if chosen.ndim and chosen.shape[-1] == chosen.size == size and np.array_equal(chosen.reshape(-1), np.arange(size)):
        return tuple(replace(f, axis=axis + chosen.ndim - 1) for f in a.facts if f.axis == axis)
    return ()


def _gather_nd(call: Call, a: AbstractTensor, indices: AbstractTensor) -> AbstractTensor:
    shape: Shape | None = None
    if a.shape is not None and indices.shape and isinstance(indices.shape[-1], int):
        first = indices.shape[-1] + int(call.attribute("batch_dims", 0))
        shape = (*indices.shape[:-1], *a.shape[first:])
    facts = _facts_of_rows(a, indices, shape) if not call.attribute("batch_dims", 0) else ()
    return like(a, shape, _at_least(a.box.hulled(), least_of_groups(call.values, a, indices)), facts=facts)


def _gather_elements(call: Call, a: AbstractTensor, indices: AbstractTensor) -> AbstractTensor:
    return like(a, indices.shape, _at_least(a.box.hulled(), least_of_groups(call.values, a, indices)))


def _at_least(box: Box, least: float) -> Box:
    """Return a box of numbers that are at least a number, unless they are NaN."""
    low = np.maximum(box.low, least)
    return Box(low, np.maximum(box.high, low), np.maximum(box.mag, least))


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


def _overwritten(a: AbstractTensor, updates: AbstractTensor) -> AbstractTensor:
    return join(hulled(a, a.shape), hulled(updates, a.shape).known(element_type=a.element_type))


def _scatter(call: Call, a: AbstractTensor, indices: AbstractTensor, updates: AbstractTensor) -> AbstractTensor:
    reduction = call.attribute("reduction", "none")
    if reduction not in ("none", "max", "min"):
        return _accumulated(a, updates, reduction)
    result = _overwritten(a, updates)
    if call.operator == "ScatterND" and reduction == "none" and _writes_every_row(a, indices):
        return result.known(facts=(Fact(Kind.SOME_AT_LEAST, 1, float(updates.low.min())),))
    return result


def _writes_every_row(a: AbstractTensor, indices: AbstractTensor) -> bool:
    """Tell whether indices of two numbers name every row of a matrix, whatever the columns are."""
    if a.shape is None or len(a.shape) != 2 or not indices.shape or indices.shape[-1] != 2:
        return False
    spread, rows = indices.box.spread(indices.shape), a.shape[0]
    if spread is None or not isinstance(rows, int):
        return False
    first, last = (end.reshape(-1, 2)[:, 0] for end in (spread.low, spread.high))
    return set(range(rows)) <= {int(row) for row in first[first == last]}


def _accumulated(a: AbstractTensor, updates: AbstractTensor, reduction: str) -> AbstractTensor:
    """Return the sum of updates, in every order; of products nothing is known."""
    most = np.inf if updates.shape is None else element_count(updates.shape)[1]
    infinite = a.may_infinite or updates.may_infinite or not np.isfinite(most)
    if reduction != "add" or a.form is None or infinite:
        return anything(a.element_type, a.shape)
    low, high = updates.box.hull()
    total = most * max(abs(low), abs(high)) + a.largest
    error = gamma(most, a.form) * total
    if total + error > a.form.max:
        return anything(a.element_type, a.shape)
    ends = a.low.min() + min(low * most, 0) - error, a.high.max() + max(high * most, 0) + error
    least, largest = outward(np.asarray(ends[0]), np.asarray(ends[1]), a.form)
    if low >= 0:  # What is added never makes it less.
        least = np.asarray(a.low.min())
    return result_of((a, updates), a.shape, least, largest)


def _non_zero(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return counts(None)
    count = unknown_size(0, element_count(a.shape)[1])
    high = np.array([[max(dimensions.largest(size) - 1, 0)] for size in a.shape] or [[0.0]])
    return counts((len(a.shape), count), high, np.zeros_like(high))


def _compress(call: Call, a: AbstractTensor, condition: AbstractTensor) -> AbstractTensor:
    axis = call.attribute("axis", None)
    if axis is None:
        return hulled(a, (unknown_size(0, np.inf if a.shape is None else element_count(a.shape)[1]),))
    if a.shape is None:
        return hulled(a, None)
    place = axis_of(axis, len(a.shape))
    new = unknown_size(0, dimensions.largest(a.shape[place]))
    return like(a, resized(a.shape, place, new), a.box.along((place,)))


def _unique(call: Call, a: AbstractTensor) -> Result:
    most = np.inf if a.shape is None else element_count(a.shape)[1]
    axis, count = call.attribute("axis", None), unknown_size(0, most)
    shape: Shape | None = (count,)
    if axis is not None:
        shape = None if a.shape is None else resized(a.shape, axis_of(axis, len(a.shape)), count)
    first, inverse = (counts((unknown_size(0, most),), min(most, 2.0**62)) for _ in range(2))
    return hulled(a, shape), first, inverse, counts((unknown_size(0, most),), min(max(most, 1), 2.0**62), 1)


def _one_hot(call: Call, indices: AbstractTensor, depth: AbstractTensor, values: AbstractTensor) -> AbstractTensor:
    if indices.shape is None:
        return hulled(values, None)
    sizes = depth.sizes()
    size = known_size(sizes[0] if sizes is not None and len(sizes) == 1 else None)
    axis = axis_of(call.attribute("axis", -1), len(indices.shape) + 1)
    (low, high), least = indices.box.hull(), bounds(size)[0]
    facts: Facts = ()
    if values.small is not None and values.small.size == 2 and -least <= low and high < least:
        facts = (Fact(Kind.SOME_AT_LEAST, axis, float(values.small.reshape(-1)[1])),)
    return hulled(values, (*indices.shape[:axis], size, *indices.shape[axis:]), facts=facts)


def _eye_like(call: Call, a: AbstractTensor) -> AbstractTensor:
    code = call.attribute("dtype", None)
    element_type = a.element_type if code is None else call.element_type(code)
    facts: Facts = ()
    if a.shape is not None and len(a.shape) == 2 and a.shape[0] == a.shape[1] and not call.attribute("k", 0):
        facts = tuple(Fact(Kind.SOME_AT_LEAST, axis, 1.0) for axis in (0, 1))
    return tensor(element_type, a.shape, 0, 1, may_minus_zero=False, integral=True, facts=facts)


def _range(call: Call, start: AbstractTensor, limit: AbstractTensor, delta: AbstractTensor) -> AbstractTensor:
    whole = start.integral and limit.integral and delta.integral
    count, first, step = _count_of_range(start, limit, delta), start.scalar, delta.scalar
    if isinstance(count, int) and 0 < count <= SMALL and whole and first is not None and step is not None:
        values = first + step * np.arange(count)
        if np.abs(values).max() < 2**24:
            held = values.astype(start.constant.dtype) if start.constant is not None else None
            more: dict[str, Any] = {"may_minus_zero": False, "integral": True, "constant": held}
            return tensor(start.element_type, (count,), values, values, **more)
    low, high = min(start.low.min(), limit.low.min()), max(start.high.max(), limit.high.max())
    if start.form is not None and not whole:
        # Runtimes add delta again and again, or multiply it: the error is of the last element.
        slack = 1e-2 * (abs(low) + abs(high)) + delta.largest
        low, high = low - slack, high + slack
    elif delta.low.min() > 0:
        low, high = float(start.low.min()), max(float(start.high.max()), float(limit.high.max()) - 1)
        if start.form is not None and high > 1 / start.form.u:
            low, high = low * 0.98 - 2, high * 1.02 + 2
    return result_of((start, limit), (count,), low, high, may_nan=False, integral=whole)


def _count_of_range(start: AbstractTensor, limit: AbstractTensor, delta: AbstractTensor) -> Dimension:
    if start.scalar is not None and limit.scalar is not None and delta.scalar:
        exact = max(int(np.ceil((limit.scalar - start.scalar) / delta.scalar)), 0)
        return exact if start.form is None else unknown_size()
    first, last = start.sizes(), limit.sizes()
    if first is None or last is None or first[0] is None or last[0] is None or delta.scalar != 1:
        return unknown_size()
    found = dimensions.minus(last[0], first[0])
    return found if found is not None and bounds(found)[0] >= 0 else unknown_size()


def _constant_of_shape(call: Call, asked: AbstractTensor) -> AbstractTensor:
    value = np.asarray(call.attribute("value", np.zeros(1, np.float32))).reshape(())
    known = constant(value, call.narrowed if value.dtype == np.float32 else None)
    shape = shape_from(asked)
    sizes = fixed(shape)
    whole = np.full(sizes, value) if sizes is not None and prod(sizes) <= SMALL else None
    return like(known, shape, known.box, bounds_from=BoundsFrom.MODEL, constant=whole)


TABLE: Mapping[str, Operator] = {
    "Compress": Operator(_compress),
    "ConstantOfShape": Operator(_constant_of_shape, error=errors.decided),
    "EyeLike": Operator(_eye_like),
    "Gather": Operator(_gather, error=errors.moved),
    "GatherElements": Operator(_gather_elements, error=errors.moved),
    "GatherND": Operator(_gather_nd, error=errors.moved),
    "MaxUnpool": Operator(lambda call, a, *_: hulled_with_zero(a, None)),
    "NonMaxSuppression": Operator(lambda call, *_: counts((unknown_size(), 3), 2.0**31)),
    "NonZero": Operator(_non_zero, error=errors.decided),
    "OneHot": Operator(_one_hot),
    "Range": Operator(_range),
    "Scatter": Operator(_scatter),
    "ScatterElements": Operator(_scatter),
    "ScatterND": Operator(_scatter),
    "TensorScatter": Operator(lambda call, a, updates, *_: _overwritten(a, updates)),
    "Unique": Operator(_unique),
}
