"""What transfer functions share: broadcast shapes, results like an operand, and the shapes that most of them have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Dimension, Shape, bounds, unknown_size
from vinculum.analysis.domain.facts import Fact, Facts, Kind, moved_facts
from vinculum.analysis.domain.formats import Bounds, Format, outward, some
from vinculum.analysis.transfer.call import Call

Function = Callable[[Bounds], Bounds]


def broadcast(*shapes: Shape | None) -> Shape | None:
    """Return the shape that shapes are joined to, NumPy's way; None if one is not known."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    rank = max(map(len, known))
    return tuple(
        _joined([shape[len(shape) - rank + axis] for shape in known if len(shape) - rank + axis >= 0])
        for axis in range(rank)
    )


def _joined(sizes: list[Dimension]) -> Dimension:
    numbers = [size for size in sizes if isinstance(size, int) and size != 1]
    others = [size for size in sizes if not isinstance(size, int)]
    if numbers:
        return numbers[0]
    if not others:
        return 1
    if all(size == others[0] for size in others):
        return others[0]
    return unknown_size(min(bounds(s)[0] for s in others), max(bounds(s)[1] for s in others))


def aligned(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return a second operand as it broadcasts by NumPy's rule, where an old operator set asks for another.

    Before operator set 7 B's shape is a run of A's that begins at an axis.
    """
    axis = call.attribute("axis", None)
    if axis is None or a.shape is None or b.shape is None or not call.attribute("broadcast", 0):
        return b
    after = len(a.shape) - axis - len(b.shape)
    if after <= 0 or axis < 0:
        return b
    box = b.box.mapped(lambda bounds_: bounds_.reshape((*bounds_.shape, *[1] * after)))
    return call.values.numbered(like(b, (*b.shape, *[1] * after), box))


def product_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the shape of a product of matrices; None if it is not known."""
    if a is None or b is None or min(len(a), len(b)) < 2:
        return None
    lead = broadcast(a[:-2], b[:-2])
    return None if lead is None else (*lead, a[-2], b[-1])


def rest_on(*operands: AbstractTensor | None) -> BoundsFrom:
    """Return what bounds derived from those of operands depend on."""
    return max((o.bounds_from for o in operands if o is not None), default=BoundsFrom.MODEL)


def result_of(
    operands: Sequence[AbstractTensor | None], shape: Shape | None, low: Any, high: Any, mag: Any = None, **more: Any
) -> AbstractTensor:
    """Return a result of the first operand's type; it may be NaN if an operand may, and its bounds rest on all of them.

    - `error`: how far bounds can be off, by which they are widened, and rounded.
    """
    first = operands[0]
    assert first is not None
    if (error := more.pop("error", None)) is not None:
        low, high = outward(np.asarray(low - error), np.asarray(high + error), first.form)
    more.setdefault("may_nan", any(operand.may_nan for operand in operands if operand is not None))
    more.setdefault("bounds_from", rest_on(*operands))
    return tensor(first.element_type, shape, low, high, mag, **more)


def like(a: AbstractTensor, shape: Shape | None, box: Box, **changes: Any) -> AbstractTensor:
    """Return a tensor of another shape and box, with elements of a given one."""
    kept: dict[str, Any] = {
        "may_nan": a.may_nan,
        "may_plus_zero": a.may_plus_zero,
        "may_minus_zero": a.may_minus_zero,
        "integral": a.integral,
        "bounds_from": a.bounds_from,
    }
    return tensor(a.element_type, shape, box.low, box.high, box.mag, **{**kept, **changes})


def hulled(a: AbstractTensor, shape: Shape | None, **changes: Any) -> AbstractTensor:
    """Return a tensor each of whose elements is some element of another."""
    return like(a, shape, a.box.hulled(), **changes)


def hulled_with_zero(a: AbstractTensor, shape: Shape | None) -> AbstractTensor:
    """Return a tensor each of whose elements is some element of another, or zero."""
    return like(a, shape, with_zero(a.box.hulled()), may_plus_zero=True)


def with_zero(box: Box) -> Box:
    """Return the box of the same numbers and zeros."""
    return Box(np.minimum(box.low, 0.0), np.maximum(box.high, 0.0), np.zeros_like(box.mag))


def rearranged(
    a: AbstractTensor, shape: Shape, move: Callable[[Any], Any], places: Sequence[int | None], **changes: Any
) -> AbstractTensor:
    """Return a tensor whose axes have gone elsewhere, with all that is known of them.

    - `move`: applied to bounds, which have axes of size 1, and to a constant.
    - `places`: the new axis of each, None where it is gone.
    """
    whole = None if a.constant is None else move(a.constant)
    return like(a, shape, a.box.mapped(move), facts=moved_facts(a.facts, places), constant=whole, **changes)


def spread_facts(a: AbstractTensor, shape: Shape | None) -> Facts:
    """Return the facts on some element of every row that stay true where the tensor is broadcast to a shape."""
    if shape is None or a.shape is None:
        return ()
    after = len(shape) - len(a.shape)
    return tuple(
        Fact(fact.kind, fact.axis + after, fact.low, fact.high)
        for fact in a.facts
        if fact.kind is not Kind.SUM and a.shape[fact.axis] == shape[fact.axis + after]
    )


def margined(low: Bounds, high: Bounds, form: Format | None, ulps: float) -> tuple[Bounds, Bounds]:
    """Return bounds of a library's result with an error of `ulps` ulps, plus 64 subnormals for each."""
    if ulps and form is not None:
        least = 64 * form.smallest_subnormal
        low = np.where(np.isfinite(low), low - ulps * (2 * form.u * np.abs(low) + least), low)
        high = np.where(np.isfinite(high), high + ulps * (2 * form.u * np.abs(high) + least), high)
    return outward(low, high, form)


def unbounded(a: AbstractTensor, shape: Shape | None, *others: AbstractTensor) -> AbstractTensor:
    """Return any floats, NaN too, or any values of the type if it is none of floats."""
    if a.form is None:
        return anything(a.element_type, shape).known(bounds_from=rest_on(a, *others))
    return result_of((a, *others), shape, -np.inf, np.inf, may_nan=True)


def counts(shape: Shape | None, most: Any = 2.0**62, least: Any = 0) -> AbstractTensor:
    """Return int64 that count or number something: sizes, indices."""
    return tensor("int64", shape, least, most, integral=True)


def boolean(shape: Shape | None, low: Any = 0, high: Any = 1) -> AbstractTensor:
    """Return a tensor of truth values."""
    return tensor("bool", shape, low, high, integral=True)


def first_of(operands: Sequence[AbstractTensor | None], count: int) -> list[AbstractTensor | None]:
    """Return so many operands, None for those that are left out at the end."""
    return [*operands[:count], *[None] * (count - len(operands))]


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    return axis + rank if axis < 0 else axis


def hull_of(corners: Sequence[Bounds]) -> tuple[Bounds, Bounds]:
    """Return bounds over corners; one that is NaN is 0 * inf, next to which all is finite or at another corner."""
    low = reduce(np.minimum, corners)
    if some(np.isnan(low)):
        corners = [np.where(np.isnan(corner), 0.0, corner) for corner in corners]
        low = reduce(np.minimum, corners)
    return low, reduce(np.maximum, corners)


def never_negative(x: AbstractTensor, least: Any) -> AbstractTensor:
    """Return numbers of an operand's type that are not less than a given one."""
    return tensor(x.element_type, None, least, np.inf, least, may_minus_zero=False, bounds_from=x.bounds_from)


def apart_from_zero(x: AbstractTensor) -> AbstractTensor:
    """Return the same integers without 0."""
    return x.known(box=replace(x.box, mag=np.maximum(x.mag, 1.0)), may_plus_zero=False)
