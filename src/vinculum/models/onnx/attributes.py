"""Attributes that no operator allows, and that ONNX's own shape inference does not survive.

The inference is compiled code that believes them: it ends the process, or never comes back, where it should raise an
error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from onnx import AttributeProto, ModelProto, NodeProto

from vinculum.errors import ModelError
from vinculum.models.declared_shapes import LARGEST_RANK
from vinculum.models.onnx.scopes import all_nodes, title
from vinculum.text import quoted

_TERM = rb"[A-Za-z ]*(\.\.\.[A-Za-z ]*)?"
_EQUATION = re.compile(_TERM + rb"(," + _TERM + rb")*(->" + _TERM + rb")?")


def check_attributes(model: ModelProto) -> None:
    """Refuse a model with such an attribute."""
    for body in (model.graph, *model.functions):
        for node in all_nodes(body.node):
            if node.op_type in _COMPLAINTS and node.domain in ("", "ai.onnx"):
                name, complaint = _COMPLAINTS[node.op_type]
                for attribute in node.attribute:
                    if attribute.name == name:
                        _check(model, node, attribute, complaint)


Complaint = Callable[[NodeProto, AttributeProto], str | None]
"""Returns what is allowed, None if the attribute is."""


def _check(model: ModelProto, node: NodeProto, attribute: AttributeProto, complaint: Complaint) -> None:
    given = _handed_in(model, attribute.ref_attr_name) if attribute.ref_attr_name else iter((attribute,))
    for value in given:
        allowed = complaint(node, value)
        if allowed is not None:
            shown = quoted(value.s.decode(errors="replace")) if value.type == AttributeProto.STRING else value.i
            raise ModelError(f"{title(node)}: attribute {quoted(attribute.name)} is {shown}; allowed: {allowed}")


def _handed_in(model: ModelProto, name: str) -> Iterator[AttributeProto]:
    """Yield what calls of functions hand in for an attribute, by whatever name it passes through."""
    names, before = {name}, 0
    nodes = [node for body in (model.graph, *model.functions) for node in all_nodes(body.node)]
    calls = [attribute for node in nodes if node.domain not in ("", "ai.onnx") for attribute in node.attribute]
    while len(names) > before:
        before = len(names)
        names |= {a.ref_attr_name for a in calls if a.name in names and a.ref_attr_name}
    defaults = [a for function in model.functions for a in function.attribute_proto]
    yield from (a for a in (*calls, *defaults) if a.name in names and not a.ref_attr_name)


def _axis(node: NodeProto, attribute: AttributeProto) -> str | None:
    return None if -LARGEST_RANK <= attribute.i < LARGEST_RANK else f"{-LARGEST_RANK} to {LARGEST_RANK - 1}"


def _batch_dims(node: NodeProto, attribute: AttributeProto) -> str | None:
    return None if 0 <= attribute.i < LARGEST_RANK else f"0 to {LARGEST_RANK - 1}"


def _num_outputs(node: NodeProto, attribute: AttributeProto) -> str | None:
    return None if attribute.i == len(node.output) else f"{len(node.output)}, the number of its outputs"


def _equation(node: NodeProto, attribute: AttributeProto) -> str | None:
    return None if _EQUATION.fullmatch(attribute.s) else "letters, one '...' a term, commas between terms, '->'"


_COMPLAINTS: dict[str, tuple[str, Complaint]] = {
    "Einsum": ("equation", _equation),
    "GatherND": ("batch_dims", _batch_dims),
    "LayerNormalization": ("axis", _axis),
    "Split": ("num_outputs", _num_outputs),
}
