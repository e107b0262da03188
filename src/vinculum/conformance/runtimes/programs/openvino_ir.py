"""An operation as an OpenVINO IR of one layer, Divide of operation set 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation, quotient_shape
from vinculum.models.convert.to_openvino.writer import OpenvinoWriter, Value
from vinculum.models.openvino_ir.layers import AXIS_OF_OPENVINO
from vinculum.models.openvino_ir.types import TensorType
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue
from vinculum.tensors.storage import element_type_of_dtype


@dataclass(frozen=True, eq=False)
class OpenvinoProgram:
    """An IR, and what it is to be given.

    Attributes
    ----------
    xml, data : bytes
        What goes into the ``.xml`` and into the ``.bin`` beside it, where the constants are.
    inputs : Mapping of str to array
        The operands that are not constants, by their Parameter's name, in the operator's order.
    """

    xml: bytes
    data: bytes
    inputs: Mapping[str, NDArray[Any]]


def openvino_program(operation: Operation) -> OpenvinoProgram:
    """Return the IR that asks for an operation: every operand declared as it is, the quotient as the dividend.

    Attributes stand as they are given, legal or not; those that are not given are not written. The quotient's shape is
    left open where the operands do not fit.
    """
    spec = operation.spec
    writer = OpenvinoWriter()
    names = [operand.name for operand in spec.inputs]
    writer.reserve([name for name, constant in zip(names, operation.constant, strict=True) if not constant])
    operands: list[Value] = []
    for name, array, constant in zip(names, operation.operands, operation.constant, strict=True):
        known = TensorType(_element_type(array), array.shape)
        operands.append(Value(known, name, array) if constant else writer.parameter(name, known))
    result = spec.outputs[0].name
    known = TensorType(operands[0].known.element_type, quotient_shape(operation))
    data = {_spelling(name): _text(value) for name, value in operation.attributes.items()}
    writer.result(writer.layer(spec.name, spec.name, data, operands, Value(known, result)), result)
    inputs = {
        name: array
        for name, array, given in zip(names, operation.operands, operation.constant, strict=True)
        if not given
    }
    return OpenvinoProgram(writer.xml(spec.title), writer.data(), inputs)


def _element_type(array: NDArray[Any]) -> ElementType | str:
    return element_type_of_dtype(array.dtype) or "bool"


def _spelling(name: str) -> str:
    return AXIS_OF_OPENVINO if name == "axis" else name


def _text(value: AttributeValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
