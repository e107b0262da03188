"""Running a model over the blocks of Dask arrays; only `Model.map_blocks` imports it, since Dask is optional."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray

from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.kernels.threads import threads
from vinculum.models.values import UNKNOWN, ModelTensor, tensor_dtype, validated_inputs
from vinculum.ops.policies import Policies
from vinculum.text import quoted

if TYPE_CHECKING:
    from vinculum.models.model import Engine, Model

Outputs = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Shipped:
    """The data that all blocks share, sent to each worker once: the model, and the inputs without blocks."""

    model: Model
    whole: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class BlockRun:
    """A task: one run of the model on one block."""

    names: tuple[str, ...]  # The inputs that are divided into blocks.
    batch_axis: int  # The axis along which these and the outputs have blocks.
    policies: Policies  # For integer divisions.
    engine: Engine  # For the other operators.

    def __call__(self, start: NDArray[Any], *blocks: NDArray[Any], shipped: Shipped) -> NDArray[Any]:
        """Return the outputs of one block, by name, in an array of one element."""
        size = blocks[0].shape[self.batch_axis]
        inputs = {**shipped.whole, **dict(zip(self.names, blocks, strict=True))}
        try:
            with threads(1):  # Dask runs the blocks in parallel already.
                outputs = shipped.model.run(
                    inputs,
                    zero_divisor=self.policies.zero_divisor,
                    overflow=self.policies.overflow,
                    engine=self.engine,
                )
            for name, output in outputs.items():
                if output.ndim <= self.batch_axis or output.shape[self.batch_axis] != size:
                    raise ModelError(f"output {quoted(name)} has shape {output.shape}, which does not keep the batch")
        except VinculumError as error:
            where = f"{int(start[0])} to {int(start[0]) + size - 1} along batch axis {self.batch_axis}"
            error.locate(f"block of {where}")
            raise
        holder = np.empty(1, object)
        holder[0] = outputs
        return holder


def map_blocks(
    model: Model, inputs: Mapping[str, Any], batch_axis: int, policies: Policies, engine: Engine
) -> dict[str, da.Array]:
    """Return the outputs of `Model.map_blocks` for its arguments."""
    given = {name: x for name, x in inputs.items() if isinstance(x, da.Array)}
    whole = {name: x for name, x in inputs.items() if name not in given}
    if not given:
        raise ModelError("no input is a dask.array; pass one, or call run")
    for name, x in given.items():
        _check_cut(name, x, batch_axis)
    sizes = {name: x.shape[batch_axis] for name, x in given.items()}
    if len(set(sizes.values())) > 1:
        raise ModelError(f"the inputs differ in size along the batch axis {batch_axis}: {sizes}")
    own = count(1)  # only the batch axis is common to all
    labels = [[0 if d == batch_axis else next(own) for d in range(x.ndim)] for x in given.values()]
    chunks, arrays = da.core.unify_chunks(*(part for pair in zip(given.values(), labels, strict=True) for part in pair))
    cut = dict(zip(given, arrays, strict=True))
    batches = chunks[0]
    for size in sorted(set(batches)):
        stand_ins = {name: _stand_in(x, batch_axis, size) for name, x in cut.items()}
        validated_inputs(model.inputs, {**whole, **stand_ins})
    shapes = {name: np.shape(x) for name, x in whole.items()} | {name: x.shape for name, x in cut.items()}
    symbols = _symbols(model.inputs, shapes, set(cut), batch_axis)
    declared = {output.name: _declared(output, symbols, batch_axis, batches) for output in model.outputs}

    token = tokenize(model, whole, batch_axis, policies, engine, *arrays)
    shipped = dask.delayed(Shipped(model, whole), name=f"vinculum-model-{token}", traverse=False)
    starts = da.from_array(np.cumsum([0, *batches[:-1]]), chunks=1)
    ran = da.blockwise(
        BlockRun(tuple(cut), batch_axis, policies, engine),
        (0,),
        starts,
        (0,),
        *(part for pair in zip(arrays, labels, strict=True) for part in pair),
        shipped=shipped,
        name=f"vinculum-run-{token}",
        dtype=object,
        meta=np.empty(0, object),
        adjust_chunks={0: lambda size: 1},
        align_arrays=False,
        concatenate=True,
    )
    return {name: _picked(ran, name, *declared[name], batch_axis) for name in declared}


def _check_cut(name: str, x: da.Array, batch_axis: int) -> None:
    title = f"input {quoted(name)}"
    if not 0 <= batch_axis < x.ndim:
        raise AttributeValueError(f"batch_axis is {batch_axis}; {title} has the axes 0 to {x.ndim - 1}")
    if any(isnan(size) for size in x.shape):
        raise ModelError(f"{title} has shape {x.shape}, of unknown sizes; call compute_chunk_sizes() on it first")
    cut = [d for d, blocks in enumerate(x.numblocks) if blocks > 1 and d != batch_axis]
    if cut:
        rest = ", ".join(f"{d}: -1" for d in cut)
        raise ModelError(
            f"{title} is also cut along axis {cut[0]}, and a model runs over batch axis {batch_axis} only; pass "
            f".rechunk({{{rest}}})"
        )


def _stand_in(x: da.Array, batch_axis: int, size: int) -> NDArray[Any]:
    """Return an array of a block's type and shape that takes no memory for its elements."""
    shape = (*x.shape[:batch_axis], size, *x.shape[batch_axis + 1 :])
    return np.broadcast_to(np.zeros((), x.dtype), shape)


