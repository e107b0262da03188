"""Shapes whose dimensions may be numbers, names or unknown."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from operator import index
from typing import SupportsIndex

from vinculum.errors import BroadcastError

Dimension = int | str | None
"""A size, a symbol that stands for one size throughout a model, or None: unknown."""

SymbolicShape = tuple[Dimension, ...]

LARGEST_SIZE = 2**63 - 1


def is_static(shape: SymbolicShape) -> bool:
    """Whether every dimension is a number."""
    return all(isinstance(dimension, int) for dimension in shape)


def static(shape: SymbolicShape) -> tuple[int, ...]:
    """Return the dimensions of a shape that is static."""
    return tuple(dimension for dimension in shape if isinstance(dimension, int))


def check_dimensions(shape: Iterable[Dimension]) -> SymbolicShape:
    """Return a shape as a tuple, if each dimension is a size from 0 on, a name or None.

    BroadcastError if it is not a sequence, or holds more elements than 63 bits count, or a dimension is something else.
    """
    if isinstance(shape, str | bytes) or not isinstance(shape, Iterable):
        raise BroadcastError(f"{shape!r} is not a shape; allowed: a sequence of sizes from 0, names, or None (unknown)")
    # Most are int, and checking a protocol takes ten times as long.
    dimensions = tuple(
        d if type(d) is int or isinstance(d, bool) or not isinstance(d, SupportsIndex) else index(d) for d in shape
    )
    for dimension in dimensions:
        if (
            isinstance(dimension, bool)
            or not isinstance(dimension, int | str | None)
            or (isinstance(dimension, int) and dimension < 0)
        ):
            raise BroadcastError(
                f"shape {dimensions} has the dimension {dimension!r}; allowed: a size from 0 on, a name, or None "
                "(unknown)"
            )
    if prod(d for d in dimensions if isinstance(d, int) and d) > LARGEST_SIZE:
        raise BroadcastError(f"shape {dimensions} holds more than 2^63 - 1 elements, which no memory does")
    return dimensions
