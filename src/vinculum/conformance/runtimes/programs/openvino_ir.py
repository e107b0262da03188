"""An operation as an OpenVINO IR of one layer, Divide of operation set 1."""

from __future__ import annotations

from vinculum.conformance.cases.operation import Operation, quotient_shape
from vinculum.conformance.runtimes.programs.ir_writer import OpenvinoWriter, TensorType, Value
from vinculum.models.engines.openvino.reading import AXIS
from vinculum.spec.model import AttributeValue
from vinculum.tensors.storage import element_type_of


def openvino_ir(operation: Operation) -> tuple[bytes, bytes]:
    """Return the contents of the ``.xml`` and the ``.bin`` file of an operation's IR.

    Operands are declared as they are, the quotient with the dividend's type. Attributes are written exactly as given,
    legal or not. The quotient's shape is undeclared where the operands do not fit.
    """
    spec = operation.spec
    writer = OpenvinoWriter()
    writer.reserve(list(operation.inputs))
    operands: list[Value] = []
    for named, array, constant in zip(spec.inputs, operation.operands, operation.constant, strict=True):
        known = TensorType(element_type_of(array), array.shape)
        operands.append(Value(known, named.name, array) if constant else writer.parameter(named.name, known))
    result = spec.outputs[0].name
    known = TensorType(operands[0].known.element_type, quotient_shape(operation))
    data = {_spelling(name): _text(value) for name, value in operation.attributes.items()}
    writer.result(writer.layer(spec.name, spec.name, data, operands, Value(known, result)), result)
    return writer.xml(spec.title), writer.data()


def _spelling(name: str) -> str:
    return AXIS if name == "axis" else name


def _text(value: AttributeValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
