"""Checks of a model: names of values, attributes that no operator allows, and the onnx package's own checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    ValueInfoProto,
    checker,
    helper,
    shape_inference,
)

from vinculum.errors import ModelError
from vinculum.models.onnx.inference import check_operand_types, typed_scopes, without_large_initializers
from vinculum.models.onnx.rewriter import set_nodes
from vinculum.models.onnx.scopes import declared_shape, model_nodes, opset_imports, scopes, subgraphs, title
from vinculum.models.onnx.tensors import LARGEST_RANK
from vinculum.tensors.shapes import SymbolicShape
from vinculum.text import one_line, quoted, shape_text

_TERM = rb"[A-Za-z ]*(\.\.\.[A-Za-z ]*)?"
_EQUATION = re.compile(_TERM + rb"(," + _TERM + rb")*(->" + _TERM + rb")?")
_UNKNOWN = "vinculum.unknown"
Complaint = Callable[[NodeProto, AttributeProto], str | None]
"""Returns the allowed values as a text, None if the attribute is valid."""


def check_attributes(model: ModelProto) -> None:
    """Refuse a model with an invalid attribute on which ONNX's own shape inference would crash or hang.

    The inference is compiled code, which does not check these attributes itself.
    """
    for node in model_nodes(model):
        if node.op_type in _COMPLAINTS and node.domain in ("", "ai.onnx"):
            name, complaint = _COMPLAINTS[node.op_type]
            for attribute in node.attribute:
                if attribute.name == name:
                    _check(model, node, attribute, complaint)


def _check(model: ModelProto, node: NodeProto, attribute: AttributeProto, complaint: Complaint) -> None:
    given = _passed_values(model, attribute.ref_attr_name) if attribute.ref_attr_name else iter((attribute,))
    for value in given:
        allowed = complaint(node, value)
        if allowed is not None:
            shown = quoted(value.s.decode(errors="replace")) if value.type == AttributeProto.STRING else value.i
            raise ModelError(f"{title(node)}: attribute {quoted(attribute.name)} is {shown}; allowed: {allowed}")


def _passed_values(model: ModelProto, name: str) -> Iterator[AttributeProto]:
    """Yield the values that calls of functions pass for an attribute, also through attributes of other names."""
    names, before = {name}, 0
    calls = [
        attribute for node in model_nodes(model) if node.domain not in ("", "ai.onnx") for attribute in node.attribute
    ]
    while len(names) > before:
        before = len(names)
        names |= {a.ref_attr_name for a in calls if a.name in names and a.ref_attr_name}
    defaults = [a for function in model.functions for a in function.attribute_proto]
    yield from (a for a in (*calls, *defaults) if a.name in names and not a.ref_attr_name)


_COMPLAINTS: dict[str, tuple[str, Complaint]] = {
    "Einsum": (
        "equation",
        lambda node, a: None if _EQUATION.fullmatch(a.s) else "letters, one '...' a term, commas between terms, '->'",
    ),
    "GatherND": ("batch_dims", lambda node, a: None if 0 <= a.i < LARGEST_RANK else f"0 to {LARGEST_RANK - 1}"),
    "LayerNormalization": (
        "axis",
        lambda node, a: None if -LARGEST_RANK <= a.i < LARGEST_RANK else f"{-LARGEST_RANK} to {LARGEST_RANK - 1}",
    ),
    "Split": (
        "num_outputs",
        lambda node, a: None if a.i == len(node.output) else f"{len(node.output)}, the number of its outputs",
    ),
}


def check_structure(model: ModelProto) -> None:
    """Refuse a model in which a node uses an undefined value, or has an attribute that crashes shape inference."""
    check_attributes(model)
    _check_graph(model.graph, [], opset_imports(model))
    for function in model.functions:
        opsets = opset_imports(function)
        known = set(function.input)
        _check_nodes(function.node, [known], opsets)
        _check_outputs(function, function.output, [known])


def _check_graph(graph: GraphProto, around: list[set[str]], opsets: dict[str, int]) -> None:
    if graph.sparse_initializer:
        raise ModelError(f"graph {quoted(graph.name)} has sparse initializers; only dense ones can be read")
    known: set[str] = set()
    for kind, names in (("input", graph.input), ("initializer", graph.initializer)):
        own = [value.name for value in names]
        if len(set(own)) < len(own):
            ((twice, _),) = Counter(own).most_common(1)
            raise ModelError(f"{kind} {quoted(twice)} is defined twice in graph {quoted(graph.name)}")
        known.update(own)
    for tensor in graph.initializer:
        if any(tensor.name in names for names in around):
            raise ModelError(
                f"initializer {quoted(tensor.name)} of graph {quoted(graph.name)} has the name of a value around it, "
                "and runtimes differ in which of them they use; rename it"
            )
    _check_nodes(graph.node, [*around, known], opsets)
    _check_outputs(graph, [value.name for value in graph.output], [*around, known])


def _check_nodes(nodes: Iterable[NodeProto], known: list[set[str]], opsets: dict[str, int]) -> None:
    for node in nodes:
        if node.domain not in opsets:
            domain = quoted(node.domain or "ai.onnx")
            raise ModelError(f"{title(node)}: the model does not import an operator set of {domain}")
        for name in node.input:
            if name and not any(name in names for names in known):
                raise ModelError(f"{title(node)} uses {quoted(name)}, which no node before it produces")
        for _, graph in subgraphs(node):
            _check_graph(graph, known, opsets)
        for name in node.output:
            if name and name in known[-1]:
                raise ModelError(f"{title(node)} produces {quoted(name)}, which exists already")
            known[-1].add(name)


def _check_outputs(holder: GraphProto | FunctionProto, names: Iterable[str], known: list[set[str]]) -> None:
    for name in names:
        if not any(name in made for made in known):
            raise ModelError(f"output {quoted(name)} of {quoted(holder.name)} is produced by no node")


def check_model(model: ModelProto, shown: str, declared_in: str = "") -> None:
    """Refuse an ONNX model that the full check of `onnx.checker` refuses.

    Outputs may lack a shape or a type, and inputs a shape, as in ONNX Runtime. The checker only gets the types of large
    initializers, since it would read their files again; Vinculum checks their data itself.

    - `model`: normalised.
    - `shown`: the model's title in messages: ``"the converted model"``.
    - `declared_in`: the title of the model that its outputs are declared in, if it is another.
    """
    # The checker is compiled code, and crashes on some models that these checks refuse.
    check_attributes(model)
    check_operand_types(model)
    asked = without_large_initializers(model)
    del asked.graph.output[:]
    asked.graph.output.extend(value for value in model.graph.output if _is_declared(value))
    _make_up_shapeless(asked)
    _write_default_axes(asked)
    try:
        checker.check_model(asked, full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError, RuntimeError, ValueError) as error:
        inferred = isinstance(error, shape_inference.InferenceError)
        wrong = _wrong_declaration(model, f"the nodes of {shown}" if declared_in else "its nodes") if inferred else None
        if wrong is not None:
            raise ModelError(f"{declared_in or shown} {wrong}") from None
        raise ModelError(f"{shown} fails onnx.checker: {one_line(error)}") from None


def _wrong_declaration(model: ModelProto, nodes: str) -> str | None:
    """Return which value is declared with a wrong shape, None if none is.

    The declarations are compared with what inference finds without them, in subgraphs and functions too.
    """
    bare = without_large_initializers(model)
    for scope in scopes(bare):
        for _, value in _declarations(scope.holder):
            value.ClearField("type")
    for scope, found in zip(scopes(model), typed_scopes(bare), strict=True):
        for kind, value in _declarations(scope.holder):
            shapes = declared_shape(value.type), found.shape_of(value.name)
            if shapes[0] is not None and shapes[1] is not None and not _agree(shapes[0], shapes[1]):
                what = f"{kind} {quoted(value.name)}" + (f" in {quoted(scope.path)[1:-1]}" if scope.path else "")
                declared, given = map(shape_text, shapes)
                return f"declares {what} with shape {declared}, and {nodes} give {given}; correct the declaration"
    return None


def _declarations(holder: GraphProto | FunctionProto) -> Iterator[tuple[str, ValueInfoProto]]:
    """Yield the values whose types a graph or a function declares beside its inputs, each with its kind in messages."""
    if isinstance(holder, GraphProto):
        yield from (("output", value) for value in holder.output)
    yield from (("value", value) for value in holder.value_info)


def _agree(one: SymbolicShape, other: SymbolicShape) -> bool:
    """Return whether two shapes can be those of one tensor."""
    if len(one) != len(other):
        return False
    return all(a == b or not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(one, other, strict=True))


def _make_up_shapeless(model: ModelProto) -> None:
    """Replace inputs without a shape by results of an unknown operator, since the checker wants inputs to have one."""
    shapeless = [value for value in model.graph.input if not _is_declared(value)]
    if not shapeless:
        return
    made = []
    for value in shapeless:
        given = f"{value.name} of any shape"
        made.append(helper.make_node("Input", [], [given], domain=_UNKNOWN))
        made.append(helper.make_node("Cast", [given], [value.name], to=value.type.tensor_type.elem_type))
        model.graph.input.remove(value)
    set_nodes(model.graph, [*made, *model.graph.node])
    model.opset_import.add(domain=_UNKNOWN, version=1)


def _write_default_axes(model: ModelProto) -> None:
    """Write default axes of MeanVarianceNormalization: the checker does not set them in the operator's function."""
    for node in model_nodes(model):
        if node.op_type == "MeanVarianceNormalization" and node.domain in ("", "ai.onnx") and not node.attribute:
            node.attribute.append(helper.make_attribute("axes", [0, 2, 3]))


def _is_declared(value: ValueInfoProto) -> bool:
    kind = value.type.WhichOneof("value")
    return kind is not None and (kind != "tensor_type" or value.type.tensor_type.HasField("shape"))
