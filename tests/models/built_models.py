"""Small ONNX models, built of their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper

from vinculum.models.onnx.checks import check_model
from vinculum.models.source import read_source

Tensors = Mapping[str, tuple[int, Sequence[int | str | None] | None]]


def build(
    nodes: Sequence[NodeProto],
    inputs: Tensors,
    outputs: Tensors,
    *,
    opset: int = 17,
    ir_version: int = 9,
    domains: Sequence[str] = (),
    functions: Sequence[Any] = (),
    initializers: Sequence[Any] = (),
) -> ModelProto:
    """Return a model of nodes, its tensors given as ``{name: (element type, shape)}``."""
    declared = [
        [helper.make_tensor_value_info(name, *tensor) for name, tensor in group.items()] for group in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "graph", declared[0], declared[1], list(initializers))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version, functions=list(functions))


def read_whole(path: Path) -> ModelProto:
    """Return the model in an ONNX file, the data of other files in it."""
    return read_source(path).complete()


def check_file(path: Path) -> None:
    """Refuse an ONNX file that onnx.checker refuses."""
    model = read_source(path).onnx
    assert model is not None
    check_model(model, "the model")


def node(text: str, **attributes: Any) -> NodeProto:
    """Return the node that is written as ``"c = Div(a, b)"``."""
    results, _, call = text.partition(" = ")
    operator, _, operands = call.rstrip(")").partition("(")
    domain, _, name = operator.rpartition(".")
    inputs = [operand.strip() for operand in operands.split(",")] if operands else []
    return helper.make_node(name, inputs, results.split(", "), domain=domain, **attributes)


def graph(*nodes: NodeProto, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> Any:
    """Return a subgraph."""
    takes, gives = ([helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in g] for g in (inputs, outputs))
    return helper.make_graph(nodes, "subgraph", takes, gives)
