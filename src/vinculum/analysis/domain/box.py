"""A box of intervals that broadcasts like the tensor that it bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from vinculum.analysis.domain.dimensions import Shape, fixed
from vinculum.analysis.domain.formats import Bounds

LIMIT = 4096
"""The most elements of a box."""
SPREAD = 16384
"""The most elements of a tensor whose box is broadcast to its shape before elements move."""

Reduction = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Box:
    """Every value v that is not NaN has low <= v <= high and abs(v) >= mag; infinite bounds are values."""

    # Of the tensor's rank, each axis of size 1 or of the tensor's size; of rank 0 where the rank is not known.
    low: Bounds
    high: Bounds
    mag: Bounds

    def hull(self) -> tuple[float, float]:
        """Return the smallest and the largest bound."""
        return float(self.low.min()), float(self.high.max())

    def largest(self) -> Bounds:
        """Return bounds of the magnitudes."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def magnitudes(self) -> Box:
        """Return the box of the magnitudes."""
        return Box(self.mag, self.largest(), self.mag)

    def hulled(self) -> Box:
        """Return one interval that holds all."""
        return Box(self.low.min(), self.high.max(), self.mag.min())

    def along(self, axes: tuple[int, ...]) -> Box:
        """Return the hull along axes, which are kept with size 1."""

        def hull(bounds: Bounds, f: Reduction) -> Bounds:
            return np.asarray(f(bounds, axis=tuple(x for x in axes if bounds.shape[x] > 1), keepdims=True))

        return Box(hull(self.low, np.min), hull(self.high, np.max), hull(self.mag, np.min))

    def mapped(self, f: Callable[[Bounds], Bounds]) -> Box:
        """Return the box after a move of elements."""
        return Box(f(self.low), f(self.high), f(self.mag))

    def spread(self, shape: Shape | None) -> Box | None:
        """Return the box with an interval for each element; None if there are too many, or an unknown number."""
        sizes = fixed(shape)
        if sizes is None or not 0 < prod(sizes) <= SPREAD:
            return None
        return self.mapped(lambda bounds: np.broadcast_to(bounds, sizes))


def ranked(bounds: Bounds, rank: int | None, f: Reduction) -> Bounds:
    """Return bounds with the tensor's rank; of a tensor whose rank is not known one number."""
    if rank is None:
        return np.asarray(f(bounds)) if bounds.ndim else bounds
    if bounds.ndim < rank:
        return bounds.reshape((1,) * (rank - bounds.ndim) + bounds.shape)
    return bounds


def limited(bounds: Bounds, f: Reduction) -> Bounds:
    """Return bounds with at most as many elements as a box may have, hulling leading axes first."""
    for axis in range(bounds.ndim):
        if bounds.size <= LIMIT:
            return bounds
        if bounds.shape[axis] > 1:
            bounds = f(bounds, axis=axis, keepdims=True)
    return bounds


def compact(box: Box) -> Box:
    """Return the box with axes along which nothing changes of size 1."""
    low, high, mag = box.low, box.high, box.mag
    for axis in range(low.ndim):
        if low.shape[axis] > 1:
            first = tuple(slice(0, 1) if a == axis else slice(None) for a in range(low.ndim))
            if all(bool((bounds == bounds[first]).all()) for bounds in (low, high, mag)):
                low, high, mag = low[first], high[first], mag[first]
    return Box(low, high, mag)
