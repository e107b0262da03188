"""ONNX Div and Reciprocal of every version as the layer Divide of operation set 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from onnx import helper

from vinculum.errors import ElementTypeError, ModelError
from vinculum.models.convert.change import Change
from vinculum.models.convert.opset.unidirectional_broadcasting import trailing_ones
from vinculum.models.convert.to_openvino.nodes import PlainNode
from vinculum.models.convert.to_openvino.shape_layers import operand, with_ones_at_end
from vinculum.models.convert.to_openvino.writer import Converted, OpenvinoWriter, Value
from vinculum.models.execution import Division, Shape, labelled
from vinculum.models.onnx.scopes import name_of
from vinculum.models.openvino_ir.types import TensorType
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue, Broadcasting, OperatorSpec
from vinculum.spec.registry import find
from vinculum.tensors.inference import infer
from vinculum.tensors.storage import dtype_of


def div(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Return what a Div makes: a Divide that truncates integers, a legacy divisor brought to where `axis` puts it.

    An error of ours if it is not legal, or its `axis` is not representable because a rank is not known.
    """
    dividend, divisor = operand(node, 0), operand(node, 1)
    spec, attributes, element_type, shape = _checked(node, (dividend, divisor))
    rule, changes = spec.broadcasting_rule(attributes), []
    if rule is Broadcasting.LIMITED:
        divisor, change = _aligned(node, spec, dividend, divisor, attributes.get("axis"), writer)
        changes += [change] if change else []
    truncating = element_type.is_integer
    if truncating:
        why = f"{spec.title} truncates; a Divide floors by default"
        changes.append(Change(_label(node, spec), 'Divide with m_pythondiv="false"', why))
    data = {
        "auto_broadcast": "none" if rule is Broadcasting.EQUAL else "numpy",
        "m_pythondiv": "false" if truncating else "true",
    }
    return _divide(node, data, dividend, divisor, TensorType(element_type, shape), writer), changes


def reciprocal(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Return what a Reciprocal makes: 1 divided by its operand; an error of ours if it is not legal."""
    divisor = operand(node, 0)
    spec, _, element_type, shape = _checked(node, (divisor,))
    one = Value(TensorType(element_type, ()), "", np.array(1, dtype_of(element_type)))
    data = {"auto_broadcast": "numpy", "m_pythondiv": "true"}
    change = Change(_label(node, spec), "Divide of a constant 1", "operation set 1 has no Reciprocal")
    return _divide(node, data, one, divisor, TensorType(element_type, shape), writer), [change]


def _divide(
    node: PlainNode, data: Mapping[str, str], a: Value, b: Value, known: TensorType, writer: OpenvinoWriter
) -> Value:
    return writer.layer("Divide", node.layer_name, data, (a, b), Value(known, node.tensor_name))


def _checked(
    node: PlainNode, operands: Sequence[Value]
) -> tuple[OperatorSpec, dict[str, AttributeValue], ElementType, Shape | None]:
    """Return a division's row, its attributes, and what is known of its result."""
    spec = find(node.node.op_type, opset=node.opset)
    bare = Division(name_of(node.node), node.path, spec)
    if len(node.node.input) != len(spec.inputs):
        raise ModelError(f"{bare.label} has {len(node.node.input)} inputs; allowed: {len(spec.inputs)}")
    with labelled(bare):
        given = {name: helper.get_attribute_value(attribute) for name, attribute in node.attributes.items()}
        attributes = checked_attributes(spec, given)
        types = [value.known.element_type for value in operands]
        for declared, element_type in zip(spec.inputs, types, strict=True):
            if isinstance(element_type, str):
                raise ElementTypeError(f"{declared.name} has element type {element_type}, which does not divide")
        element_type, shape = infer(spec, attributes, types, [value.known.shape for value in operands])
    return spec, attributes, element_type, shape


def _aligned(
    node: PlainNode, spec: OperatorSpec, a: Value, b: Value, axis: AttributeValue | None, writer: OpenvinoWriter
) -> tuple[Value, Change | None]:
    """Return the divisor where Div-1 and Div-6 broadcast it from, as NumPy's rule needs it, and what was done."""
    shape_a, shape_b = a.known.shape, b.known.shape
    if not isinstance(axis, int) or (shape_b is not None and all(size == 1 for size in shape_b)):
        # At the end of the dividend's shape, or one element: both rules agree.
        return b, None
    if shape_a is None or shape_b is None:
        unknown = " and ".join(name for name, shape in (("A", shape_a), ("B", shape_b)) if shape is None)
        raise ModelError(
            f"{_label(node, spec)} has axis={axis}, which an IR can express only if the rank of {unknown} is known; "
            "declare the shape"
        )
    ones = trailing_ones(len(shape_a), len(shape_b), axis)
    if not ones:
        return b, None
    what = f"axis={axis} written as B of {len(shape_b) + ones} dimensions, the last {ones} of size 1"
    change = Change(_label(node, spec), what, "an IR broadcasts as NumPy does, without axis")
    return with_ones_at_end(node, b, ones, writer), change


def _label(node: PlainNode, spec: OperatorSpec) -> str:
    return Division(name_of(node.node), node.path, spec).label
