"""The versions of the standard's operators, from the onnx package's schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import AttributeProto, NodeProto, TensorProto, TypeProto, helper
from onnx.defs import OpSchema

from vinculum.text import quoted

_VARIADIC = OpSchema.FormalParameterOption.Variadic
_OPTIONAL = OpSchema.FormalParameterOption.Optional


def version_title(schema: OpSchema | None) -> str:
    """Return how messages call a version of an operator, or one that does not exist."""
    return "its version" if schema is None else f"{schema.name}-{schema.since_version}"


def default_of(schema: OpSchema, name: str) -> Any:
    """Return an attribute's default value, None if it has none or the version lacks the attribute."""
    default = schema.attributes[name].default_value if name in schema.attributes else AttributeProto()
    return None if default.type == AttributeProto.UNDEFINED else helper.get_attribute_value(default)


def problem_with(node: NodeProto, schema: OpSchema | None, types: Mapping[str, TypeProto]) -> str | None:
    """Return why a node is invalid for a version of its operator; None if no problem is found in what is known."""
    if schema is None or schema.deprecated:
        return f"the operator set has no {node.op_type}"
    version = version_title(schema)
    for attribute in node.attribute:
        if attribute.name not in schema.attributes:
            return f"{version} has no attribute {quoted(attribute.name)}"
        kind = AttributeProto.AttributeType.Name(attribute.type)
        if schema.attributes[attribute.name].type != getattr(OpSchema.AttrType, kind, None):
            return f"{version} has another type for attribute {quoted(attribute.name)}"
    given = {attribute.name for attribute in node.attribute}
    lacking = [name for name, a in schema.attributes.items() if a.required and name not in given]
    if lacking:
        return f"{version} needs its attribute {quoted(lacking[0])}"
    return (
        _problem_with_count(version, node.input, schema.inputs, schema.min_input, schema.max_input, "input")
        or _problem_with_count(version, node.output, schema.outputs, schema.min_output, schema.max_output, "output")
        or _problem_with_types(version, node, schema, types)
    )


def _problem_with_count(
    version: str, names: Sequence[str], formal: Sequence[OpSchema.FormalParameter], least: int, most: int, kind: str
) -> str | None:
    if not least <= len(names) <= most:
        return f"{version} takes {_span(least, most)} {kind}s, and it has {len(names)}"
    for name, parameter in zip(names, formal, strict=False):
        if not name and parameter.option not in (_OPTIONAL, _VARIADIC) and kind == "input":
            return f"{version} needs its input {quoted(parameter.name)}"
    return None


def _span(least: int, most: int) -> str:
    if most > 10**6:
        return f"{least} or more"
    return str(least) if least == most else f"{least} to {most}"


def _problem_with_types(version: str, node: NodeProto, schema: OpSchema, types: Mapping[str, TypeProto]) -> str | None:
    # With onnx 1.20 the `types` of a parameter cannot be read.
    allowed = {constraint.type_param_str: constraint.allowed_type_strs for constraint in schema.type_constraints}
    variables: dict[str, str] = {}
    for names, formal in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for place, name in enumerate(names):
            known = type_text(types[name]) if name in types else None
            if known is None or not formal:
                continue
            parameter = formal[min(place, len(formal) - 1)]
            if known not in allowed.get(parameter.type_str, (parameter.type_str,)):
                return f"{version} does not take {known} as its {quoted(parameter.name)}"
            if parameter.option == _VARIADIC and not parameter.is_homogeneous:
                continue
            if variables.setdefault(parameter.type_str, known) != known:
                return f"{version} does not take {variables[parameter.type_str]} together with {known}"
    return None


def type_text(declared: TypeProto) -> str | None:
    """Return a type in the notation of schemas: ``"seq(tensor(float))"``; None if the element type is not known."""
    kind = declared.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        code = getattr(declared, kind).elem_type
        return f"{kind.removesuffix('_type')}({TensorProto.DataType.Name(code).lower()})" if code else None
    if kind in ("sequence_type", "optional_type"):
        inner = type_text(getattr(declared, kind).elem_type)
        return None if inner is None else f"{'seq' if kind == 'sequence_type' else 'optional'}({inner})"
    return None
