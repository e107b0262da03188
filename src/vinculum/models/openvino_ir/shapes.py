"""The shapes that Unsqueeze-1, Squeeze-1 and Reshape-1 give, of sizes that are known and of those that are not.

Where their documents leave something open they do what OpenVINO does: axes may repeat each other, Squeeze leaves a
named dimension that is not 1 as it is, and a Reshape that copies dimensions divides only the others among what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from vinculum.errors import BroadcastError
from vinculum.text import shape_text

Sizes = tuple[int | None, ...]
"""A shape of known rank; None for a size that is not known."""


def unsqueezed(shape: Sizes, axes: Sequence[int]) -> Sizes:
    """Return a shape with a 1 at each of `axes`, counted in the result.

    BroadcastError if there is no axis, or one is outside of the result's rank.
    """
    if not axes:
        raise BroadcastError("its axes are empty; give at least one")
    places = sorted(set(normalised(axes, len(shape) + len(set(axes)))))
    sizes = list(shape)
    for place in places:
        if place > len(sizes):
            raise BroadcastError(f"axis {place} is beyond the result, which has rank {len(shape) + len(places)}")
        sizes.insert(place, 1)
    return tuple(sizes)


def squeezed(shape: Sizes, axes: Sequence[int]) -> Sizes | None:
    """Return a shape without those of the dimensions `axes` that may be 1, without all of size 1 if there is no axis.

    None if not even the rank of the result is known.

    BroadcastError if an axis is outside of the shape's rank.
    """
    if not axes:
        return None if None in shape else tuple(size for size in shape if size != 1)
    dropped = set(normalised(axes, max(len(shape), 1)))  # A scalar lets 0 and -1 pass.
    return tuple(size for place, size in enumerate(shape) if place not in dropped or size not in (1, None))


def reshaped(shape: Sizes, pattern: Sequence[int], special_zero: bool) -> Sizes:
    """Return the shape that a pattern makes of a shape.

    - `shape`: what is reshaped.
    - `pattern`: the sizes; one may be -1, which stands for what is left.
    - `special_zero`: whether 0 stands for the size that the shape has there; else it is a size of 0.

    BroadcastError if the pattern is malformed, or has another number of elements than the shape.
    """
    given = f"the pattern {shape_text(pattern)} for shape {shape_text(shape)}"
    if any(size < -1 for size in pattern) or list(pattern).count(-1) > 1:
        raise BroadcastError(f"{given} is malformed; allowed: sizes, and -1 once")
    copied = {place for place, size in enumerate(pattern) if size == 0 and special_zero}
    if any(place >= len(shape) for place in copied):
        raise BroadcastError(f"{given} copies dimension {max(copied)}, which is not there")
    sizes: list[int | None] = [shape[place] if place in copied else size for place, size in enumerate(pattern)]
    rest = [size for place, size in enumerate(shape) if place not in copied]
    named = prod(size for place, size in enumerate(pattern) if place not in copied and size != -1)
    if -1 not in pattern:
        if None not in rest and prod(size or 0 for size in rest) != named:
            raise BroadcastError(f"{given} has another number of elements")
        return tuple(sizes)
    left = list(pattern).index(-1)
    if named == 0:
        raise BroadcastError(f"{given} does not tell what -1 stands for beside a size of 0")
    whole = None if None in rest else prod(size or 0 for size in rest)
    if whole is not None and whole % named:
        raise BroadcastError(f"{given} has another number of elements, whatever -1 stands for")
    sizes[left] = None if whole is None else whole // named
    return tuple(sizes)


def normalised(axes: Sequence[int], rank: int) -> list[int]:
    """Return axes counted from the front; BroadcastError if one is outside of the rank."""
    for axis in axes:
        if not -rank <= axis < rank:
            raise BroadcastError(f"axis {axis} is outside of rank {rank}; allowed: {-rank} to {rank - 1}")
    return [axis + rank if axis < 0 else axis for axis in axes]
