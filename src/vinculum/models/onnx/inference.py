"""ONNX's own inference of types, with the nodes hidden from it at which the process would end.

Of a few operators it looks at the type of the first operand without asking whether there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from google.protobuf.message import EncodeError
from onnx import ModelProto, NodeProto, TensorProto, helper
from onnx.checker import ValidationError
from onnx.shape_inference import InferenceError, infer_shapes

from vinculum.errors import ModelError
from vinculum.models.onnx.scopes import Scope, all_nodes, scopes, title
from vinculum.models.onnx.tensors import is_external

_NEED_A_TYPE = {
    ("", "EyeLike"),
    ("", "RegexFullMatch"),
    ("ai.onnx.ml", "LabelEncoder"),
    ("ai.onnx.ml", "TreeEnsemble"),
}
_PREFIX = "vinculum.hidden."
LARGEST_KEPT = 1024
"""Elements of an initializer whose values inference sees: shapes, axes and the like are far smaller."""


def infer_types(model: ModelProto) -> ModelProto:
    """Return a model with the types that ONNX infers written into it; the model itself if it infers none."""
    hidden = _untyped(model)
    while True:
        inferred = _inferred_without(model, hidden)
        still = _untyped(inferred) if hidden else hidden
        if len(still) == len(hidden):
            return inferred
        hidden = still


def without_large_initializers(model: ModelProto) -> ModelProto:
    """Return a model whose large initializers are inputs, without ever having copied them."""
    small = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    graph = small.graph
    graph.name = model.graph.name
    graph.node.extend(model.graph.node)
    graph.input.extend(model.graph.input)
    graph.output.extend(model.graph.output)
    graph.value_info.extend(model.graph.value_info)
    inputs = {value.name for value in graph.input}
    for tensor in model.graph.initializer:
        if prod(tensor.dims) <= LARGEST_KEPT and not is_external(tensor):
            graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return small


def check_operand_types(model: ModelProto) -> None:
    """Refuse a model that may not be handed to the onnx package's compiled code as it is."""
    if _untyped(model):
        inferred = infer_types(model)
        untyped = _untyped(inferred)
        for place, (_, node) in enumerate(_nodes(inferred)):
            if place in untyped:
                lacking = "the element type of its first operand is not known, and the onnx package needs it"
                raise ModelError(f"{title(node)}: {lacking}; declare it in value_info")


def _nodes(model: ModelProto) -> Iterator[tuple[Scope, NodeProto]]:
    for scope in scopes(model, {function.name: function.name for function in model.functions}):
        for node in scope.holder.node:
            yield scope, node


def _untyped(model: ModelProto) -> set[int]:
    """Return the places among `_nodes` of those that need a type that is not known; in functions none is."""
    bodies = (model.graph, *model.functions)
    if not any(_needs_a_type(node) for body in bodies for node in all_nodes(body.node)):
        return set()
    return {
        place
        for place, (scope, node) in enumerate(_nodes(model))
        if _needs_a_type(node) and not _is_known(scope, next(iter(node.input), ""))
    }


def _needs_a_type(node: NodeProto) -> bool:
    return ("" if node.domain == "ai.onnx" else node.domain, node.op_type) in _NEED_A_TYPE


def _is_known(scope: Scope, name: str) -> bool:
    declared = scope.types.get(name)
    return declared is not None and declared.tensor_type.elem_type != TensorProto.UNDEFINED


def _inferred_without(model: ModelProto, hidden: set[int]) -> ModelProto:
    """Infer with some nodes called what no operator is called."""
    nodes = [node for place, (_, node) in enumerate(_nodes(model)) if place in hidden] if hidden else []
    for node in nodes:
        node.op_type = f"{_PREFIX}{node.op_type}"
    try:
        inferred = infer_shapes(model)
    except (InferenceError, ValidationError, RuntimeError, ValueError, TypeError, EncodeError, MemoryError):
        inferred = model  # Types that cannot be inferred are only not known.
    for result in (model, inferred) if nodes else ():
        for _, node in _nodes(result):
            node.op_type = node.op_type.removeprefix(_PREFIX)
    return inferred
