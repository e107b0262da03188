"""Whether the values of an ONNX model are named as the standard demands: each once, before it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

from vinculum.errors import ModelError
from vinculum.models.onnx.attributes import check_attributes
from vinculum.models.onnx.scopes import opset_imports, subgraphs, title
from vinculum.text import quoted


def check_structure(model: ModelProto) -> None:
    """Refuse a model in which a node uses what nothing before it makes, or has an attribute that is dangerous."""
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
