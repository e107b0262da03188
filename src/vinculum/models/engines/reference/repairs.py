"""Repairs of the reference evaluator: operators that it computes wrongly, operands and sizes that it does not check."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, helper
from onnx.reference.op_run import OpRun
from onnx.reference.ops import load_op

from vinculum.models.execution import check_bytes


class GatherElements(OpRun):
    """ONNX GatherElements with a check of the indices, and any number of elements along the axis.

    The reference evaluator's own never returns for an index far out of bounds, and is limited to 32 elements.
    """

    def _run(self, data: NDArray[Any], indices: NDArray[Any], axis: int = 0) -> tuple[NDArray[Any]]:
        if data.ndim != indices.ndim or not data.ndim:
            raise ValueError(f"the shapes {data.shape} and {indices.shape} have different ranks, or rank 0")
        axis = range(data.ndim)[axis]
        parts = [slice(None) if own == axis else slice(size) for own, size in enumerate(indices.shape)]
        near = data[tuple(parts)]
        if any(own != axis and a != b for own, (a, b) in enumerate(zip(near.shape, indices.shape, strict=True))):
            raise ValueError(f"the indices of shape {indices.shape} reach beyond the data of shape {data.shape}")
        return (np.take_along_axis(near, indices, axis),)


class GlobalMaxPool(OpRun):
    """ONNX GlobalMaxPool of any rank: the evaluator's own takes other axes, except of images of two dimensions."""

    def _run(self, x: NDArray[Any]) -> tuple[NDArray[Any]]:
        return (x.max(axis=tuple(range(2, x.ndim)), keepdims=True),)


class Optional(OpRun):
    """ONNX Optional: the evaluator's own puts the value into a list."""

    def _run(self, x: Any = None, type: object = None) -> tuple[Any]:
        return (x,)


class Pad(OpRun):
    """ONNX Pad, also by negative numbers, which take elements away: the evaluator's own refuses these."""

    def _run(
        self,
        data: NDArray[Any],
        pads: Any = None,
        value: Any = None,
        axes: Any = None,
        mode: str = "constant",
        paddings: Any = None,
    ) -> tuple[NDArray[Any]]:
        numbers = [int(pad) for pad in (pads if paddings is None else paddings)]
        padded = range(data.ndim) if axes is None else [range(data.ndim)[axis] for axis in axes]
        if len(numbers) != 2 * len(padded):
            raise ValueError(f"it has {len(numbers)} pads; allowed: 2 for each of {len(padded)} axes")
        widths, kept = [(0, 0)] * data.ndim, [slice(None)] * data.ndim
        for axis, before, after in zip(padded, numbers, numbers[len(padded) :], strict=False):
            size = data.shape[axis] + before + after
            if size < 0:
                raise ValueError(f"its pads leave {size} elements along axis {axis}")
            kept[axis] = slice(max(0, -before), max(0, data.shape[axis] + min(0, after)))
            added = size - len(range(*kept[axis].indices(data.shape[axis])))
            first = min(max(0, before), added)  # Less than `before` if more is taken away behind than there is.
            widths[axis] = first, added - first
        filler = {"constant_values": 0 if value is None else value} if mode == "constant" else {}
        return (np.pad(data[tuple(kept)], widths, mode=mode, **filler).astype(data.dtype),)  # type: ignore[call-overload]


class SequenceMap(OpRun):
    """ONNX SequenceMap whose body may use values of the graphs around, which the evaluator's own does not pass."""

    def need_context(self) -> bool:
        """Ask for the values around."""
        return True

    def _run(self, sequence: Sequence[Any], *others: Any, body: Any, context: Any = None, **options: Any) -> Any:
        results: list[list[Any]] = [[] for _ in body.output_names]
        for place, item in enumerate(sequence):
            given = [item, *(other[place] if isinstance(other, list) else other for other in others)]
            inputs = {**(context or {}), **dict(zip(body.input_names, given, strict=True))}
            for result, value in zip(results, body.run(None, inputs, **options), strict=True):
                result.append(value)
        return tuple(results)


class STFT(load_op("", "STFT", 17)):  # type: ignore[misc]  # chosen by name
    """ONNX STFT, also of signals without a last dimension of 1.

    ONNX Runtime takes such signals, and exporters write them. The evaluator's own takes the batch for the length.
    """

    def _run(self, signal: NDArray[Any], step: Any, window: Any = None, length: Any = None, **options: Any) -> Any:
        signal = signal[..., np.newaxis] if signal.ndim == 2 else signal
        frame = _whole(length) if length is not None else signal.shape[1] if window is None else len(window)
        if signal.shape[1] < frame:
            raise ValueError(f"its signal of {signal.shape[1]} elements is shorter than a frame of {frame}")
        return super()._run(signal, step, window, length, **options)


