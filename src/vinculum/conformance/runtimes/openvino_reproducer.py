"""An operation to OpenVINO as Python source."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import Any

import numpy as np

from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.runtimes.programs.array_source import dtype_source
from vinculum.conformance.runtimes.programs.model_source import ir_lines, onnx_model_lines, packing_lines, stored_source
from vinculum.conformance.runtimes.programs.reproducer import operand_lines, print_quotient, python_program
from vinculum.models.openvino_ir.types import openvino_name
from vinculum.spec.element_types import INT4, UINT4
from vinculum.spec.model import Dialect
from vinculum.tensors.storage import element_type_of_dtype


def reproducer(operation: Operation, device: str, properties: Mapping[str, str]) -> str:
    """Return source that makes the model, with onnx's helper or as the text of an IR, compiles it and prints.

    Parameters
    ----------
    operation : Operation
        Of the dialects ONNX and OpenVINO.
    device : str
        What it is compiled for.
    properties : Mapping of str to str
        What it is compiled with.
    """
    if operation.spec.dialect is Dialect.OPENVINO:
        model, read = ir_lines(operation), "core.read_model(xml, data)"
    else:
        model, read = (
            [*onnx_model_lines(operation), *packing_lines(operation)],
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
    """Return the lines that run a compiled model and print; those types that NumPy has not are handed over as bytes."""
    asked = zip(operation.spec.inputs, operation.operands, operation.constant, strict=True)
    given = [(operand.name.lower(), array) for operand, array, constant in asked if not constant]
    if all(array.dtype.isbuiltin == 1 for array in operation.operands):
        return [print_quotient(f"compiled([{', '.join(name for name, _ in given)}])[0]")]
    lines = ["request = compiled.create_infer_request()"]
    for number, (name, array) in enumerate(given):
        element_type = element_type_of_dtype(array.dtype) or "bool"
        lines.append(f"tensor = ov.Tensor(ov.Type.{openvino_name(element_type)}, ov.Shape({name}.shape))")
        lines.append(f"tensor.data.reshape(-1).view(np.uint8)[:] = {stored_source(name, array)}")
        lines.append(f"request.set_input_tensor({number}, tensor)")
    return [*lines, "request.infer()", *_result_lines(operation.operands[0].dtype)]


def _result_lines(dtype: np.dtype[Any]) -> list[str]:
    element_type = element_type_of_dtype(dtype)
    lines = ["result = request.get_output_tensor(0)", "data = result.data.reshape(-1).view(np.uint8)"]
    array = f"data.view({dtype_source(dtype)})"
    if element_type in (INT4, UINT4):
        lines.append(
            "data = np.stack([data & 15, data >> 4], axis=-1).reshape(-1)[: result.get_size()]  # Two in a byte."
        )
        array = f"data.astype(np.int8).astype({dtype_source(dtype)})"
        if element_type is INT4:
            array = f"((data ^ 8).astype(np.int8) - 8).astype({dtype_source(dtype)})"
    return [*lines, print_quotient(f"{array}.reshape(tuple(result.get_shape()))")]
