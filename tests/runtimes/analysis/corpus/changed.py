"""Models changed, to show a label by running: converted to float16, with zeros inside, with quotients as outputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from onnx.shape_inference import infer_shapes


def float16(model: ModelProto) -> ModelProto:
    """Return a float32 model converted, every number rounded to the nearest, as ``--as float16`` asks."""
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


def with_zeros(model: ModelProto, name: str) -> ModelProto:
    """Return a model in which a value is zeros, of the same shape."""
    changed = ModelProto()
    changed.CopyFrom(model)
    nodes = changed.graph.node
    place = next(place for place, node in enumerate(nodes) if name in node.output)
    before = f"{name}, computed"
    nodes[place].output[list(nodes[place].output).index(name)] = before
    nodes.insert(place + 1, helper.make_node("Sub", [before, before], [name]))
    return changed


def with_quotients(model: ModelProto) -> ModelProto:
    """Return a model that gives its floating-point quotients beside its outputs."""
    changed = ModelProto()
    changed.CopyFrom(model)
    types = infer_shapes(model).graph.value_info
    floats = {value.name: value for value in types if value.type.tensor_type.elem_type == TensorProto.FLOAT}
    quotients = [name for node in model.graph.node if node.op_type == "Div" for name in node.output if name in floats]
    changed.graph.output.extend(floats[name] for name in quotients)
    return changed


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
