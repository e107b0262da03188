"""Small ONNX models for tests, and a check that an error is one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, parser

from vinculum.models.onnx.checks import check_model
from vinculum.models.source import load, read_source, source_of
from vinculum.spec.element_types import ElementType

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
    """Return a model of nodes; inputs and outputs are given as ``{name: (element type, shape)}``."""
    declared = [
        [helper.make_tensor_value_info(name, *tensor) for name, tensor in group.items()] for group in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "graph", declared[0], declared[1], list(initializers))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version, functions=list(functions))


@contextmanager
def one_line(kind: type[Exception], *parts: str) -> Iterator[None]:
    """Expect an error of exactly one class, whose message is one line that contains some texts."""
    with pytest.raises(kind) as caught:
        yield
    message = str(caught.value)
    assert type(caught.value) is kind
    assert "\n" not in message
    for part in parts:
        assert part in message


def written(model: ModelProto, folder: Path) -> Path:
    """Return the file of a model in a folder."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def read_whole(path: Path) -> ModelProto:
    """Return the model in an ONNX file, including external data."""
    return read_source(path).complete()


def run(proto: ModelProto, arrays: Mapping[str, NDArray[Any]], *, check: bool = True) -> dict[str, NDArray[Any]]:
    """Run a model in the reference engine, after onnx.checker has checked it."""
    if check:
        check_model(source_of(proto).proto("run"), "the model")
    return load(proto).run(arrays, zero_divisor="zero")


def text_model(
    nodes: str,
    inputs: str = "float[2] a, float[2] b",
    outputs: str = "float[2] c",
    *functions: str,
    constants: str = "",
    opset: int = 17,
    ir_version: int = 10,
) -> ModelProto:
    """Return a model of nodes in ONNX's text, its functions in the domain ``d``, its constants as initializers."""
    head = f'opset_import: ["": {opset}, "d": 1]'
    bodies = (text if text.startswith("<") else f'<{head}, domain: "d"> {text}' for text in functions)
    graph = f"<ir_version: {ir_version}, {head}> g ({inputs}) => ({outputs}) <{constants}> {{ {nodes} }}"
    return parser.parse_model("\n".join([graph, *bodies]))


Operand = NDArray[Any] | Sequence[int | str | None]


def division(
    element_type: ElementType, a: Operand, b: Operand, *, opset: int = 17, beside: bool = False, **attributes: Any
) -> ModelProto:
    """Return a model of one Div, ``C = A / B``; an operand that is given as an array is an initializer.

    - `beside`: whether to add an input that is also an output; some runtimes run no model without inputs.
    """
    code = element_type.onnx_code or 0
    rank = max(x.ndim if isinstance(x, np.ndarray) else len(x) for x in (a, b))
    operands = {"A": a, "B": b}
    inputs: Tensors = {name: (code, x) for name, x in operands.items() if not isinstance(x, np.ndarray)}
    stored = [numpy_helper.from_array(x, name) for name, x in operands.items() if isinstance(x, np.ndarray)]
    nodes, other = [helper.make_node("Div", ["A", "B"], ["C"], "ratio", **attributes)], (TensorProto.FLOAT, (1,))
    outputs: Tensors = {"C": (code, [None] * rank)}
    if beside:
        nodes.append(helper.make_node("Identity", ["unused"], ["same"]))
        inputs, outputs = {"unused": other, **inputs}, {**outputs, "same": other}
    return build(nodes, inputs, outputs, opset=opset, ir_version=8, initializers=stored)


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
