"""The division nodes of an ONNX model, and whether each is valid in its operator set; and nodes that divide inside.

``--expand`` replaces these by their function bodies, whose divisions can be audited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from google.protobuf.message import EncodeError
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, helper
from onnx.inliner import inline_selected_functions

from vinculum.errors import ElementTypeError, ModelError
from vinculum.models.execution import Division, labelled
from vinculum.models.inner_divisions import ONNX, InnerDivision, what_onnx_divides
from vinculum.models.onnx.functions import DOMAIN as FUNCTIONS
from vinculum.models.onnx.functions import overridden, version_at
from vinculum.models.onnx.rewriter import names_in, set_nodes, unique_name
from vinculum.models.onnx.scopes import Scope, all_graphs, all_nodes, declared_element_type, inputs_of, name_of, scopes
from vinculum.models.onnx.tensors import LARGEST_RANK
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import OperatorSpec
from vinculum.spec.rows import find
from vinculum.tensors.inference import infer
from vinculum.tensors.type_checking import check_element_types
from vinculum.text import one_line, quoted

DIVIDES = frozenset({"Div", "Reciprocal"})
ALSO_UNIDIRECTIONAL = ("Add", "And", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
"""The other operators that, below operator set 7, only broadcast B to A, and only with ``broadcast=1``."""
_KEY = "vinculum.division"
_GUARD = "vinculum.guard"
GUARDS = "vinculum"
"""The domain of the functions that replace hardened divisions."""


def division_nodes(model: ModelProto, function_names: Mapping[str, str]) -> Iterator[tuple[Scope, NodeProto]]:
    """Yield every division node of a model with its scope, always in the same order."""
    operators = DIVIDES - overridden(model)
    for scope in scopes(model, function_names):
        for node in scope.holder.node:
            if node.domain == "" and node.op_type in operators:
                yield scope, node


def inner_divisions(model: ModelProto, function_names: Mapping[str, str]) -> Iterator[InnerDivision]:
    """Yield every node that divides internally, except those of guards; the model's functions are linked."""
    for scope in scopes(model, function_names):
        for node in scope.holder.node:
            domain = "" if node.domain == "ai.onnx" else node.domain
            if domain == FUNCTIONS or guarded(node) is not None or (domain == "" and _is_harmless(node, scope)):
                continue
            divides = what_onnx_divides(domain, node.op_type)
            if divides is not None:
                operator = f"{domain}.{node.op_type}" if domain else node.op_type
                yield InnerDivision(name_of(node), scope.path, operator, divides, _has_body(domain, node, scope))


def _is_harmless(node: NodeProto, scope: Scope) -> bool:
    """Return whether a node of a dividing operator divides nothing: Pow with exponents >= 0, Dropout in inference."""
    if node.op_type == "Pow":
        exponent = scope.constant("".join(node.input[1:2]))
        return exponent is not None and not bool(np.any(exponent < 0))
    return node.op_type == "Dropout" and not "".join(node.input[2:])


def _has_body(domain: str, node: NodeProto, scope: Scope) -> bool:
    version: Any = version_at(node.op_type, scope.opsets.get(domain, 1), domain)  # onnx's stubs lack these fields.
    return version is not None and bool(version.has_function or version.has_context_dependent_function)


def mark_guard(nodes: Iterable[NodeProto], value: str = "") -> None:
    """Mark nodes as part of the guard of one division; `value` describes the division, for the node of its result."""
    for node in nodes:
        node.metadata_props.add(key=_GUARD, value=value)


def guarded(node: NodeProto) -> str | None:
    """Return the value that `mark_guard` wrote into a node; None if the node is not part of a guard."""
    return next((entry.value for entry in node.metadata_props if entry.key == _GUARD), None)


def mark(node: NodeProto, number: int) -> None:
    """Write a division's number into its node, where the evaluator will find it."""
    for position, entry in reversed(list(enumerate(node.metadata_props))):
        if entry.key == _KEY:
            del node.metadata_props[position]
    node.metadata_props.add(key=_KEY, value=str(number))


def number_of(node: NodeProto) -> int | None:
    """Return the number that `mark` wrote, None for a node in the definition of an operator."""
    return next((int(entry.value) for entry in node.metadata_props if entry.key == _KEY), None)


