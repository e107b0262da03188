"""The types of the values in an ONNX model, by ONNX's own inference; in functions as far as all calls agree.

For a few operators the inference reads the type of the first operand without a check, and crashes if it is not known:
these nodes are hidden from it. It infers the results of functions without storing the types inside them: so the body of
each call is inferred as a separate graph, whose inputs have the types of the call's operands.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from math import prod

from google.protobuf.message import EncodeError
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorShapeProto,
    TypeProto,
    ValueInfoProto,
    helper,
)
from onnx.checker import ValidationError
from onnx.shape_inference import InferenceError, infer_shapes

from vinculum.errors import ModelError
from vinculum.models.onnx.functions import DEEPEST_CALL
from vinculum.models.onnx.scopes import (
    Key,
    Scope,
    all_nodes,
    graph_scopes,
    key_of,
    model_nodes,
    scopes,
    subgraphs,
    title,
)
from vinculum.models.onnx.tensors import is_external

_NEED_A_TYPE = {("", "EyeLike"), ("", "RegexFullMatch"), ("ai.onnx.ml", "LabelEncoder"), ("ai.onnx.ml", "TreeEnsemble")}
_PREFIX = "vinculum.hidden."
LARGEST_KEPT = 1024
"""The most elements of an initializer that inference gets the values of: shapes, axes and the like are far smaller."""


def with_types(model: ModelProto) -> ModelProto:
    """Return a model with inferred types, in which large initializers are inputs; the given one is not changed."""
    return infer_types(without_large_initializers(model))


def infer_types(model: ModelProto) -> ModelProto:
    """Return a model with the types that ONNX infers added to it; the model itself if the inference fails.

    Nodes that need a type that is not known are hidden by names that no operator has, until it is inferred.
    """
    hidden = [node for node, is_known in _needing_a_type(model) if not is_known]
    for node in hidden:
        node.op_type = f"{_PREFIX}{node.op_type}"
    inferred = _inferred(model)
    while shown := [node for node, known in _needing_a_type(inferred) if known and node.op_type.startswith(_PREFIX)]:
        _show(shown)
        inferred = _inferred(inferred)
    _show([*hidden, *(node for node, _ in _needing_a_type(inferred))])
    return inferred


def _inferred(model: ModelProto) -> ModelProto:
    try:
        return infer_shapes(model)
    except (InferenceError, ValidationError, RuntimeError, ValueError, TypeError, EncodeError, MemoryError):
        return model  # A failed inference is not an error: the types stay unknown.


def _show(nodes: Iterable[NodeProto]) -> None:
    for node in nodes:
        node.op_type = node.op_type.removeprefix(_PREFIX)


def _needing_a_type(model: ModelProto) -> list[tuple[NodeProto, bool]]:
    """Return the nodes that need the type of their first operand, hidden ones included, and whether it is known.

    In functions no type is known.
    """
    if not any(map(_needs_a_type, model_nodes(model))):
        return []
    return [
        (node, bool(scope.code_of(next(iter(node.input), ""))))
        for scope in scopes(model)
        for node in scope.holder.node
        if _needs_a_type(node)
    ]


def _needs_a_type(node: NodeProto) -> bool:
    return ("" if node.domain == "ai.onnx" else node.domain, node.op_type.removeprefix(_PREFIX)) in _NEED_A_TYPE


def without_large_initializers(model: ModelProto) -> ModelProto:
    """Return a model with its large initializers replaced by inputs; their data is never copied."""
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
    """Refuse a model on which the onnx package's compiled code would crash, for lack of an operand's type."""
    if all(is_known for _, is_known in _needing_a_type(model)):
        return
    for node, is_known in _needing_a_type(infer_types(model)):
        if not is_known:
            lacking = "the element type of its first operand is not known, and the onnx package needs it"
            raise ModelError(f"{title(node)}: {lacking}; declare it in value_info")


def inner_first(model: ModelProto) -> list[Scope]:
    """Return the typed scopes of a model in an order for rewriting.

    Rewriting a scope copies its nodes with their subgraphs, so subgraphs come before the scope of their node.
    """
    return list(typed_scopes(model))[::-1]


def typed_scopes(model: ModelProto) -> Iterator[Scope]:
    """Yield the scopes of a model, in the order of `scopes`, each with the inferred types.

    The holders are the model's own objects, not copies.
    """
    found = scopes(model)
    inferred = with_types(model)
    for typed, scope in zip(graph_scopes(inferred), found, strict=False):
        yield replace(scope, types=typed.types)
    calls = _Calls(inferred)
    calls.follow(graph_scopes(inferred), 0)
    for function in inferred.functions:
        for types in calls.types_in(function):
            yield replace(next(found), types=ChainMap(types))


class _Calls:
    """Infers the types in the body of every function call, also of nested calls, once for each set of operand types."""

    def __init__(self, model: ModelProto) -> None:
        self._model = model
        self._functions = {key_of(function): function for function in model.functions}
        self._followed: set[tuple[Key, bytes]] = set()
        self._found: dict[Key, list[dict[str, TypeProto]]] = {}

    def follow(self, around: Iterable[Scope], depth: int) -> None:
        if depth > DEEPEST_CALL:
            return
        for scope in around:
            for node in scope.holder.node:
                function = self._functions.get((node.domain, node.op_type, node.overload))
                if function is not None:
                    self._follow_call(function, node, scope.types, depth)

    def types_in(self, function: FunctionProto) -> list[dict[str, TypeProto]]:
        """Return the types on which all calls agree; without a call, the types that the function declares.

        They are those of its body and of each subgraph in it, in the order of `vinculum.models.onnx.scopes.scopes`.
        """
        declared = {info.name: info.type for info in function.value_info}
        return [declared | types for types in self._found.get(key_of(function), [{}] * _count(function))]

    def _follow_call(
        self, function: FunctionProto, node: NodeProto, types: Mapping[str, TypeProto], depth: int
    ) -> None:
        graph = _body_as_graph(function, node, types)
        call = (key_of(function), graph.SerializeToString(deterministic=True))
        if call in self._followed:
            return
        self._followed.add(call)
        alone = ModelProto(ir_version=self._model.ir_version, graph=graph, functions=self._model.functions)
        alone.opset_import.extend(function.opset_import)
        inside = list(graph_scopes(infer_types(alone)))
        own = [dict(scope.types) for scope in inside]
        known = self._found.get(call[0])
        self._found[call[0]] = own if known is None else list(map(_agreed, known, own))
        self.follow(inside, depth + 1)


def _body_as_graph(function: FunctionProto, node: NodeProto, types: Mapping[str, TypeProto]) -> GraphProto:
    """Return a function's body as a graph, with the types and attributes of a call of it."""
    graph = GraphProto(name=function.name, node=function.node)
    for place, name in enumerate(function.input):
        given = node.input[place] if place < len(node.input) else ""
        graph.input.append(ValueInfoProto(name=name, type=types.get(given)))
    attributes = {a.name: a for a in function.attribute_proto} | {a.name: a for a in node.attribute}
    for inner in all_nodes(graph.node):
        _give_attributes(inner, attributes)
    return graph


