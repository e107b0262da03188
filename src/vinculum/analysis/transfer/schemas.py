"""What ONNX's schemas say about operators: the functions that define them, and which values share a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from onnx import AttributeProto, FunctionProto, NodeProto, TensorProto, TypeProto, helper
from onnx.defs import SchemaError, get_schema

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.transfer.call import key_of, named_type, onnx_code
from vinculum.models.onnx.scopes import inputs_of


def body_of(
    node: NodeProto,
    attributes: Iterable[tuple[str, AttributeProto]],
    opset: int,
    operands: Sequence[AbstractTensor | None],
) -> FunctionProto | None:
    """Return the body of an operator of ONNX's own domain; None if it has none at this operator set.

    It holds the nodes that the named outputs of the node depend on.

    - `attributes`: those of the node by name, as the call of the function around passes them.
    """
    types = tuple("" if value is None else value.element_type for value in operands)
    inputs, outputs = ([name and "given" for name in names] for names in (node.input, node.output))
    alike = NodeProto(op_type=node.op_type, input=inputs, output=outputs)
    for name, attribute in attributes:
        alike.attribute.add().CopyFrom(attribute)
        alike.attribute[-1].name = name
    return _body(alike.SerializeToString(), opset, types)


@lru_cache
def _body(alike: bytes, opset: int, types: Sequence[str]) -> FunctionProto | None:
    node = NodeProto.FromString(alike)
    try:
        schema: Any = get_schema(node.op_type, opset, "")  # onnx's stubs lack what concerns bodies.
    except SchemaError:
        return None
    of_all = [v for v in schema.function_opset_versions if v <= opset]
    of_some = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
    if of_all:
        body = schema.get_function_with_opset_version(max(of_all))
    # ONNX's compiled code asks for types without looking whether they are there.
    elif of_some and all(types[place] for place, name in enumerate(node.input) if name):
        # Of no operator that has no transfer function the body depends on a rank.
        declared = [_declared(name).SerializeToString() for name in types]
        try:
            body = schema.get_context_dependent_function_with_opset_version(max(of_some), alike, declared)
        except (RuntimeError, ValueError):  # It asks for a type that is not known.
            return None
    else:
        return None
    if not body:
        return None
    function = _with_defaults(schema, body)
    _trim(function, {inside for inside, name in zip(function.output, node.output, strict=False) if name})
    return function


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


def _declared(element_type: str) -> TypeProto:
    if not element_type:
        return TypeProto()
    declared: TypeProto = helper.make_tensor_type_proto(onnx_code(element_type), None)
    return declared


def deduced(
    nodes: Sequence[NodeProto], opsets: Mapping[str, int], known: Callable[[str], str], narrowed: str
) -> Mapping[str, str]:
    """Return the element types of values that nothing declares.

    The two operands of a Div have one type, and so has its result: whoever knows one knows all three.

    - `nodes`: of one graph, whose subgraphs are not looked into.
    - `known`: returns the element type of a value, empty if it is open.
    """
    alike: dict[str, str] = {}
    types: dict[str, str] = {}

    def first_of(name: str) -> str:
        """Return the value that stands for all of the same type."""
        while alike.setdefault(name, name) != name:
            alike[name] = alike[alike[name]]
            name = alike[name]
        return name

    for node in nodes:
        for names, only in _groups(node, opsets):
            firsts = list(dict.fromkeys(map(first_of, names)))
            found = next((types[one] for one in firsts if one in types), "")
            found = found or (named_type(only, narrowed) if only else next(filter(None, map(known, names)), ""))
            for one in firsts[1:]:
                alike[one] = firsts[0]
            if found:
                types[firsts[0]] = found
    return {name: types[first_of(name)] for name in alike if first_of(name) in types and not known(name)}


def _groups(node: NodeProto, opsets: Mapping[str, int]) -> Iterator[tuple[list[str], int]]:
    """Yield the operands and results of a node that have one type, and the only type that is allowed, 0 for several."""
    domain, name = key_of(node)
    try:
        schema: Any = get_schema(name, opsets.get(domain, 1), domain)
    except SchemaError:
        return
    by_type: dict[str, list[str]] = {}
    for formal, given in ((schema.inputs, node.input), (schema.outputs, node.output)):
        for place, name in enumerate(given):
            parameter = formal[min(place, len(formal) - 1)] if formal else None
            if name and parameter is not None and parameter.is_homogeneous:
                by_type.setdefault(parameter.type_str, []).append(name)
    allowed = {one.type_param_str: one.allowed_type_strs for one in schema.type_constraints}
    for type_name, names in by_type.items():
        yield names, _only(allowed.get(type_name, [type_name]))


def _only(allowed: Sequence[str]) -> int:
    """Return the number of the only tensor type among those that are allowed; 0 if there are several, or none."""
    if len(allowed) != 1 or not allowed[0].startswith("tensor("):
        return 0
    return int(TensorProto.DataType.Value(allowed[0][len("tensor(") : -1].upper()))
