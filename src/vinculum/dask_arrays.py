"""Lazy division of Dask arrays, block by block; imported only when a Dask array is divided.

The operands get the result's rank before blocks are computed, so that NumPy's broadcasting rule applies to the blocks,
for every rule of the operator. If a policy raises, all blocks are checked before any quotient is computed: the findings
go to one task, which raises the same error as for NumPy arrays. Blocks are computed once for the check and again for
the division, so that no worker has to keep them in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isnan, prod
from typing import Any, NoReturn

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask._task_spec import DataNode, GraphNode, convert_legacy_graph
from dask.base import clone_key, tokenize
from dask.blockwise import Blockwise
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError
from vinculum.kernels.contract import Exceptions
from vinculum.kernels.threads import threads
from vinculum.ops.operator import Operator
from vinculum.ops.policies import raise_exceptions
from vinculum.spec.element_types import ElementType, Kind
from vinculum.tensors import storage
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.type_checking import check_element_types
from vinculum.text import kind_of

Array = npt.NDArray[Any]

# The number of the block and the index within it, for each dimension. Places sort like the indices in the whole array,
# even if the sizes of the preceding blocks are unknown.
Place = tuple[tuple[int, int], ...]


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
    verdict = _verdict(division, aligned, chunks) if raising and element_type.kind is not Kind.FLOAT else ()
    return da.map_blocks(
        division,
        *aligned,
        *verdict,
        token=f"vinculum-{operator.spec.name.lower()}",
        dtype=dtype,
        chunks=chunks,
        meta=np.empty((0,) * len(chunks), dtype),
    )


def _aligned(
    operator: Operator, *operands: da.Array
) -> tuple[list[da.Array], tuple[tuple[float, ...], ...], tuple[int, ...]]:
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


@dataclass(frozen=True)
class BlockDivision:
    """The division of one block, as a task.

    Attributes
    ----------
    operator : Operator
        The operator.
    dtype : numpy.dtype
        The type that the Dask arrays declare, in the processor's byte order.
    unknown : tuple of int
        The dimensions in which both sizes were unknown.
    """

    operator: Operator
    dtype: np.dtype[Any]
    unknown: tuple[int, ...]

    def __dask_tokenize__(self) -> object:
        """Return what Dask names tasks by; without it Dask pickles the operator, which takes 15 times as long."""
        made_from, _ = self.operator.__reduce__()
        return type(self).__name__, repr(made_from), self.dtype.name, self.unknown

    def __call__(self, *blocks: object) -> Array:
        """Return the quotients of a block; arguments after the operands are tasks that must finish first."""
        quotients = self.divide(*blocks[: len(self.operator.spec.inputs)])
        if isinstance(quotients, Exceptions):
            self.judge(quotients)  # the operands have changed since they were checked
        return quotients

    def divide(self, *blocks: object) -> Array | Exceptions:
        """Return the quotients of a block, or the exceptions for which a policy raises; one thread per block."""
        names = self.operator.spec.operand_names
        arrays = [self.checked(block, name) for block, name in zip(blocks, names, strict=True)]
        if any(arrays[0].shape[d] != arrays[1].shape[d] for d in self.unknown):
            raise BroadcastError(
                f"a block of A has shape {arrays[0].shape} and that of B {arrays[1].shape}, unknown when they were "
                "joined; call compute_chunk_sizes() on both operands first"
            )
        with threads(1):
            return self.operator.on_blocks(*arrays)

    def checked(self, block: object, name: str) -> Array:
        """Return a block as an array, after checking that it has the element type that its Dask array declares."""
        array = storage.as_operand(block, f"a block of {name}")
        storage.element_type_of(array, f"a block of {name}")
        if storage.native_dtype(array.dtype) != self.dtype:
            raise ElementTypeError(
                f"a block of {name} has type {array.dtype}; its Dask array declares {self.dtype}: nothing is converted"
            )
        return array

    def judge(self, exceptions: Exceptions) -> NoReturn:
        """Raise the same error as for NumPy arrays."""
        raise_exceptions(exceptions, self.operator.policies, self.operator.spec, partial=False)


@dataclass(frozen=True)
class Findings:
    """The exceptional elements of some blocks.

    Attributes
    ----------
    zero_divisors, overflows : int
        The number of elements of each kind.
    first_zero_divisor, first_overflow : Place or None
        The first element of each kind.
    sizes : tuple of frozenset of (int, int)
        For each dimension, the number and the size along it of each of these blocks.
    """

    zero_divisors: int
    first_zero_divisor: Place | None
    overflows: int
    first_overflow: Place | None
    sizes: tuple[frozenset[tuple[int, int]], ...]


@dataclass(frozen=True)
class Look:
    """A task's search for exceptional elements; all except MIN/-1 are found in the divisor's block alone."""

    division: BlockDivision

    def __call__(self, *blocks: Any, block_id: tuple[int, ...]) -> Array:
        """Return the findings of a block, in an array of one element and of the block's rank."""
        found: Array | Exceptions | None
        if len(blocks) == 1:
            divisor = self.division.checked(blocks[0], "B")
            shape, found = divisor.shape, _zeros(divisor)
        else:
            shape, found = np.broadcast_shapes(*map(np.shape, blocks)), self.division.divide(*blocks)
        sizes = tuple(frozenset([along]) for along in zip(block_id, shape, strict=True))

        def place(index: tuple[int, ...] | None) -> Place | None:
            return None if index is None else tuple(zip(block_id, index, strict=True))

        findings = Findings(0, None, 0, None, sizes)
        if isinstance(found, Exceptions):
            first = place(found.first_zero_divisor), place(found.first_overflow)
            findings = Findings(found.zero_divisors, first[0], found.overflows, first[1], sizes)
        return _in_array(findings, len(shape))


