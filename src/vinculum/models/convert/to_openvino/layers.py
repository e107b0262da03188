"""What each ONNX operator that an IR can say becomes: its layers of operation set 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change
from vinculum.models.convert.to_openvino.div_layers import div, reciprocal
from vinculum.models.convert.to_openvino.nodes import PlainNode
from vinculum.models.convert.to_openvino.shape_layers import operand, reshape, squeeze, unsqueeze
from vinculum.models.convert.to_openvino.writer import Converted, OpenvinoWriter, Value
from vinculum.models.onnx.constants import tensor_of
from vinculum.models.onnx.divisions import declared_element_type
from vinculum.models.onnx.tensors import decode
from vinculum.models.openvino_ir.types import TensorType, openvino_name
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT8E4M3FN, ElementType, Kind
from vinculum.tensors.storage import dtype_of


def checked_type(element_type: ElementType | str, owner: str) -> ElementType | str:
    """Return an element type that an IR has; ModelError if it has none such; the line names what has it."""
    if element_type == "bool" or (isinstance(element_type, ElementType) and element_type.openvino):
        return element_type
    allowed = ", ".join([*(t.name for t in ELEMENT_TYPES if t.openvino), "bool"])
    raise ModelError(f"{owner} has element type {element_type}, which an IR does not have; allowed: {allowed}")


def converted(value: Value, result: Value, name: str, writer: OpenvinoWriter) -> Value:
    """Return the result, a value in the element type that it has: another one, or the same in a tensor of its own."""
    data = {"destination_type": openvino_name(result.known.element_type)}
    return writer.layer("Convert", name, data, (value,), result)


def _constant(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    alone = NodeProto()
    for name, attribute in node.attributes.items():
        alone.attribute.add().CopyFrom(attribute)
        alone.attribute[-1].name = name  # An attribute of the function around it has another.
    tensor = tensor_of(alone)
    if tensor is None or tensor.data_type == TensorProto.STRING:
        raise ModelError(f"{node.title} has no value that is representable in an IR; allowed: dense tensors of numbers")
    owner = f"the value of {node.title}"
    element_type = checked_type(declared_element_type(tensor.data_type), owner)
    array = decode(tensor, Path(), owner)
    return Value(TensorType(element_type, array.shape), node.tensor_name, array), []


def _identity(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    return operand(node, 0), [Change(node.title, "left out", "operation set 1 has no such layer, and needs none")]


def _cast(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    value, target = operand(node, 0), checked_type(_target(node), f"the result of {node.title}")
    source = value.known.element_type
    saturate = node.attributes.get("saturate")
    if isinstance(target, ElementType) and source != target:
        if target.kind is Kind.FLOAT and target.bits == 8 and (saturate is None or saturate.i):
            if not _within(source, target):
                raise ModelError(
                    f"{node.title} saturates, and the layer Convert to {target.openvino} does not; with saturate=0 it "
                    "is representable"
                )
        elif target.bits == 4 and isinstance(source, ElementType) and not source.is_integer:
            raise ModelError(
                f"{node.title} takes floats to {target}; beyond that type ONNX's own tests drop the high bits, and the "
                "layer Convert saturates: clip them and cast to an integer of 8 bits first"
            )
    result = Value(TensorType(target, value.known.shape), node.tensor_name)
    return converted(value, result, node.layer_name, writer), []


def _target(node: PlainNode) -> ElementType | str:
    to = node.attributes.get("to")
    # Cast-1 spells the type, later versions number it.
    codes = dict(TensorProto.DataType.items())
    code = 0 if to is None else to.i if to.type == AttributeProto.INT else codes.get(to.s.decode(errors="replace"), 0)
    try:
        return declared_element_type(code)
    except ModelError:
        raise ModelError(f"{node.title} has no attribute to that is an element type") from None


def _within(source: ElementType | str, target: ElementType) -> bool:
    """Whether no value of a type is beyond a float type of 8 bits."""
    if isinstance(source, str):
        return True
    if source.is_integer and target.binary_format is not None:
        largest = np.array([target.binary_format.largest], np.uint8).view(dtype_of(target))
        return max(-source.minimum, source.maximum) <= float(largest[0])
    return source is FLOAT8E4M3FN  # Which has no infinity, and fits into the other one.


LAYERS: Mapping[str, Callable[[PlainNode, OpenvinoWriter], Converted]] = {
    "Cast": _cast,
    "Constant": _constant,
    "Div": div,
    "Identity": _identity,
    "Reciprocal": reciprocal,
    "Reshape": reshape,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
}
"""The operators that are representable, and how."""
