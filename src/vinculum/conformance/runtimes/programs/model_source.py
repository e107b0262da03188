"""Python source that makes the model of an operation: an ONNX model or an IR, as the text that it is written in."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.tensors.storage import element_type_of_dtype

_PACKED = """
def packed(array):  # Two in a byte, the first in its low half.
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1).astype(np.int8) & 15
    return halves[0::2] | halves[1::2] << 4

"""


def onnx_model_lines(operation: Operation) -> list[str]:
    """Return lines that make `model`, the ONNX model of an operation, from its text and the constant operands."""
    from onnx import printer

    from vinculum.conformance.runtimes.programs.onnx_model import onnx_program

    model = onnx_program(operation).model
    constants = [tensor.name for tensor in model.graph.initializer]
    del model.graph.initializer[:]
    stored = [f'numpy_helper.from_array({name.lower()}, "{name}")' for name in constants]
    return [
        'model = parser.parse_model("""',
        *printer.to_text(model).splitlines(),
        '""")',
        *([f"model.graph.initializer.extend([{', '.join(stored)}])"] if stored else ()),
    ]


def inputs_source(operation: Operation) -> str:
    """Return a Python dictionary of the operands that come at run time: ``{"A": a, "B": b}``."""
    asked = zip(operation.spec.inputs, operation.constant, strict=True)
    items = (f'"{operand.name}": {operand.name.lower()}' for operand, constant in asked if not constant)
    return f"{{{', '.join(items)}}}"


def ir_lines(operation: Operation) -> list[str]:
    """Return lines that make `xml` and `data`, the two files of the IR that asks for an operation."""
    from vinculum.conformance.runtimes.programs.openvino_ir import openvino_program

    program = openvino_program(operation)
    return [f'xml = b"""{program.xml.decode()}"""', *packing_lines(operation), *_data_lines(operation, program.data)]


def stored_source(name: str, array: NDArray[Any]) -> str:
    """Return the expression for an array's bytes as OpenVINO stores them; for that of 4 bits it calls `packed`."""
    return f"packed({name})" if is_packed(array) else f"{name}.reshape(-1).view(np.uint8)"


def packing_lines(operation: Operation) -> list[str]:
    """Return lines that define `packed`, none if no operand needs it."""
    return _PACKED.splitlines() if any(map(is_packed, operation.operands)) else []


def is_packed(array: NDArray[Any]) -> bool:
    """Tell whether OpenVINO stores two elements of an array in a byte."""
    element_type = element_type_of_dtype(array.dtype)
    return element_type is not None and element_type.bits == 4


def _data_lines(operation: Operation, data: bytes) -> list[str]:
    """Return lines that make the file beside an IR, in which every constant begins at an even place."""
    from vinculum.models.openvino_ir.constants import packed

    if not data:
        return ['data = b""']
    asked = zip(operation.spec.inputs, operation.operands, operation.constant, strict=True)
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
