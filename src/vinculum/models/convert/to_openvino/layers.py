"""The layers of operation set 1 for each supported ONNX operator. A constant is reshaped without a layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper

from vinculum.errors import BroadcastError, ElementTypeError, ModelError
from vinculum.models.convert.change import Change
from vinculum.models.convert.opset.unidirectional_broadcasting import trailing_ones
from vinculum.models.convert.to_openvino.nodes import PlainNode
from vinculum.models.convert.to_openvino.writer import Converted, OpenvinoWriter, Value
from vinculum.models.declared_data import LARGEST_RANK
from vinculum.models.execution import Division, Shape, labelled
from vinculum.models.onnx.divisions import declared_element_type
from vinculum.models.onnx.scopes import name_of
from vinculum.models.onnx.tensors import decode, tensor_of
from vinculum.models.openvino_ir.layers import Reshaping, Sizes, normalised
from vinculum.models.openvino_ir.types import TensorType, openvino_name
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ELEMENT_TYPES, FLOAT8E4M3FN, INT64, ElementType, Kind
from vinculum.spec.model import AttributeValue, Broadcasting, OperatorSpec
from vinculum.spec.registry import find
from vinculum.tensors.inference import infer
from vinculum.tensors.storage import dtype_of

_ZERO_COPIES = {"special_zero": "true"}


def checked_type(element_type: ElementType | str, owner: str) -> ElementType | str:
    """Return an element type; ModelError if an IR does not have it, with the owner's name in the message."""
    if element_type == "bool" or (isinstance(element_type, ElementType) and element_type.openvino):
        return element_type
    allowed = ", ".join([*(t.name for t in ELEMENT_TYPES if t.openvino), "bool"])
    raise ModelError(f"{owner} has element type {element_type}, which an IR does not have; allowed: {allowed}")


def converted(value: Value, result: Value, name: str, writer: OpenvinoWriter) -> Value:
    """Add a Convert to the result's element type, which may be the value's own; return the result."""
    data = {"destination_type": openvino_name(result.known.element_type)}
    return writer.layer("Convert", name, data, (value,), result)


