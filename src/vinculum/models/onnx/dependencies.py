"""What a node of an ONNX graph needs, and whether it divides: looked up in its subgraphs and functions too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from onnx import FunctionProto, GraphProto, NodeProto

from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.functions import DOMAIN
from vinculum.models.onnx.scopes import all_nodes, subgraphs


def inputs_of(node: NodeProto) -> tuple[str, ...]:
    """Return the values that a node needs, each once: its inputs, and what its subgraphs see of the graph around."""
    seen = [name for _, graph in subgraphs(node) for name in _implicit_inputs(graph)]
    return tuple(dict.fromkeys(name for name in (*node.input, *seen) if name))


def _implicit_inputs(graph: GraphProto) -> Iterator[str]:
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        yield from (name for name in inputs_of(node) if name not in own)
        own.update(node.output)
    yield from (value.name for value in graph.output if value.name not in own)


def divides(node: NodeProto, functions: Collection[str]) -> bool:
    """Tell whether a node is a division, holds one in a subgraph, or calls one of these functions."""
    return any(
        inner.op_type in DIVIDES if inner.domain == "" else inner.domain == DOMAIN and inner.op_type in functions
        for inner in all_nodes([node])
    )


def dividing_functions(functions: Iterable[FunctionProto]) -> frozenset[str]:
    """Return the names of the functions that hold divisions, callees standing before their callers."""
    found: frozenset[str] = frozenset()
    for function in functions:
        if any(divides(node, found) for node in function.node):
            found |= {function.name}
    return found
