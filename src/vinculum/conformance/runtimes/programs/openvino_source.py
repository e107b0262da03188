"""An operation for OpenVINO as Python source: the model as an IR or in ONNX, compiled and run."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.array_source import dtype_source
from vinculum.conformance.runtimes.programs.onnx_source import onnx_model_lines
from vinculum.conformance.runtimes.programs.reproducer import operand_lines, print_quotient, python_program
from vinculum.models.engines.openvino.tensors import openvino_name
from vinculum.spec.element_types import INT4, UINT4
from vinculum.spec.model import Dialect
from vinculum.tensors.storage import element_type_of

_PACKED = """
def packed(array):  # Two in a byte, the first in its low half.
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1).astype(np.int8) & 15
    return halves[0::2] | halves[1::2] << 4

"""


def openvino_program(operation: Operation, device: str, properties: Mapping[str, str]) -> str:
    """Return source that makes the model, with onnx's helper or as the text of an IR, compiles it and prints.

    Parameters
    ----------
    operation : Operation
        An operation of the dialects ONNX and OpenVINO.
    device : str
        The device for which the model is compiled.
    properties : Mapping of str to str
        The properties with which it is compiled.
    """
    if operation.spec.dialect is Dialect.OPENVINO:
        model, read = ir_lines(operation), "core.read_model(xml, data)"
    else:
        model, read = (
            [*onnx_model_lines(operation), *_packing_lines(operation)],
            'core.read_model(model.SerializeToString(), b"")',
        )
    return python_program(
        *operand_lines(operation),
        *model,
        "core = ov.Core()",
        f"compiled = core.compile_model({read}, {dumps(device)}, {dumps(dict(properties))})",
        *_run_lines(operation),
    )


def _run_lines(operation: Operation) -> list[str]:
    """Return the lines that run a compiled model and print; types that NumPy lacks are passed as bytes."""
    given = [(name.lower(), array) for name, array in operation.inputs.items()]
    if all(array.dtype.isbuiltin == 1 for array in operation.operands):
        return [print_quotient(f"compiled([{', '.join(name for name, _ in given)}])[0]")]
    lines = ["request = compiled.create_infer_request()"]
    for number, (name, array) in enumerate(given):
        element_type = element_type_of(array)
        lines.append(f"tensor = ov.Tensor(ov.Type.{openvino_name(element_type)}, ov.Shape({name}.shape))")
        lines.append(f"tensor.data.reshape(-1).view(np.uint8)[:] = {_stored(name, array)}")
        lines.append(f"request.set_input_tensor({number}, tensor)")
    return [*lines, "request.infer()", *_result_lines(operation.operands[0])]


def _result_lines(dividend: NDArray[Any]) -> list[str]:
    """Return the lines that print the quotient, which has the dividend's element type."""
    element_type, dtype = element_type_of(dividend), dtype_source(dividend.dtype)
    lines = ["result = request.get_output_tensor(0)", "data = result.data.reshape(-1).view(np.uint8)"]
    array = f"data.view({dtype})"
    if element_type in (INT4, UINT4):
        lines.append(
            "data = np.stack([data & 15, data >> 4], axis=-1).reshape(-1)[: result.get_size()]  # Two in a byte."
        )
        array = f"data.astype(np.int8).astype({dtype})"
        if element_type is INT4:
            array = f"((data ^ 8).astype(np.int8) - 8).astype({dtype})"
    return [*lines, print_quotient(f"{array}.reshape(tuple(result.get_shape()))")]


def ir_lines(operation: Operation) -> list[str]:
    """Return lines that make `xml` and `data`, the two files of an operation's IR."""
    from vinculum.conformance.runtimes.programs.openvino_ir import openvino_ir

    xml, data = openvino_ir(operation)
    return [f'xml = b"""{xml.decode()}"""', *_packing_lines(operation), *_data_lines(operation, data)]


def _stored(name: str, array: NDArray[Any]) -> str:
    """Return the expression for an array's bytes as OpenVINO stores them; for 4-bit types it calls `packed`."""
    return f"packed({name})" if _is_packed(array) else f"{name}.reshape(-1).view(np.uint8)"


def _packing_lines(operation: Operation) -> list[str]:
    """Return lines that define `packed`, empty if no operand needs it."""
    return _PACKED.splitlines() if any(map(_is_packed, operation.operands)) else []


def _is_packed(array: NDArray[Any]) -> bool:
    """Tell whether OpenVINO stores two elements of an array in a byte."""
    return element_type_of(array).bits == 4


def _data_lines(operation: Operation, data: bytes) -> list[str]:
    """Return lines that make the ``.bin`` file of an IR, in which every constant has an aligned offset."""
    from vinculum.models.engines.openvino.tensors import packed

    if not data:
        return ['data = b""']
    constants = {name.lower(): array for name, array in operation.constants.items()}
    raw = [packed(array, element_type_of(array)) or bytes(1) for array in constants.values()]
    pieces = [
        "bytes(1)" if not array.size else f"{f'packed({name})' if _is_packed(array) else name}.tobytes()"
        for name, array in constants.items()
    ]
    if len(pieces) == 2:
        # Equal constants are stored once.
        gap = len(data) - len(raw[0]) - len(raw[1])
        pieces[1:] = [f"bytes({gap})", pieces[1]] if gap >= 0 else []
    return ["# The constants, each from the offset in its Const layer on.", f"data = {' + '.join(pieces)}"]
