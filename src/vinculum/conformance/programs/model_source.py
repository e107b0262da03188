"""Python source that makes the model of a question: an ONNX model by onnx's helper, or an IR as it is written."""

from __future__ import annotations

import numpy as np

from vinculum.conformance.programs.reproducer import array_source
from vinculum.conformance.question import Question, quotient_shape


def onnx_model_lines(question: Question) -> list[str]:
    """Return lines that make `model`, the ONNX model that asks a question, from the operands by onnx's helper."""
    from vinculum.models.onnxruntime_session import IR_VERSION

    spec = question.spec
    names, result = [operand.name for operand in spec.inputs], spec.outputs[0].name
    types = {name: f"helper.np_dtype_to_tensor_dtype({name.lower()}.dtype)" for name in names}
    node = [
        repr(spec.name),
        repr(names),
        repr([result]),
        *(f"{n}={v!r}" for n, v in question.attributes.items() if v != ()),
    ]
    empty = [name for name, value in question.attributes.items() if value == ()]
    given = [f"helper.make_tensor_value_info({n!r}, {types[n]}, {n.lower()}.shape)" for n in _given(question)]
    constants = [f"numpy_helper.from_array({n.lower()}, {n!r})" for n in names if n not in _given(question)]
    lines = [
        f"node = helper.make_node({', '.join(node)})",
        *(f"node.attribute.append(helper.make_attribute({name!r}, [], attr_type=7))  # INTS" for name in empty),
        f"inputs = [{', '.join(given)}]",
        f"outputs = [helper.make_tensor_value_info({result!r}, {types[names[0]]}, {quotient_shape(question)})]",
        f"constants = [{', '.join(constants)}]",
        "graph = helper.make_graph([node], 'division', inputs, outputs, constants)",
        f"opset = helper.make_opsetid({spec.domain!r}, {spec.since_version})",
        f"model = helper.make_model(graph, opset_imports=[opset], ir_version={IR_VERSION})",
    ]
    return [line.replace("'", '"') for line in lines]


def inputs_source(question: Question) -> str:
    """Return a Python dictionary of the operands that come at run time: ``{"A": a, "B": b}``."""
    items = (f'"{name}": {name.lower()}' for name in _given(question))
    return f"{{{', '.join(items)}}}"


def _given(question: Question) -> list[str]:
    """Return the names of the operands that come at run time."""
    named = zip(question.spec.inputs, question.constant, strict=True)
    return [operand.name for operand, constant in named if not constant]


def ir_lines(question: Question) -> list[str]:
    """Return lines that make `xml` and `data`, the two files of the IR that asks a question."""
    from vinculum.conformance.programs.openvino_ir import openvino_program

    program = openvino_program(question)
    lines = [f'xml = b"""{program.xml.decode()}"""']
    if not program.data:
        return [*lines, 'data = b""']
    lines.append("# The constants, each from the offset in its Const layer on.")
    return [*lines, f"data = {array_source(np.frombuffer(program.data, np.uint8))}.tobytes()"]
