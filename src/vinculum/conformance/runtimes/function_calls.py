"""The common part of the runtimes that are libraries, whose operators are functions called with arrays."""

from __future__ import annotations

from enum import Enum

from vinculum.conformance.cases.operation import Operation, rounding_asked
from vinculum.spec.element_types import Kind
from vinculum.spec.model import IntegerRounding
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.storage import element_type_of


class Function(Enum):
    """The functions of libraries for division."""

    DIVIDE = "divide"
    TRUNCATING_DIVIDE = "truncating divide"
    FLOOR_DIVIDE = "floor divide"
    RECIPROCAL = "reciprocal"


def function_for(operation: Operation) -> Function:
    """Return the function that executes an operation; the dividend's element type decides."""
    if operation.spec.name == "Reciprocal":
        return Function.RECIPROCAL
    if not element_type_of(operation.operands[0]).is_integer:
        return Function.DIVIDE
    if rounding_asked(operation) is IntegerRounding.FLOOR:
        return Function.FLOOR_DIVIDE
    return Function.TRUNCATING_DIVIDE


def is_signed(operation: Operation) -> bool:
    """Tell whether the dividends are signed integers."""
    return element_type_of(operation.operands[0]).kind is Kind.SIGNED


def can_be_called(operation: Operation) -> bool:
    """Tell whether a function call can express this: the newest version, without constants and other attributes.

    The rounding selects the function. As functions always broadcast, a rule that forbids broadcasting can be tested
    with equal shapes only.
    """
    if operation.spec not in (DIV_14, RECIPROCAL_13, DIVIDE_1) or any(operation.constant):
        return False
    attributes = dict(operation.attributes)
    if operation.spec is DIVIDE_1:
        rounding, broadcasting = attributes.pop("m_pythondiv", True), attributes.pop("auto_broadcast", "numpy")
        shapes = {operand.shape for operand in operation.operands}
        if not isinstance(rounding, bool) or (broadcasting != "numpy" and (broadcasting, len(shapes)) != ("none", 1)):
            return False
    return not attributes and len(operation.operands) == len(operation.spec.inputs)
