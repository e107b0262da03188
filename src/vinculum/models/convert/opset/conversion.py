"""A whole ONNX model in another operator set."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto, helper

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change, OnnxConversion, check_opset
from vinculum.models.convert.opset.other_operators import convert_node
from vinculum.models.onnx.file import check_no_training
from vinculum.models.onnx.rewriter import INITIALIZERS_ALONE, Rewriter, names_in, set_nodes
from vinculum.models.onnx.scopes import Scope, all_graphs, name_of
from vinculum.models.onnx.typed_scopes import inner_first

_LONGEST_LIST = 3
_INFERRED_SINCE = 6
"""The operator set from which on ONNX infers what the arithmetic operators return."""


def convert_opset(model: ModelProto, opset: int) -> OnnxConversion:
    """Return a model in another operator set in which every division gives the same bits.

    Every Div and Reciprocal of the graph, its subgraphs and its functions is written as the operator set has it. Other
    operators are as they were unless their version changes; then they are carried by rules of ours.

    Parameters
    ----------
    model : ModelProto
        As `vinculum.models.source.read_source` reads it. It is not changed.
    opset : int
        The operator set of the new model, from 1 to the newest that the onnx package knows.

    Raises
    ------
    AttributeValueError
        If there is no such operator set.
    ModelError
        If what the model does is not representable there; the line names the nodes and the reasons.

    Notes
    -----
    An element type that the new version of a division lacks is carried by another; `promoted_types` says by which and
    why. A policy for integer zero divisors or MIN/-1 that gives the ends of the type, ``"saturate"``, then gives those
    of the carrying type, cast back.
    """
    check_opset(opset)
    check_no_training(model)
    converted = deepcopy(model)
    taken, unused_before = names_in(converted), _unused(converted)
    problems: list[str] = []
    functions = {(function.domain, function.name) for function in converted.functions}
    changes = [
        _convert_scope(scope, opset, taken, functions, problems)
        for scope in inner_first(converted)
        if scope.opsets.get("", opset) != opset
    ]
    if problems:
        more = f"; and {len(problems) - _LONGEST_LIST} more" if len(problems) > _LONGEST_LIST else ""
        raise ModelError("; ".join(problems[:_LONGEST_LIST]) + more)
    _drop_initializers(converted, _unused(converted) - unused_before)
    _import(converted, opset)
    return OnnxConversion(converted, tuple(change for group in reversed(changes) for change in group))


def _convert_scope(
    scope: Scope,
    opset: int,
    taken: set[str],
    functions: set[tuple[str, str]],
    problems: list[str],
) -> list[Change]:
    """Write a scope's nodes anew and return the changes; what is not representable is added to the problems."""
    nodes: list[NodeProto] = []
    made: list[Rewriter] = []
    changes: list[Change] = []
    for node in scope.holder.node:
        rewriter = Rewriter(scope.holder, opset, taken, name_of(node))
        try:
            if node.domain or (node.domain, node.op_type) in functions:
                rewriter.nodes.append(node)
            else:
                changes += convert_node(node, scope, opset, rewriter)
        except ModelError as error:
            problems.append(str(error))
        nodes += rewriter.nodes
        made.append(rewriter)
    set_nodes(scope.holder, nodes, (tensor for rewriter in made for tensor in rewriter.initializers))
    if isinstance(scope.holder, GraphProto):
        scope.holder.value_info.extend(value for rewriter in made for value in rewriter.value_info)
        if opset < _INFERRED_SINCE:
            _declare_results(scope.holder, scope.types)
    return changes


def _declare_results(graph: GraphProto, types: Mapping[str, TypeProto]) -> None:
    """Write down the types of what nodes make, for the nodes after them."""
    declared = {value.name for group in (graph.input, graph.output, graph.value_info) for value in group}
    for name in dict.fromkeys(name for node in graph.node for name in node.output):
        if name in types and name not in declared:
            graph.value_info.append(ValueInfoProto(name=name, type=types[name]))


def _import(model: ModelProto, opset: int) -> None:
    holders: list[ModelProto | FunctionProto] = [model, *model.functions]
    for holder in holders:
        for entry in holder.opset_import:
            if not entry.domain:
                entry.version = opset
    needed = helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    alone = any(map(_has_initializer_alone, all_graphs(model.graph)))  # There are no functions before IR version 8.
    model.ir_version = max(model.ir_version, needed, INITIALIZERS_ALONE if alone else 0)


def _has_initializer_alone(graph: GraphProto) -> bool:
    inputs = {value.name for value in graph.input}
    return any(tensor.name not in inputs for tensor in graph.initializer)


def _unused(model: ModelProto) -> set[str]:
    """Return the top graph's initializers that nothing uses."""
    graphs = list(all_graphs(model.graph))
    used = {name for graph in graphs for node in graph.node for name in node.input}
    used.update(value.name for graph in graphs for value in graph.output)
    used.update(value.name for value in model.graph.input)
    return {tensor.name for tensor in model.graph.initializer} - used


def _drop_initializers(model: ModelProto, names: set[str]) -> None:
    """Drop constants of which a reshaped copy has taken the place."""
    for position in reversed(range(len(model.graph.initializer))):
        if model.graph.initializer[position].name in names:
            del model.graph.initializer[position]