def _give_attributes(node: NodeProto, given: Mapping[str, AttributeProto]) -> None:
    """Replace references to the function's attributes by their values; remove those without a value."""
    kept: list[AttributeProto] = []
    for attribute in node.attribute:
        value = given.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
        if value is not None and not value.ref_attr_name:
            copy = deepcopy(value)
            copy.name = attribute.name
            kept.append(copy)
    del node.attribute[:]
    node.attribute.extend(kept)


def _agreed(known: dict[str, TypeProto], other: dict[str, TypeProto]) -> dict[str, TypeProto]:
    both = {name: _joined(known[name], other[name]) for name in known.keys() & other.keys()}
    return {name: agreed for name, agreed in both.items() if agreed is not None}


def _joined(a: TypeProto, b: TypeProto) -> TypeProto | None:
    """Return the common part of two types, the element type and the equal dimensions; None if there is none.

    Sequences, maps and optional values have to be equal as a whole.
    """
    if a.WhichOneof("value") != "tensor_type" or b.WhichOneof("value") != "tensor_type":
        return a if a == b else None
    if a.tensor_type.elem_type != b.tensor_type.elem_type or not a.tensor_type.elem_type:
        return None
    common = TypeProto()
    common.tensor_type.elem_type = a.tensor_type.elem_type
    shapes = [tensor.shape for tensor in (a.tensor_type, b.tensor_type) if tensor.HasField("shape")]
    if len(shapes) == 2 and len(shapes[0].dim) == len(shapes[1].dim):
        dims = zip(shapes[0].dim, shapes[1].dim, strict=True)
        common.tensor_type.shape.CopyFrom(TensorShapeProto(dim=[_joined_size(x, y) for x, y in dims]))
    return common


def _joined_size(a: TensorShapeProto.Dimension, b: TensorShapeProto.Dimension) -> TensorShapeProto.Dimension:
    # ONNX's inference generates names for unknown dimensions, the same ones in every call.
    generated = a.dim_param.startswith("unk__")
    return a if a == b and not generated else TensorShapeProto.Dimension()


def _count(holder: FunctionProto) -> int:
    return 1 + sum(1 for node in all_nodes(holder.node) for _ in subgraphs(node))
