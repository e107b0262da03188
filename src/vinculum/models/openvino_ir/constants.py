"""The data of Const layers, which stand in the file beside the XML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.declared_shapes import element_count
from vinculum.models.onnx.external_data import read_slice
from vinculum.models.openvino_ir.types import bits_of, declared_type
from vinculum.models.openvino_ir.xml import Layer, whole_number
from vinculum.spec.element_types import INT4, UINT4, ElementType
from vinculum.tensors.storage import dtype_of
from vinculum.text import shape_text


def constant(layer: Layer, data: Path) -> NDArray[Any]:
    """Return the array of a Const, which may not be written.

    ModelError if shape, element type, size and the data file do not agree.
    """
    element_type = declared_type(layer, "element_type")
    text = layer.data.get("shape")
    if text is None:
        raise ModelError(f"{layer.title} has no attribute shape")
    owner = f"attribute shape of {layer.title}"
    dims = tuple(whole_number(part, owner) for part in text.split(",")) if text.strip() else ()
    count = element_count(dims, bits_of(element_type), layer.title)
    needed, size = -(-count * bits_of(element_type) // 8), layer.number("size")
    # OpenVINO writes one byte for a constant without elements.
    if size != needed and (size, needed) != (1, 0):
        raise ModelError(
            f"{layer.title} of {element_type} and shape {shape_text(dims)} needs {needed} bytes; size is {size}"
        )
    offset = layer.number("offset")
    raw = read_slice(data, offset, needed, layer.title) if needed else np.empty(0, np.uint8)
    array = unpacked(raw, element_type, count).reshape(dims)
    array.flags.writeable = False
    return array


def unpacked(raw: NDArray[np.uint8], element_type: ElementType | str, count: int) -> NDArray[Any]:
    """Return `count` elements; those of 4 bits lie two in a byte, the first in its low half."""
    if isinstance(element_type, str):
        return np.not_equal(raw, 0)
    if element_type not in (INT4, UINT4):
        return raw.view(dtype_of(element_type))
    halves = np.empty((raw.size, 2), np.uint8)
    np.bitwise_and(raw, 15, out=halves[:, 0])
    np.right_shift(raw, 4, out=halves[:, 1])
    values = halves.reshape(-1)[:count]
    return values.astype(dtype_of(element_type)) if element_type is UINT4 else _signed(values)


def packed(array: NDArray[Any], element_type: ElementType | str) -> bytes:
    """Return elements as OpenVINO stores them; those of 4 bits lie two in a byte, the first in its low half."""
    if isinstance(element_type, str) or element_type.bits > 4:
        return array.tobytes()
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1).astype(np.int8) & 15
    return (halves[0::2] | halves[1::2] << 4).tobytes()


def _signed(values: NDArray[np.uint8]) -> NDArray[Any]:
    return ((values ^ 8).astype(np.int8) - 8).astype(dtype_of(INT4))
