"""Shapes that a file declares: believed only after their size is known to be possible."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from vinculum.errors import ModelError
from vinculum.tensors.shapes import LARGEST_SIZE
from vinculum.text import shape_text

LARGEST_RANK = 64  # NumPy's own limit


def element_count(dims: Sequence[int], bits: int, owner: str) -> int:
    """Return how many elements a declared shape has.

    ModelError if a dimension is negative, the rank is above NumPy's, or the size in bytes exceeds 2**63 - 1.
    """
    check_size(dims, bits, owner)
    if any(size < 0 for size in dims):
        raise ModelError(f"{owner} has shape {shape_text(dims)}: no dimension may be negative")
    return prod(dims)


def check_size(shape: Sequence[int | str | None], bits: int, owner: str) -> None:
    """Refuse a shape that no array can have, whatever its unknown dimensions turn out to be.

    ModelError if the rank is above NumPy's, or the size in bytes exceeds 2**63 - 1 (dimensions of 0 left out, as in
    NumPy).
    """
    if len(shape) > LARGEST_RANK:
        raise ModelError(f"{owner} has {len(shape)} dimensions; at most {LARGEST_RANK} are possible")
    elements = prod(size for size in shape if isinstance(size, int) and size > 0)
    if -(-elements * bits // 8) > LARGEST_SIZE:
        raise ModelError(f"{owner} has shape {shape_text(shape)}: its size in bytes exceeds 2**63 - 1")