def division_of(scope: Scope, node: NodeProto) -> Division:
    """Return a division node's specification, element type and shapes, as far as they are known before a run.

    ModelError if it has the wrong number of operands, or an attribute twice.
    AttributeValueError if it has an attribute that its version does not define.
    ElementTypeError if its operands have different element types, or one that its version does not allow.
    BroadcastError if their shapes are known and do not fit.
    """
    spec = find(node.op_type, opset=scope.opsets[""])
    bare = Division(name_of(node), scope.path, spec)
    operands = [value for value in node.input if value]
    if len(operands) != len(spec.inputs) or len(node.input) != len(operands) or len(node.output) != 1:
        counts = f"{len(operands)} inputs and {len(node.output)} outputs"
        raise ModelError(f"{bare.label} has {counts}; allowed: {len(spec.inputs)} and 1")
    for attribute, given in Counter(a.name for a in node.attribute).items():
        if given > 1:
            raise ModelError(f"{bare.label} has the attribute {quoted(attribute)} {given} times; allowed: once")
    with labelled(bare):
        attributes = checked_attributes(spec, {a.name: _value(a) for a in node.attribute})
        element_type = _common_element_type(spec, scope, operands)
    shapes = [scope.shape_of(value) for value in (*operands, node.output[0])]
    rank = max(len(shape or ()) for shape in shapes)
    if rank > LARGEST_RANK:
        raise ModelError(f"{bare.label} has a tensor of {rank} dimensions; at most {LARGEST_RANK} are possible")
    if element_type is not None and not any(a.ref_attr_name for a in node.attribute):
        with labelled(bare):
            _, joined = infer(spec, attributes, [element_type] * len(operands), shapes[:-1])
        shapes[-1] = joined if shapes[-1] is None else shapes[-1]
    return Division(
        bare.name, scope.path, spec, element_type, tuple(shapes) if any(s is not None for s in shapes) else None
    )


def _value(attribute: AttributeProto) -> object:
    # The value of a function's attribute is not known before a call; 0 is valid for every attribute.
    kinds = {AttributeProto.INTS: (0,), AttributeProto.INT: 0}
    return kinds.get(attribute.type, "") if attribute.ref_attr_name else helper.get_attribute_value(attribute)


def _common_element_type(spec: OperatorSpec, scope: Scope, operands: Sequence[str]) -> ElementType | None:
    known: list[ElementType] = []
    for operand, value in zip(spec.inputs, operands, strict=True):
        code = scope.code_of(value)
        element_type = declared_element_type(code) if code else None
        if isinstance(element_type, str):
            allowed = ", ".join(str(t) for t in spec.element_types)
            raise ElementTypeError(f"{operand.name} has element type {element_type}; allowed: {allowed}")
        known += [] if element_type is None else [element_type]
    # An unknown operand may have the same type as the known one.
    return check_element_types(spec, (*known, *known[:1])[: len(operands)]) if known else None


def expanded(model: ModelProto) -> tuple[ModelProto, int]:
    """Return a model in which nodes that divide internally are replaced by their function bodies, and their number.

    A division of a body is named after the node: ``"norm/Div"``.

    - `model`: its functions are kept, and nothing is expanded in them. The types of its initializers are added to it.

    ModelError if ONNX cannot expand it.
    """
    owners = {
        output: node
        for node in all_nodes(model.graph.node)
        if (node.domain, node.op_type) in ONNX and guarded(node) is None
        for output in node.output
        if output
    }
    for graph in all_graphs(model.graph):
        for tensor in graph.initializer:  # The inliner needs their types, and only looks in value_info.
            graph.value_info.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    try:
        result = inline_selected_functions(model, list(ONNX), False, True)
    except (RuntimeError, ValueError, EncodeError) as error:
        raise ModelError(f"the model's nodes cannot be expanded: {one_line(error)}") from None
    taken = names_in(result)
    old = {name for node in all_nodes(model.graph.node) for name in node.output}
    # Rewriting a graph's nodes copies their subgraphs, so these are rewritten before.
    inner_first = list(all_graphs(result.graph))[::-1]
    stay = [_tidied(graph, old, owners, taken) for graph in inner_first]
    return result, len({id(node) for node in owners.values()}) - sum(stay)


def _tidied(graph: GraphProto, old: set[str], owners: dict[str, NodeProto], taken: set[str]) -> int:
    """Drop unused nodes of bodies, name their divisions, and return how many nodes have no body."""
    used = {value.name for value in graph.output}
    kept: list[NodeProto] = []
    for node in reversed(graph.node):
        if not used.isdisjoint(node.output) or not old.isdisjoint(node.output):
            kept.append(node)
            used.update(inputs_of(node))
    kept.reverse()
    stay = 0
    body: list[NodeProto] = []
    for node in kept:
        owner = next((owners[output] for output in node.output if output in owners), None)
        if owner is None:
            body += [node] if old.isdisjoint(node.output) else []
            continue
        stays = owner.op_type == node.op_type
        stay += stays
        for made in (*body, *([] if stays else [node])):
            if made.op_type in DIVIDES or ("", made.op_type) in ONNX:
                made.name = unique_name(f"{name_of(owner)}/{made.op_type}", taken)
        body = []
    set_nodes(graph, kept)
    return stay