def _symbols(
    tensors: tuple[ModelTensor, ...], shapes: Mapping[str, tuple[int, ...]], cut: set[str], batch_axis: int
) -> dict[str, float]:
    """Return the sizes of named dimensions; nan for the batch axis, where they differ."""
    found: dict[str, float] = {}
    for tensor in tensors:
        for axis, (symbol, size) in enumerate(zip(tensor.shape or (), shapes.get(tensor.name, ()), strict=False)):
            if isinstance(symbol, str):
                found[symbol] = nan if tensor.name in cut and axis == batch_axis else size
    return found


def _declared(
    tensor: ModelTensor, symbols: Mapping[str, float], batch_axis: int, batches: tuple[int, ...]
) -> tuple[np.dtype[Any], tuple[tuple[float, ...], ...]]:
    """Return the type and the chunks of an output; ModelError if the model's declarations do not determine them."""
    title = f"output {quoted(tensor.name)}"
    if tensor.shape is None or tensor.element_type == UNKNOWN or tensor.element is not None:
        raise ModelError(f"{title} declares no element type and rank, which a lazy array needs; call run")
    if len(tensor.shape) <= batch_axis:
        raise ModelError(f"{title} of rank {len(tensor.shape)} has no batch axis {batch_axis}; call run on all of it")
    batch = tensor.shape[batch_axis]
    if (isinstance(batch, int) and set(batches) != {batch}) or (
        isinstance(batch, str) and not isnan(symbols.get(batch, nan))
    ):
        raise ModelError(f"{title} declares {batch} along batch axis {batch_axis}, and the blocks are of {batches}")
    chunks: list[tuple[float, ...]] = []
    for axis, size in enumerate(tensor.shape):
        known = size if isinstance(size, int) else symbols.get(size or "", nan)
        chunks.append(tuple(batches) if axis == batch_axis else (known,))
    return tensor_dtype(tensor), tuple(chunks)


def _picked(
    ran: da.Array, output: str, dtype: np.dtype[Any], chunks: tuple[tuple[float, ...], ...], batch_axis: int
) -> da.Array:
    """Return one output of all blocks."""
    name = f"vinculum-output-{tokenize(ran.name, output)}"
    before, after = (0,) * batch_axis, (0,) * (len(chunks) - batch_axis - 1)
    layer = {(name, *before, i, *after): (_pick, (ran.name, i), output) for i in range(ran.numblocks[0])}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=[ran])
    return da.Array(graph, name, chunks, meta=np.empty((0,) * len(chunks), dtype))


def _pick(holder: NDArray[Any], output: str) -> NDArray[Any]:
    outputs: Outputs = holder[0]
    return outputs[output]
