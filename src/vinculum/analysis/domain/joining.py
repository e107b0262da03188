"""Values that may be one or another: their join, what both say, and whether one holds the other."""

from __future__ import annotations

from itertools import count

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.dimensions import Dimension, Shape, Size, bounds, variable
from vinculum.analysis.domain.formats import type_range

_fresh = count(1)


def unknown_size(low: float = 0, high: float = np.inf) -> Size:
    """Return a size of which bounds alone are known."""
    return variable(f"?{next(_fresh)}", low, high)


def known_size(size: Dimension | None) -> Dimension:
    """Return a size, one of which nothing is known for None."""
    return unknown_size() if size is None else size


def join(a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return what holds of both."""
    if a.number and a.number == b.number:
        return a
    if a.element_type != b.element_type:
        return anything("", joined_shape(a.shape, b.shape))
    shape = joined_shape(a.shape, b.shape)
    p, q = (a.box, b.box) if a.shape == b.shape else (a.box.hulled(), b.box.hulled())
    return tensor(
        a.element_type,
        shape,
        np.minimum(p.low, q.low),
        np.maximum(p.high, q.high),
        np.minimum(p.mag, q.mag),
        may_nan=a.may_nan or b.may_nan,
        may_plus_zero=a.may_plus_zero or b.may_plus_zero,
        may_minus_zero=a.may_minus_zero or b.may_minus_zero,
        integral=a.integral and b.integral,
        bounds_from=max(a.bounds_from, b.bounds_from),
    )


def joined_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the shape that both are of."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(_joined_size(p, q) for p, q in zip(a, b, strict=True))


def _joined_size(a: Dimension, b: Dimension) -> Dimension:
    if a == b:
        return a
    (p, q), (r, s) = bounds(a), bounds(b)
    return unknown_size(min(p, r), max(q, s))


def holds(a: AbstractTensor, b: AbstractTensor) -> bool:
    """Tell whether whatever the second may be the first may be too."""
    if a.element_type != b.element_type or (a.shape is not None and a.shape != b.shape):
        return False
    flags = ((a.may_nan, b.may_nan), (a.may_plus_zero, b.may_plus_zero), (a.may_minus_zero, b.may_minus_zero))
    if any(has and not may for may, has in flags) or (a.integral and not b.integral):
        return False
    p, q = (a.box, b.box) if a.shape == b.shape else (a.box.hulled(), b.box.hulled())
    return bool((p.low <= q.low).all() and (p.high >= q.high).all() and (p.mag <= q.mag).all())


def widened(a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return what holds of both, with bounds that the second moves gone to the limits of the type."""
    both = join(a, b)
    if not both.element_type:
        return both
    smallest, biggest = type_range(both.element_type)
    low, high = both.box.hull()
    first_low, first_high = a.box.hull()
    return tensor(
        both.element_type,
        both.shape if a.shape == b.shape else None,
        low if low >= first_low else smallest,
        high if high <= first_high else biggest,
        both.mag.min() if both.mag.min() >= a.mag.min() else 0.0,
        may_nan=both.may_nan,
        integral=both.integral,
        bounds_from=BoundsFrom.TYPE if low < first_low or high > first_high else both.bounds_from,
    )