def _zeros(divisor: Array) -> Exceptions | None:
    """Return the exceptions of zero divisors; None if there are none."""
    zeros = divisor.size - np.count_nonzero(divisor)
    if not zeros:
        return None
    first = np.unravel_index(int(np.argmin(divisor.astype(bool))), divisor.shape)
    return Exceptions(divisor.size, int(zeros), tuple(map(int, first)), 0, None)


@dataclass(frozen=True)
class Verdict:
    """The last task's verdict on all findings, with the result's shape if it is known."""

    division: BlockDivision
    shape: tuple[int, ...] | None

    def __call__(self, parts: Array, axis: object = None, keepdims: object = None) -> Array:
        """Raise the same error as for NumPy arrays if there are findings; else return true."""
        found = _merged(parts.flat)
        if found.zero_divisors or found.overflows:
            starts = [list(accumulate((size for _, size in sorted(along)), initial=0)) for along in found.sizes]
            looked_at = prod(start[-1] for start in starts)
            elements = looked_at if self.shape is None else prod(self.shape)

            def index(place: Place | None) -> tuple[int, ...] | None:
                return (
                    None if place is None else tuple(s[block] + i for s, (block, i) in zip(starts, place, strict=True))
                )

            times = elements // looked_at  # for a divisor that is repeated
            zeros, overflows = found.zero_divisors * times, found.overflows
            first = index(found.first_zero_divisor), index(found.first_overflow)
            self.division.judge(Exceptions(elements, zeros, first[0], overflows, first[1]))
        return np.asarray(True)


def _verdict(
    division: BlockDivision, operands: list[da.Array], chunks: tuple[tuple[float, ...], ...]
) -> tuple[da.Array, ...]:
    """Return the task that must finish before any block is divided; an empty tuple if there are no elements."""
    sizes = [sum(along) for along in chunks]
    if 0 in sizes:
        return ()
    known = not isnan(sum(sizes))
    if known and division.operator.policies.overflow != "raise":
        operands = operands[1:]
    seed = tokenize(division, *operands)
    copies = [_recomputed(x, seed) for x in operands]
    blocks = tuple(max(counts) for counts in zip(*(x.numblocks for x in operands), strict=True))
    found = da.map_blocks(
        Look(division),
        *copies,
        token="vinculum-look",
        dtype=object,
        chunks=tuple((1,) * count for count in blocks),
        meta=np.empty((0,) * len(chunks), object),
    )
    shape = tuple(int(size) for size in sizes) if known else None
    verdict = da.reduction(
        found,
        chunk=_merged_array,
        combine=_merged_array,
        aggregate=Verdict(division, shape),
        name="vinculum-verdict",
        dtype=bool,
        meta=np.empty((), bool),
    )
    return (verdict,)


def _recomputed(x: da.Array, seed: str) -> da.Array:
    """Return an array of the same blocks, computed by separate tasks; blocks that are already computed are shared.

    `dask.graph_manipulation.clone` (2026.8) leaves layers other than `Blockwise`, such as a rechunking, tied to
    the original tasks.
    """
    graph = x.__dask_graph__()
    computed = {name for name, layer in graph.layers.items() if _is_computed(layer)}
    keys = {key for name, layer in graph.layers.items() if name not in computed for key in layer.get_output_keys()}
    new_keys = {key: clone_key(key, seed) for key in keys}
    every_key = graph.get_all_external_keys()
    layers: dict[str, Layer] = {}
    dependencies: dict[str, set[str]] = {}
    for name, layer in graph.layers.items():
        new_name = name if name in computed else clone_key(name, seed)
        if name in computed:
            layers[new_name] = layer
        elif isinstance(layer, Blockwise):
            layers[new_name], _ = layer.clone(keys, seed)
        else:
            tasks = convert_legacy_graph(dict(layer), every_key)
            layers[new_name] = MaterializedLayer(
                {new_keys[key]: task.substitute(new_keys, key=new_keys[key]) for key, task in tasks.items()}
            )
        dependencies[new_name] = {
            other if other in computed else clone_key(other, seed) for other in graph.dependencies[name]
        }
    name = x.name if x.name in computed else clone_key(x.name, seed)
    return da.Array(HighLevelGraph(layers, dependencies), name, x.chunks, meta=x._meta)


def _is_computed(layer: Layer) -> bool:
    """Return whether a layer contains only blocks, or futures of them, and no tasks that compute them."""
    if isinstance(layer, Blockwise) or not layer.is_materialized():
        return False
    return all(isinstance(task, DataNode) or not isinstance(task, GraphNode | tuple | list) for task in layer.values())


def _merged(parts: Iterable[Findings]) -> Findings:
    """Return the joint findings of all blocks."""
    found = list(parts)
    return Findings(
        sum(part.zero_divisors for part in found),
        min((part.first_zero_divisor for part in found if part.first_zero_divisor is not None), default=None),
        sum(part.overflows for part in found),
        min((part.first_overflow for part in found if part.first_overflow is not None), default=None),
        tuple(
            frozenset[tuple[int, int]]().union(*along) for along in zip(*(part.sizes for part in found), strict=True)
        ),
    )


def _merged_array(parts: Array, axis: object = None, keepdims: object = None) -> Array:
    return _in_array(_merged(parts.flat), parts.ndim)


def _in_array(findings: Findings, rank: int) -> Array:
    array = np.empty((1,) * rank, object)
    array[...] = findings
    return array
