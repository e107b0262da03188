"""Conversion between arrays and OpenVINO tensors, byte for byte: NumPy and OpenVINO lack some of each other's types."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.spec.element_types import ElementType, by_openvino_name
from vinculum.tensors.storage import dtype_of, element_type_of_dtype
from vinculum.text import one_line

IN_FLOAT32 = {"INFERENCE_PRECISION_HINT": "f32"}
"""Compile options that prevent narrower arithmetic, the default on some processors."""

_NODE = r"While validating (?:ONNX )?node '.*?'(?: with friendly_name '.*?')?:"
_PLACES = re.compile(rf"Exception from \S+:\d+:|Check '.*?' failed at \S+:\d+:|{_NODE}")


def to_tensor(array: NDArray[Any]) -> Any:
    """Return a tensor that holds a copy of an array."""
    import openvino

    if array.dtype == object:  # Strings.
        return openvino.Tensor(array.astype(np.str_))
    element_type = element_type_of_dtype(array.dtype) or "bool"
    # Copied, since a tensor on the bytes themselves would not keep them alive.
    tensor = openvino.Tensor(getattr(openvino.Type, openvino_name(element_type)), openvino.Shape(array.shape))
    if array.size:
        tensor.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(packed(array, element_type), np.uint8)
    return tensor


def to_array(tensor: Any) -> NDArray[Any]:
    """Return an array that holds a copy of a tensor, or of the value of a Constant node."""
    shape = tuple(tensor.get_shape() if hasattr(tensor, "get_shape") else tensor.get_output_shape(0))
    name = tensor.get_element_type().get_type_name()
    if name == "string":
        return np.array(tensor.str_data, object).reshape(shape)
    element_type = "bool" if name == "boolean" else by_openvino_name(name)
    return unpacked(np.array(tensor.data).reshape(-1).view(np.uint8), element_type, prod(shape)).reshape(shape)


def reason_of(error: Exception) -> str:
    """Return OpenVINO's message without its source locations."""
    return one_line(Exception(" ".join(_PLACES.sub("", str(error)).split())))


def openvino_name(element_type: ElementType | str) -> str:
    """Return the name of an element type in an IR."""
    return "boolean" if isinstance(element_type, str) else str(element_type.openvino)


def unpacked(raw: NDArray[np.uint8], element_type: ElementType | str, count: int) -> NDArray[Any]:
    """Return `count` elements; 4-bit elements are packed two to a byte, the first in its low half."""
    if isinstance(element_type, str):
        return np.not_equal(raw, 0)
    if element_type.bits > 4:
        return raw.view(dtype_of(element_type))
    halves = np.stack([raw << 4, raw], -1).reshape(-1)[:count]
    return (halves.view(np.int8 if element_type.minimum else np.uint8) >> 4).astype(dtype_of(element_type))


def packed(array: NDArray[Any], element_type: ElementType | str) -> bytes:
    """Return elements as OpenVINO stores them; 4-bit elements are packed two to a byte, the first in its low half."""
    if isinstance(element_type, str) or element_type.bits > 4:
        return array.tobytes()
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1).astype(np.int8) & 15
    return (halves[0::2] | halves[1::2] << 4).tobytes()
