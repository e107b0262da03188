"""The values of Constant nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

NUMBERS_AND_STRINGS: dict[str, Any] = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
    "value_string": object,
    "value_strings": object,
}
"""The attributes, from operator set 12 on, that are no tensors, and what their elements are."""


def tensor_of(node: NodeProto) -> TensorProto | None:
    """Return the tensor that a Constant node makes; None if it is sparse, or the function around it decides."""
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            return None
        if attribute.name == "value" and attribute.HasField("t"):
            tensor: TensorProto = attribute.t
            return tensor
        if attribute.name in NUMBERS_AND_STRINGS:
            value = helper.get_attribute_value(attribute)
            return numpy_helper.from_array(np.array(value, NUMBERS_AND_STRINGS[attribute.name]))
    return None
