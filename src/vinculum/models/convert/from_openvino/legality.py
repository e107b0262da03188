"""Which element types an ONNX operator takes in an operator set, by the onnx package's own schemas."""

from __future__ import annotations

from functools import cache

from onnx.defs import SchemaError, get_schema, onnx_opset_version

from vinculum.errors import ModelError
from vinculum.spec.element_types import ElementType


def check_allowed(op_type: str, opset: int, element_type: ElementType | str, title: str) -> None:
    """Refuse an operator that does not take a type, or that an operator set does not have."""
    name = str(element_type)
    if _allows(op_type, opset, name):
        return
    later = next((n for n in range(opset + 1, onnx_opset_version() + 1) if _allows(op_type, n, name)), None)
    advice = "and no later one has it either" if later is None else f"give --opset {later} or later"
    raise ModelError(f"{title} needs {op_type} of {name}, which operator set {opset} does not have; {advice}")


@cache
def _allows(op_type: str, opset: int, name: str) -> bool:
    try:
        schema = get_schema(op_type, max_inclusive_version=opset, domain="")
    except SchemaError:
        return False
    # The first input's type is the one in question; those of Cast's result are the same.
    return f"tensor({name})" in schema.inputs[0].types
