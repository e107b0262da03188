"""The types that the layers of an OpenVINO graph declare, and the data of Const layers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import ModelError, SpecLookupError
from vinculum.models.declared_data import element_count, read_slice
from vinculum.models.execution import Shape
from vinculum.models.openvino_ir.xml import Declared, Layer, whole_number
from vinculum.models.values import UNKNOWN
from vinculum.spec.element_types import ELEMENT_TYPES, INT4, UINT4, ElementType, by_openvino_name
from vinculum.tensors.storage import dtype_of
from vinculum.text import quoted, shape_text

_BOOLEAN = ("boolean", "bool")


@dataclass(frozen=True)
class TensorType:
    """A value's element type, and its shape as far as the file determines it."""

    element_type: ElementType | str
    shape: Shape | None


def declared_value(declared: Declared) -> TensorType:
    """Return the type that a port declares.

    A port without sizes may be that of a scalar or of a value of unknown rank; the shape is None then.
    """
    sizes = tuple(None if size < 0 else size for size in declared.sizes) or None
    precision = declared.precision.lower()
    if precision in (*_BOOLEAN, "string"):
        return TensorType("string" if precision == "string" else "bool", sizes)
    try:
        return TensorType(by_openvino_name(precision), sizes)
    except SpecLookupError:
        return TensorType(UNKNOWN, sizes)


def declared_type(layer: Layer, attribute: str) -> ElementType | str:
    """Return the element type that an attribute names, ``"bool"`` for the one that cannot be divided.

    ModelError if it is missing or not supported.
    """
    given = layer.data.get(attribute)
    if given is None:
        raise ModelError(f"{layer.title} has no attribute {attribute}")
    if given.lower() in _BOOLEAN:
        return "bool"
    try:
        return by_openvino_name(given)
    except SpecLookupError:
        allowed = ", ".join([*(t.openvino for t in ELEMENT_TYPES if t.openvino), "boolean"])
        raise ModelError(
            f"{layer.title} has element type {quoted(given)}, which cannot be read; allowed: {allowed}"
        ) from None


def bits_of(element_type: ElementType | str) -> int:
    """Return how many bits an element takes in a file."""
    return element_type.bits if isinstance(element_type, ElementType) else 8


def openvino_name(element_type: ElementType | str) -> str:
    """Return the name of an element type in an IR."""
    return "boolean" if isinstance(element_type, str) else str(element_type.openvino)


def constant(layer: Layer, data: Path) -> NDArray[Any]:
    """Return the array of a Const, read-only.

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
    """Return `count` elements; 4-bit elements are packed two to a byte, the first in its low half."""
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
    """Return elements as OpenVINO stores them; 4-bit elements are packed two to a byte, the first in its low half."""
    if isinstance(element_type, str) or element_type.bits > 4:
        return array.tobytes()
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1).astype(np.int8) & 15
    return (halves[0::2] | halves[1::2] << 4).tobytes()


def _signed(values: NDArray[np.uint8]) -> NDArray[Any]:
    return ((values ^ 8).astype(np.int8) - 8).astype(dtype_of(INT4))
