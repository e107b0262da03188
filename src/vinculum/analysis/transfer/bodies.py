"""The function bodies by which ONNX defines operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx import FunctionProto, NodeProto, TypeProto, helper
from onnx.defs import SchemaError, get_schema

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.transfer.call import onnx_code
from vinculum.models.onnx.scopes import inputs_of


class Bodies:
    """Finds bodies, and keeps those that depend on the node."""

    def __init__(self) -> None:
        self._kept: dict[object, FunctionProto | None] = {}

    def find(self, node: NodeProto, opset: int, operands: Sequence[AbstractTensor | None]) -> FunctionProto | None:
        """Return the body of an operator of ONNX's own domain; None if it has none at this operator set.

        It holds the nodes that the named outputs of the node depend on.
        """
        types = tuple("" if value is None else value.element_type for value in operands)
        ranks = tuple(None if value is None else value.rank for value in operands)
        attributes = tuple(a.SerializeToString() for a in node.attribute)
        given = tuple(bool(name) for name in (*node.input, *node.output))
        key = (node.op_type, opset, types, ranks, attributes, given)
        if key not in self._kept:
            self._kept[key] = body = _find(node, opset, types, ranks)
            if body is not None:
                _trim(body, {inside for inside, name in zip(body.output, node.output, strict=False) if name})
        return self._kept[key]


def _find(node: NodeProto, opset: int, types: Sequence[str], ranks: Sequence[int | None]) -> FunctionProto | None:
    try:
        schema: Any = get_schema(node.op_type, opset, "")  # onnx's stubs lack what concerns bodies.
    except SchemaError:
        return None
    versions = [v for v in schema.function_opset_versions if v <= opset]
    if versions:
        return _with_defaults(schema, schema.get_function_with_opset_version(max(versions)))
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
    if not versions:
        return None
    if not all(types[place] for place, name in enumerate(node.input) if name):
        return None  # ONNX's compiled code asks for types without looking whether they are there.
    declared = [_declared(name, rank).SerializeToString() for name, rank in zip(types, ranks, strict=True)]
    try:
        body = schema.get_context_dependent_function_with_opset_version(
            max(versions), node.SerializeToString(), declared
        )
    except (RuntimeError, ValueError):  # It asks for a type that is not known.
        return None
    return _with_defaults(schema, body) if body else None


def _with_defaults(schema: Any, body: bytes) -> FunctionProto:
    """Return a body that knows what attributes are that the node does not set."""
    function: FunctionProto = FunctionProto.FromString(body)
    for attribute in schema.attributes.values():
        if attribute.default_value.type:
            function.attribute_proto.append(attribute.default_value)
    return function


def _trim(body: FunctionProto, wanted: set[str]) -> None:
    """Leave only the nodes that some values depend on."""
    for place in reversed(range(len(body.node))):
        node = body.node[place]
        if not wanted.isdisjoint(node.output):
            wanted.update(inputs_of(node))
        else:
            del body.node[place]


def _declared(element_type: str, rank: int | None) -> TypeProto:
    if not element_type:
        return TypeProto()
    shape = None if rank is None else [None] * rank
    declared: TypeProto = helper.make_tensor_type_proto(onnx_code(element_type), shape)
    return declared
