"""Values that are the same in every run: initializers that no input overrides, and the values of Constant nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnx import FunctionProto, GraphProto, ModelProto, TensorProto

from vinculum.models.convert.opset.constant_nodes import tensor_of
from vinculum.models.onnx_scopes import subgraphs


def visible_constants(model: ModelProto) -> Iterator[Mapping[str, TensorProto]]:
    """Yield the constants that each scope sees, scopes in the order of `vinculum.models.onnx_scopes.scopes`."""
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
