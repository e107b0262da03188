"""Lazy division of Dask arrays, block by block; imported only when a Dask array is divided.

The operands get the result's rank before blocks are computed, so that NumPy's broadcasting rule applies to the blocks,
for every rule of the operator. If a policy raises, all blocks are checked by tasks of their own before any quotient is
computed: the findings go to one task, the verdict, which raises the same error as for NumPy arrays.

The checked blocks are computed by copies of the operands' tasks, so that no worker has to keep blocks until they are
divided. Verdicts on earlier divisions are not copied: the new one waits for them too, so the first division of a chain
that fails raises.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache, partial
from math import isnan
from typing import Any

import dask.array as da
import numpy as np
from dask._task_spec import DataNode, GraphNode, convert_legacy_graph
from dask.base import clone_key, tokenize
from dask.blockwise import Blockwise
from dask.core import flatten
from dask.highlevelgraph import HighLevelGraph, Layer, MaterializedLayer

from vinculum.dask_arrays.blocks import BlockCheck, BlockDivision, Verdict, merged
from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError
from vinculum.ops.operator import Operator, alignment_of
from vinculum.spec.element_types import ElementType, Kind
from vinculum.tensors import storage
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.type_checking import check_element_types
from vinculum.text import kind_of

Chunks = tuple[tuple[float, ...], ...]

_VERDICT = "vinculum-verdict"
_MERGED_AT_ONCE = 32


def as_operand(value: object, name: str) -> da.Array:
    """Return an operand as a Dask array: itself, or a value that NumPy can view as an array.

    It is refused as `vinculum.tensors.storage.as_operand` does, for its blocks by the type that it declares.
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

    The errors are those of NumPy arrays; BroadcastError also if sizes are unknown, AttributeValueError if there is an
    `out`, which lazy quotients cannot be written to.
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
    verdict = _verdict_on(division, aligned, chunks) if raising and element_type.kind is not Kind.FLOAT else None
    return da.map_blocks(
        division,
        *aligned,
        *([] if verdict is None else [verdict]),
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
        alignment = alignment_of(operator, _sizes(a), _sizes(b))
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
    """Return the shape, with an unknown size as minus the number of blocks: it joins only an equal number of blocks."""
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


def _verdict_on(division: BlockDivision, operands: list[da.Array], chunks: Chunks) -> da.Array | None:
    """Return the verdict that must be there before any block is divided; None if there are no elements."""
    sizes = [sum(along) for along in chunks]
    if 0 in sizes:
        return None
    shape = None if isnan(sum(sizes)) else tuple(int(size) for size in sizes)
    only_divisor = shape is not None and division.operator.policies.overflow != "raise"
    looked_at = operands[1:] if only_divisor else operands
    seed = tokenize(division, *looked_at)
    found = da.map_blocks(
        BlockCheck(division),
        *(_copied(x, seed) for x in looked_at),
        dtype=object,
        chunks=tuple((1,) * max(counts) for counts in zip(*(x.numblocks for x in looked_at), strict=True)),
        meta=np.empty((0,) * len(chunks), object),
    )
    earlier = _earlier_verdicts(operands)
    token = tokenize(found.name, shape, [x.name for x in earlier])
    tasks: dict[Hashable, Any] = {}
    parts = list(flatten(found.__dask_keys__()))
    while len(parts) > _MERGED_AT_ONCE:
        groups = [parts[start : start + _MERGED_AT_ONCE] for start in range(0, len(parts), _MERGED_AT_ONCE)]
        parts = [(f"vinculum-merge-{token}", len(parts), number) for number in range(len(groups))]
        tasks |= {key: (merged, group) for key, group in zip(parts, groups, strict=True)}
    name = f"{_VERDICT}-{token}"
    tasks[name,] = (Verdict(division, shape), parts, *((x.name,) for x in earlier))
    return _scalar(HighLevelGraph.from_collections(name, tasks, [found, *earlier]), name)


def _scalar(graph: HighLevelGraph, name: str) -> da.Array:
    return da.Array(graph, name, (), dtype=bool)


def _layers_behind(x: da.Array) -> tuple[set[str], set[str]]:
    """Return the names of the layers that compute an array, and those of the verdicts that they wait for."""
    dependencies = x.__dask_graph__().dependencies
    layers, verdicts, left = set[str](), set[str](), list(x.__dask_layers__())
    while left:
        name = left.pop()
        if name.startswith(_VERDICT):
            verdicts.add(name)
        elif name not in layers:
            layers.add(name)
            left += dependencies[name]
    return layers, verdicts


def _earlier_verdicts(operands: list[da.Array]) -> list[da.Array]:
    """Return the verdicts that the operands wait for, except those for which one of these waits."""
    graphs = {name: x.__dask_graph__() for x in operands for name in _layers_behind(x)[1]}
    waited_for = {other for name, graph in graphs.items() for other in graph.dependencies[name]}
    return [_scalar(graphs[name], name) for name in sorted(graphs.keys() - waited_for)]


def _copied(x: da.Array, seed: str) -> da.Array:
    """Return an array of the same blocks, computed by separate tasks; blocks that are already computed are shared.

    `dask.graph_manipulation.clone` (2026.8) loses the tasks within layers other than `Blockwise`, such as a rechunking.
    """
    graph = x.__dask_graph__()
    copied = {name for name in _layers_behind(x)[0] if not _is_computed(graph.layers[name])}
    keys = {key for name in copied for key in graph.layers[name].get_output_keys()}
    every_key = graph.get_all_external_keys()
    clone = cache(partial(clone_key, seed=seed))

    def copy_of(key: Any) -> Any:
        return (clone(key[0]), *key[1:]) if isinstance(key, tuple) else clone(key)

    layers, dependencies = dict(graph.layers), dict(graph.dependencies)
    for name in copied:
        layer, copy = graph.layers[name], clone(name)
        dependencies[copy] = {clone(other) if other in copied else other for other in graph.dependencies[name]}
        if isinstance(layer, Blockwise):
            layers[copy], _ = layer.clone(keys, seed)
        else:
            tasks = convert_legacy_graph(dict(layer), every_key)
            new = {
                key: copy_of(key) for key in keys & set(tasks).union(*(task.dependencies for task in tasks.values()))
            }
            layers[copy] = MaterializedLayer({new[key]: task.substitute(new, new[key]) for key, task in tasks.items()})
    name = clone(x.name) if x.name in copied else x.name
    return da.Array(HighLevelGraph(layers, dependencies), name, x.chunks, meta=x._meta)


def _is_computed(layer: Layer) -> bool:
    """Return whether a layer contains only blocks, or futures of them, and no tasks that compute them."""
    if isinstance(layer, Blockwise) or not layer.is_materialized():
        return False
    return all(isinstance(task, DataNode) or not isinstance(task, GraphNode | tuple | list) for task in layer.values())
