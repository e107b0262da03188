"""Python source that makes the model of a question: an ONNX model by onnx's helper, or an IR as it is written."""

from __future__ import annotations

from json import dumps
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.programs.reproducer import list_lines
from vinculum.conformance.question import Question, quotient_shape
from vinculum.spec.model import AttributeValue
from vinculum.tensors.storage import element_type_of_dtype

_PACKED = """
def packed(array):  # Two in a byte, the first in its low half.
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1).astype(np.int8) & 15
    return halves[0::2] | halves[1::2] << 4

"""


def onnx_model_lines(question: Question) -> list[str]:
    """Return lines that make `model`, the ONNX model that asks a question, from the operands by onnx's helper."""
    from vinculum.models.engines.onnxruntime.session import IR_VERSION

    spec = question.spec
    named = list(zip((operand.name for operand in spec.inputs), question.operands, question.constant, strict=True))
    given = [_declared(name, array, f"{name.lower()}.shape") for name, array, constant in named if not constant]
    stored = [f'numpy_helper.from_array({name.lower()}, "{name}")' for name, _, constant in named if constant]
    result = _declared(spec.outputs[0].name, question.operands[0], quotient_shape(question))
    return [
        *_node_lines(question),
        *list_lines("inputs", given),
        *list_lines("outputs", [result]),
        *(list_lines("constants", stored) if stored else ()),
        f'graph = helper.make_graph([node], "division", inputs, outputs{", constants" if stored else ""})',
        f"opset = helper.make_opsetid({dumps(spec.domain)}, {spec.since_version})",
        f"model = helper.make_model(graph, opset_imports=[opset], ir_version={IR_VERSION})",
    ]


def inputs_source(question: Question) -> str:
    """Return a Python dictionary of the operands that come at run time: ``{"A": a, "B": b}``."""
    asked = zip(question.spec.inputs, question.constant, strict=True)
    items = (f'"{operand.name}": {operand.name.lower()}' for operand, constant in asked if not constant)
    return f"{{{', '.join(items)}}}"


def ir_lines(question: Question) -> list[str]:
    """Return lines that make `xml` and `data`, the two files of the IR that asks a question."""
    from vinculum.conformance.programs.openvino_ir import openvino_program

    program = openvino_program(question)
    return [f'xml = b"""{program.xml.decode()}"""', *packing_lines(question), *_data_lines(question, program.data)]


def stored_source(name: str, array: NDArray[Any]) -> str:
    """Return the expression for an array's bytes as OpenVINO stores them; for that of 4 bits it calls `packed`."""
    return f"packed({name})" if is_packed(array) else f"{name}.reshape(-1).view(np.uint8)"


def packing_lines(question: Question) -> list[str]:
    """Return lines that define `packed`, none if no operand needs it."""
    return _PACKED.splitlines() if any(map(is_packed, question.operands)) else []


def is_packed(array: NDArray[Any]) -> bool:
    """Tell whether OpenVINO stores two elements of an array in a byte."""
    element_type = element_type_of_dtype(array.dtype)
    return element_type is not None and element_type.bits == 4


def _data_lines(question: Question, data: bytes) -> list[str]:
    """Return lines that make the file beside an IR, in which every constant begins at an even place."""
    from vinculum.models.openvino_ir.constants import packed

    if not data:
        return ['data = b""']
    asked = zip(question.spec.inputs, question.operands, question.constant, strict=True)
    constants = [(operand.name.lower(), array) for operand, array, constant in asked if constant]
    raw = [packed(array, element_type_of_dtype(array.dtype) or "bool") or bytes(1) for _, array in constants]
    pieces = [
        "bytes(1)" if not array.size else f"{f'packed({name})' if is_packed(array) else name}.tobytes()"
        for name, array in constants
    ]
    if len(pieces) == 2:
        # Equal constants are there once.
        gap = len(data) - len(raw[0]) - len(raw[1])
        pieces[1:] = [f"bytes({gap})", pieces[1]] if gap >= 0 else []
    return ["# The constants, each from the offset in its Const layer on.", f"data = {' + '.join(pieces)}"]


def _node_lines(question: Question) -> list[str]:
    """Return lines that make `node`."""
    spec = question.spec
    names = [operand.name for operand in spec.inputs]
    written = {name: value for name, value in question.attributes.items() if value != ()}
    attributes = "".join(f", {name}={_value_source(value)}" for name, value in written.items())
    empty = [name for name in question.attributes if name not in written]
    return [
        f'node = helper.make_node("{spec.name}", {dumps(names)}, ["{spec.outputs[0].name}"]{attributes})',
        *(f'node.attribute.append(helper.make_attribute("{name}", [], attr_type=7))  # INTS' for name in empty),
    ]


def _value_source(value: AttributeValue) -> str:
    return dumps(value) if isinstance(value, str) else repr(value)


def _declared(name: str, array: NDArray[Any], shape: object) -> str:
    element_type = element_type_of_dtype(array.dtype)
    code = "BOOL" if element_type is None else element_type.name.upper()
    return f'helper.make_tensor_value_info("{name}", TensorProto.{code}, {shape})'