def _constant(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    alone = NodeProto()
    for name, attribute in node.attributes.items():
        alone.attribute.add().CopyFrom(attribute)
        alone.attribute[-1].name = name  # A value given by a function's caller has the name of the caller's attribute.
    tensor = tensor_of(alone)
    if tensor is None or tensor.data_type == TensorProto.STRING:
        raise ModelError(f"{node.title} has no value that is representable in an IR; allowed: dense tensors of numbers")
    owner = f"the value of {node.title}"
    element_type = checked_type(declared_element_type(tensor.data_type), owner)
    array = decode(tensor, Path(), owner)
    return Value(TensorType(element_type, array.shape), node.tensor_name, array), []


def _identity(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    return operand(node, 0), [Change(node.title, "omitted", "operation set 1 has no such layer, and needs none")]


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
                f"{node.title} casts floats to {target}; for floats beyond its range ONNX's own tests drop the high "
                "bits, and the layer Convert saturates; clip them and cast to an 8-bit integer first"
            )
    result = Value(TensorType(target, value.known.shape), node.tensor_name)
    return converted(value, result, node.layer_name, writer), []


def _target(node: PlainNode) -> ElementType | str:
    to = node.attributes.get("to")
    # Cast-1 writes the type by name, later versions by number.
    codes = dict(TensorProto.DataType.items())
    code = 0 if to is None else to.i if to.type == AttributeProto.INT else codes.get(to.s.decode(errors="replace"), 0)
    try:
        return declared_element_type(code)
    except ModelError:
        raise ModelError(f"{node.title} has no attribute 'to' with an element type") from None


def _within(source: ElementType | str, target: ElementType) -> bool:
    """Return whether all values of a type are in the range of an 8-bit float type."""
    if isinstance(source, str):
        return True
    if source.is_integer and target.binary_format is not None:
        largest = np.array([target.binary_format.largest], np.uint8).view(dtype_of(target))
        return max(-source.minimum, source.maximum) <= float(largest[0])
    return source is FLOAT8E4M3FN  # It has no infinity and fits into the other 8-bit type.


def div(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Convert a Div to a Divide that truncates integers; a legacy divisor is aligned as by `axis`.

    A VinculumError if the node is invalid, or its `axis` is not representable because a rank is not known.
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
    """Convert a Reciprocal to a Divide of 1 by its operand; a VinculumError if the node is invalid."""
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
    """Return a division's specification, its attributes, and the element type and shape of its result."""
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
                raise ElementTypeError(f"{declared.name} has element type {element_type}, which cannot be divided")
        element_type, shape = infer(spec, attributes, types, [value.known.shape for value in operands])
    return spec, attributes, element_type, shape


def _aligned(
    node: PlainNode, spec: OperatorSpec, a: Value, b: Value, axis: AttributeValue | None, writer: OpenvinoWriter
) -> tuple[Value, Change | None]:
    """Return the divisor of a Div-1 or Div-6, reshaped so that NumPy's rule aligns it as by `axis`, and the change."""
    shape_a, shape_b = a.known.shape, b.known.shape
    if not isinstance(axis, int) or (shape_b is not None and all(size == 1 for size in shape_b)):
        # Aligned with the end of the dividend's shape, or one element: both rules agree.
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


def unsqueeze(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Convert an Unsqueeze; ModelError or BroadcastError if its axes are computed or invalid."""
    value, axes = operand(node, 0), _constant_axes(node)
    if axes is None:
        raise ModelError(f"{node.title} has no axes")
    if value.known.shape is not None:
        _check_axes(node, axes, len(value.known.shape) + len(axes))
    return reshaped(node, "Unsqueeze", value, _integers(axes), writer), []


def squeeze(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Convert a Squeeze; ModelError or BroadcastError if its axes are computed or invalid."""
    value, axes = operand(node, 0), _constant_axes(node)
    shape = value.known.shape
    if axes is not None and not axes:
        raise ModelError(f"{node.title} has empty axes, which an IR takes as all axes of size 1; omit them or name one")
    if axes and shape is not None:
        wrong = [place for place in _check_axes(node, axes, len(shape)) if shape[place] not in (1, None)]
        if wrong:
            raise BroadcastError(f"{node.title} drops dimension {wrong[0]} of size {shape[wrong[0]]}; allowed: size 1")
    numbers = None if axes is None else _integers(axes)
    return reshaped(node, "Squeeze", value, numbers, writer), []


def reshape(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Convert a Reshape; ModelError or BroadcastError if it has no pattern, or one that does not fit."""
    attribute, allow_zero = node.attributes.get("shape"), node.attributes.get("allowzero")
    pattern = _integers(list(attribute.ints)) if attribute is not None else operand(node, 1)
    zeros = {"special_zero": "false"} if allow_zero is not None and allow_zero.i else _ZERO_COPIES
    return reshaped(node, "Reshape", operand(node, 0), pattern, writer, zeros), []


def operand(node: PlainNode, place: int) -> Value:
    """Return a required operand of a node; ModelError if it is omitted."""
    value = node.operand(place)
    if value is None:
        raise ModelError(f"{node.title} has no input {place}")
    return value


def with_ones_at_end(node: PlainNode, value: Value, count: int, writer: OpenvinoWriter) -> Value:
    """Return an operand of known rank with trailing dimensions of size 1."""
    shape = value.known.shape or ()
    known = TensorType(value.known.element_type, (*shape, *[1] * count))
    if value.array is not None:
        return Value(known, "", value.array.reshape(value.array.shape + (1,) * count))
    axes = _integers(list(range(len(shape), len(shape) + count)))
    return writer.layer("Unsqueeze", f"{node.layer_name}/divisor", {}, (value, axes), Value(known))


def reshaped(
    node: PlainNode,
    kind: str,
    value: Value,
    numbers: Value | None,
    writer: OpenvinoWriter,
    data: Mapping[str, str] | None = None,
) -> Value:
    """Return the reshaped value: a constant is reshaped at once, any other value by a layer.

    - `kind`: the layer: Unsqueeze, Squeeze or Reshape.
    - `value`: the one to reshape.
    - `numbers`: the axes or the pattern.
    - `data`: the attributes of the layer.

    BroadcastError if the value cannot have the shape.
    """
    given = data or {}
    reshaping = Reshaping(kind, node.title, given.get("special_zero") != "false")
    shape = _known_shape(reshaping, value, numbers)
    known = TensorType(value.known.element_type, shape)
    if value.array is not None and shape is not None and None not in shape:
        return Value(known, node.tensor_name, value.array.reshape([size or 0 for size in shape]))
    inputs = (value,) if numbers is None else (value, numbers)
    return writer.layer(kind, node.layer_name, given, inputs, Value(known, node.tensor_name))


def _known_shape(reshaping: Reshaping, value: Value, numbers: Value | None) -> Sizes | None:
    if numbers is not None and numbers.array is None:
        length = numbers.known.shape[0] if numbers.known.shape else None
        return (None,) * length if isinstance(length, int) and length <= LARGEST_RANK else None
    if value.known.shape is None:
        return None
    sizes = tuple(size if isinstance(size, int) else None for size in value.known.shape)
    return reshaping.checked(sizes, None if numbers is None else numbers.array)


def _constant_axes(node: PlainNode) -> list[int] | None:
    """Return the axes of a node, None if it has none."""
    attribute = node.attributes.get("axes")
    if attribute is not None:
        return list(attribute.ints)
    given = node.operand(1)
    if given is None:
        return None
    if given.array is None:
        raise ModelError(f"{node.title} computes its axes; an IR needs constant ones to know the rank")
    return [int(axis) for axis in given.array.reshape(-1)]


def _check_axes(node: PlainNode, axes: list[int], rank: int) -> list[int]:
    """Return the axes counted from the front; BroadcastError if one is out of range or given twice."""
    try:
        places = normalised(axes, rank)
    except BroadcastError as error:
        raise BroadcastError(f"{node.title}: {error}") from None
    if len(set(places)) < len(places):
        raise BroadcastError(f"{node.title} names an axis twice in {axes}")
    return places


def _integers(numbers: list[int]) -> Value:
    return Value(TensorType(INT64, (len(numbers),)), "", np.array(numbers, np.int64))


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
"""The supported operators, each with the function that converts it."""
