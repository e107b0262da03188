"""A float32 model converted to float16, every number rounded to the nearest, as `vinculum check --as float16` asks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper


def float16(model: ModelProto) -> ModelProto:
    """Return the model converted."""
    converted = ModelProto()
    converted.CopyFrom(model)
    graph = converted.graph
    for value in (*graph.input, *graph.output):
        _narrow_value(value)
    for tensor in graph.initializer:
        _narrow_tensor(tensor)
    for node in _nodes(graph):
        for attribute in node.attribute:
            _narrow_attribute(attribute)
        if node.op_type == "ConstantOfShape" and not node.attribute:
            zero = numpy_helper.from_array(np.zeros(1, np.float16))
            node.attribute.append(helper.make_attribute("value", zero))
    del graph.value_info[:]
    return converted


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _nodes(attribute.g)


def _narrow_value(value: ValueInfoProto) -> None:
    if value.type.tensor_type.elem_type == TensorProto.FLOAT:
        value.type.tensor_type.elem_type = TensorProto.FLOAT16


def _narrow_tensor(tensor: TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        with np.errstate(over="ignore"):
            array = numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))


def _narrow_attribute(attribute: AttributeProto) -> None:
    if attribute.type == AttributeProto.TENSOR:
        _narrow_tensor(attribute.t)
    elif attribute.name in ("to", "dtype") and attribute.i == TensorProto.FLOAT:
        attribute.i = TensorProto.FLOAT16
