"""Values that are the same in every run: initializers that no input overrides, and the values of Constant nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.models.onnx.scopes import subgraphs

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


def visible_constants(model: ModelProto) -> Iterator[Mapping[str, TensorProto]]:
    """Yield the constants that each scope sees, scopes in the order of `vinculum.models.onnx.scopes.scopes`."""
    yield from _nested(model.graph, {})
    for function in model.functions:
        yield from _nested(function, {})


def _nested(
    holder: GraphProto | FunctionProto, around: Mapping[str, TensorProto]
) -> Iterator[Mapping[str, TensorProto]]:
    made = {name for node in holder.node for name in node.output}
    own: dict[str, TensorProto] = {}
    if isinstance(holder, GraphProto):
        overridable = {value.name for value in holder.input}
        made |= overridable
        own = {tensor.name: tensor for tensor in holder.initializer if tensor.name not in overridable}
    for node in holder.node:
        tensor = tensor_of(node) if node.domain == "" and node.op_type == "Constant" else None
        if tensor is not None:
            own[node.output[0]] = tensor
    visible = {name: tensor for name, tensor in around.items() if name not in made} | own
    yield visible
    for node in holder.node:
        for _, graph in subgraphs(node):
            yield from _nested(graph, visible)
