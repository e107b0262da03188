"""How two operands and a result are walked together: as few loops as their strides allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vinculum.tensors.broadcasting import Alignment

Array = npt.NDArray[Any]
Strides = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Walk:
    """A coalesced nest of loops, which follows the result's memory.

    Attributes
    ----------
    alignment : Alignment
        The result's shape, and the operands' dimensions along it.
    order : tuple of int
        The result's dimensions as they lie in memory, outermost first.
    row_major : bool
        Whether the walk meets elements in the order of their indices.
    strides : tuple of int
        A new result's, in bytes.
    nest : ndarray of int64, shape (4, depth)
        Dimensions, then the strides in bytes of dividend, divisor and result, outermost first.
    """

    alignment: Alignment
    order: tuple[int, ...]
    row_major: bool
    strides: Strides
    nest: npt.NDArray[np.int64]

    def new_result(self, dtype: np.dtype[Any]) -> Array:
        """Allocate a result whose dimensions lie in memory as the walk takes them."""
        shape = self.alignment.shape
        if self.row_major:
            return np.empty(shape, dtype)
        return np.ndarray(shape, dtype, strides=self.strides)


def plan(alignment: Alignment, a: Strides, b: Strides, out: Strides | None, item_size: int) -> Walk:
    """Return the walk over operands and a result of these strides in bytes; None for a result yet to be allocated."""
    shape, rank = alignment.shape, len(alignment.shape)
    steps_a, steps_b = along(alignment.a, a), along(alignment.b, b)
    order = _order(shape, out if out is not None else _leading(shape, steps_a, steps_b))
    new = contiguous(shape, item_size, order)
    steps_out = new if out is None else out
    columns: list[tuple[int, ...]] = []
    for d in order:
        size, steps = shape[d], (steps_a[d], steps_b[d], steps_out[d])
        if size == 1:
            continue
        # Neighbours that all three step through as if they were one dimension become one.
        if columns and all(outer == step * size for outer, step in zip(columns[-1][1:], steps, strict=True)):
            columns[-1] = (columns[-1][0] * size, *steps)
        else:
            columns.append((size, *steps))
    columns = columns or [(1, item_size, item_size, item_size)]
    return Walk(
        alignment,
        order,
        row_major=order == tuple(range(rank)),
        strides=new,
        nest=np.ascontiguousarray(np.array(columns, np.int64).T),
    )


def _order(shape: tuple[int, ...], strides: Strides | None) -> tuple[int, ...]:
    """Return the dimensions by falling stride; dimensions of size 1, whose strides mean nothing, keep their places."""
    if strides is None:
        return tuple(range(len(shape)))
    sized = [d for d, size in enumerate(shape) if size != 1]
    by_stride = iter(sorted(sized, key=lambda d: -abs(strides[d])))
    return tuple(d if size == 1 else next(by_stride) for d, size in enumerate(shape))


def _leading(shape: tuple[int, ...], *operands: Strides) -> Strides | None:
    """Return the strides of the first operand that is repeated along no dimension, None if there is none."""
    for steps in operands:
        if all(step or size == 1 for step, size in zip(steps, shape, strict=True)):
            return steps
    return None


def contiguous(shape: tuple[int, ...], item_size: int, order: tuple[int, ...] | None = None) -> Strides:
    """Return the strides in bytes of an array without gaps, its dimensions in that order, row-major if None."""
    strides, step = [0] * len(shape), item_size
    for d in reversed(range(len(shape)) if order is None else order):
        strides[d] = step
        step *= shape[d]
    return tuple(strides)


def along(dimensions: tuple[int | None, ...], strides: Strides) -> Strides:
    """Return an operand's stride along each dimension of the result, 0 where it is repeated."""
    return tuple(0 if dimension is None else strides[dimension] for dimension in dimensions)


def expanded(operand: Array, dimensions: tuple[int | None, ...], shape: tuple[int, ...]) -> Array:
    """View an operand in the result's shape."""
    return np.lib.stride_tricks.as_strided(operand, shape, along(dimensions, operand.strides), writeable=False)
