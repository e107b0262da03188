"""Lazy division of Dask arrays, block by block; imported only when a Dask array is divided.

The operands get the result's rank before blocks are computed, so that NumPy's broadcasting rule applies to the blocks,
for every rule of the operator. If a policy raises, all blocks are checked before any quotient is computed: the findings
go to one task, the verdict, which raises the same error as for NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import dask.array as da
import numpy as np

from vinculum.dask_arrays.blocks import BlockDivision
from vinculum.dask_arrays.verdicts import Chunks, verdict_on
from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError
from vinculum.ops.operator import Operator
from vinculum.spec.element_types import ElementType, Kind
from vinculum.tensors import storage
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.type_checking import check_element_types
from vinculum.text import kind_of


def as_operand(value: object, name: str) -> da.Array:
    """Return an operand as a Dask array: itself, or a value that NumPy can view as an array.

    Raises
    ------
    ElementTypeError, ConstraintError
        As for `vinculum.tensors.storage.as_operand`, for the operand and for the declared type of its blocks.
    """
    if isinstance(value, da.Array):
        if da.Array.__module__ != "dask.array.core":
            raise ElementTypeError(
                f"{name} is a Dask array with query planning, which is experimental and not supported; set "
                'dask.config.set({"array.query-planning": False}) before dask.array is imported'
            )
        storage.as_operand(value._meta, f"each block of {name}")
        return value
    if type(value).__module__.partition(".")[0] == "dask":
        raise ElementTypeError(
            f"{name} is {kind_of(value)} of {type(value).__module__}, not a dask.array; pass its values "
            "as one, such as .to_dask_array(lengths=True) of a data frame, or dask.array.from_delayed"
        )
    array = storage.as_operand(value, name)
    storage.element_type_of(array, name)
    return da.asarray(array)


def element_type_of(operand: da.Array, name: str) -> ElementType:
    """Return the element type that a Dask array declares; ElementTypeError if no operator divides it."""
    return storage.element_type_of(operand._meta, name)


def shape_of(operand: da.Array) -> SymbolicShape:
    """Return the shape of a Dask array; None for sizes that are not known."""
    return tuple(None if isnan(size) else int(size) for size in operand.shape)


def divide(operator: Operator, operands: Sequence[da.Array], out: object) -> da.Array:
    """Return the lazy quotients; types, shapes and chunks are checked now.

    Parameters
    ----------
    operator : Operator
        The operator.
    operands : sequence of dask.array.Array
        The results of `as_operand`, one for each operand of the operator.
    out : None
        Not supported for lazy quotients.

    Raises
    ------
    AttributeValueError
        If `out` is given.
    ElementTypeError, BroadcastError
        As for NumPy arrays; or if the shapes cannot be broadcast because sizes are unknown.
    """
    if out is not None:
        raise AttributeValueError(
            "out is given with a Dask operand, whose quotients are lazy; leave it out, and write the result with "
            "dask.array.store or to_zarr"
        )
    given = tuple(element_type_of(x, name) for x, name in zip(operands, operator.spec.operand_names, strict=True))
    element_type = check_element_types(operator.spec, given)
    aligned, chunks, unknown = _aligned(operator, *operands)
    dtype = storage.dtype_of(element_type)
    division = BlockDivision(operator, dtype, unknown)
    raising = "raise" in (operator.policies.zero_divisor, operator.policies.overflow)
    verdict = verdict_on(division, aligned, chunks) if raising and element_type.kind is not Kind.FLOAT else None
    return da.map_blocks(
        division,
        *aligned,
        *([] if verdict is None else [verdict]),
        token=f"vinculum-{operator.spec.name.lower()}",
        dtype=dtype,
        chunks=chunks,
        meta=np.empty((0,) * len(chunks), dtype),
    )


def _aligned(operator: Operator, *operands: da.Array) -> tuple[list[da.Array], Chunks, tuple[int, ...]]:
    """Return the operands with the result's rank and blocks that fit each other, the result's chunks, and `unknown`."""
    if len(operands) == 1:
        return list(operands), operands[0].chunks, ()
    a, b = operands
    try:
        alignment = operator.alignment(_sizes(a), _sizes(b))
    except BroadcastError:
        if None not in shape_of(a) + shape_of(b):
            raise
        raise BroadcastError(
            f"A of shape {a.shape} and B of shape {b.shape} cannot be broadcast: unknown sizes (nan) match only 1 or "
            "the same number of unknown blocks; call compute_chunk_sizes() on the operand first"
        ) from None
    placed = [_placed(a, alignment.a), _placed(b, alignment.b)]
    # Blocks of unknown sizes stay as they are, as each operand's dimension has its own label.
    labels = [[(i, d) if isnan(size) else d for d, size in enumerate(x.shape)] for i, x in enumerate(placed)]
    _, (a, b) = da.core.unify_chunks(placed[0], labels[0], placed[1], labels[1])
    chunks = tuple(b.chunks[d] if own is None else a.chunks[d] for d, own in enumerate(alignment.a))
    return (
        [a, b],
        chunks,
        tuple(d for d, (m, n) in enumerate(zip(a.shape, b.shape, strict=True)) if isnan(m) and isnan(n)),
    )


def _sizes(x: da.Array) -> tuple[int, ...]:
    """Return the shape, with minus the number of blocks for an unknown size, which equals the same number only."""
    return tuple(-blocks if isnan(size) else int(size) for size, blocks in zip(x.shape, x.numblocks, strict=True))


def _placed(x: da.Array, dimensions: tuple[int | None, ...]) -> da.Array:
    """Return an operand with the result's rank, with size 1 and one block in dimensions along which it is repeated."""
    if 0 in x.shape and None not in shape_of(x):  # blocks of no elements, which Dask neither unifies nor rechunks
        x = da.empty(x.shape, dtype=x.dtype, chunks=x.shape)
    stays = (x.ndim == len(dimensions)) and all(
        own == d or (own is None and x.shape[d] == 1 == x.numblocks[d]) for d, own in enumerate(dimensions)
    )
    if stays:
        return x
    kept = x[tuple(slice(None) if d in dimensions else 0 for d in range(x.ndim))]
    # `blockwise` with new axes is not used, as Dask (2026.8) loses blocks when it fuses that.
    return kept[tuple(None if own is None else slice(None) for own in dimensions)]
