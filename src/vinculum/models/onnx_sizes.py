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

    Raises
    ------
    ValueError
        The line says how large it would be.
    LimitError
        If it would be larger than the run may try.
    """
    size_of = _SIZES.get(node.op_type) if not node.domain else None
    memory = _physical_memory()
    if size_of is None:
        return
    size = size_of(node, operands)
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


_SIZES: dict[str, Callable[[NodeProto, Sequence[Any]], int]] = {
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Range": _range,
    "Tile": _tile,
}


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None  # Not every system tells.