REPAIRED: tuple[type[OpRun], ...] = (STFT, GatherElements, GlobalMaxPool, Optional, Pad, SequenceMap)
"""The operators that replace the evaluator's own."""


def check_operands(node: NodeProto, operands: Sequence[Any]) -> None:
    """Check that the shape operand of a Reshape holds only sizes, and -1 at most once.

    NumPy, on which the evaluator relies, treats every negative size as -1.
    """
    if node.op_type != "Reshape" or node.domain or len(operands) < 2 or not isinstance(operands[1], np.ndarray):
        return
    sizes = [int(size) for size in operands[1].flat]
    if min(sizes, default=0) < -1 or sizes.count(-1) > 1:
        raise ValueError(f"its shape operand holds {min(sizes)}; allowed: sizes from 0 on, and -1 once")


def check_result_size(node: NodeProto, operands: Sequence[Any]) -> None:
    """Refuse a node whose result would be larger than the machine's memory.

    LimitError if it would exceed the limit of a trial run.
    """
    size_of = _SIZES.get(node.op_type) if not node.domain else None
    if size_of is None:
        return
    size, memory = size_of(node, operands), _physical_memory()
    check_bytes(size)
    if memory is not None and size > memory:
        raise ValueError(f"its result would take {size} bytes; this machine has {memory}")


def _constant_of_shape(node: NodeProto, operands: Sequence[Any]) -> int:
    value = next((a.t for a in node.attribute if a.name == "value"), None)
    itemsize = 4 if value is None else helper.tensor_dtype_to_np_dtype(value.data_type).itemsize
    return _elements(operands[0]) * itemsize


def _elements(shape: Any) -> int:
    return prod(int(size) for size in shape.flat)


def _whole(number: Any) -> int:
    return int(np.asarray(number).item())


def _range(node: NodeProto, operands: Sequence[Any]) -> int:
    start, limit, delta = (float(np.asarray(value).item()) for value in operands)
    steps = (limit - start) / delta if delta else 0.0
    return max(0, ceil(steps)) * int(operands[0].itemsize) if np.isfinite(steps) else 0


def _pad(node: NodeProto, operands: Sequence[Any]) -> int:
    data = operands[0]
    pads = operands[1].flat if len(operands) > 1 else _integers(node, "pads") or _integers(node, "paddings")
    axes = operands[3].flat if len(operands) > 3 and operands[3] is not None else range(data.ndim)
    count, sizes = len(axes), list(data.shape)
    for place, axis in enumerate(axes):
        sizes[int(axis)] += sum(max(0, int(pad)) for pad in (pads[place], pads[count + place]))
    return int(prod(sizes) * data.itemsize)


def _one_hot(node: NodeProto, operands: Sequence[Any]) -> int:
    indices, depth, values = (np.asarray(operand) for operand in operands)
    # The evaluator stores the positions along the new dimension as 64-bit integers, even if there are no indices.
    return max(0, int(depth.item())) * max(8, indices.size * values.itemsize)


def _resize(node: NodeProto, operands: Sequence[Any]) -> int:
    data, sizes = operands[0], operands[3] if len(operands) > 3 else None
    scales = operands[2] if len(operands) > 2 else operands[1] if len(operands) > 1 else None
    axes = _integers(node, "axes") or range(data.ndim)
    result = [float(size) for size in data.shape]
    for place, axis in enumerate(axes):
        if sizes is not None and sizes.size:
            result[axis] = float(sizes.flat[place])
        elif scales is not None and scales.size:
            result[axis] *= float(scales.flat[place])
    elements = float(np.prod(result))
    return int(elements) * int(data.itemsize) if np.isfinite(elements) else 0


def _integers(node: NodeProto, name: str) -> Sequence[int]:
    return next((list(attribute.ints) for attribute in node.attribute if attribute.name == name), [])


_SIZES: dict[str, Callable[[NodeProto, Sequence[Any]], int]] = {
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow"), lambda node, operands: 8 * _whole(operands[0])),
    "ConstantOfShape": _constant_of_shape,
    "Expand": lambda node, operands: _elements(operands[1]) * int(operands[0].itemsize),
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
    "Resize": _resize,
    "Tile": lambda node, operands: _elements(operands[1]) * int(operands[0].nbytes),
    "Upsample": _resize,
}


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None  # Not available on every system.
