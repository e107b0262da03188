"""Operators that make a large tensor of small operands: asked for their size before they allocate it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import Any

import numpy as np
from onnx import NodeProto, helper

from vinculum.models.limits import check_bytes


def check_result_size(node: NodeProto, operands: Sequence[Any]) -> None:
    """Refuse a node whose result would be larger than the machine's memory.

    LimitError if it would be larger than the run may try.
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
    return prod(int(size) for size in operands[0].flat) * itemsize


def _expand(node: NodeProto, operands: Sequence[Any]) -> int:
    return prod(int(size) for size in operands[1].flat) * int(operands[0].itemsize)


def _tile(node: NodeProto, operands: Sequence[Any]) -> int:
    return prod(int(size) for size in operands[1].flat) * int(operands[0].nbytes)


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
    # The places along the new dimension are written down, as integers of 64 bits, even if there are no indices.
    return max(0, int(depth.item())) * max(8, indices.size * values.itemsize)


def _window(node: NodeProto, operands: Sequence[Any]) -> int:
    return 8 * int(np.asarray(operands[0]).item())


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
    "BlackmanWindow": _window,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "HammingWindow": _window,
    "HannWindow": _window,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
    "Resize": _resize,
    "Tile": _tile,
    "Upsample": _resize,
}


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None  # Not every system tells.
