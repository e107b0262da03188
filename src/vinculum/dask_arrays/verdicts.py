"""The graph of a check: all blocks are checked, by tasks of their own, before the first is divided.

The verdict on a division waits for the check of every block, and the quotients wait for the verdict. The checked blocks
are computed by copies of the operands' tasks, so that no worker has to keep blocks until they are divided. Verdicts on
earlier divisions are not copied: the new one waits for them too, so the first division of a chain that fails raises.
"""

from __future__ import annotations

from collections.abc import Hashable
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

Chunks = tuple[tuple[float, ...], ...]

_VERDICT = "vinculum-verdict"
_MERGED_AT_ONCE = 32


def verdict_on(division: BlockDivision, operands: list[da.Array], chunks: Chunks) -> da.Array | None:
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
        token="vinculum-check",
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
