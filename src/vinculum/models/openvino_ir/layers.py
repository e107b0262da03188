"""What the layers Parameter and Divide say in their attributes."""

from __future__ import annotations

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.models.declared_shapes import check_size
from vinculum.models.execution import Division, labelled
from vinculum.models.openvino_ir.types import TensorType, bits_of, declared_type
from vinculum.models.openvino_ir.xml import Layer, whole_number
from vinculum.models.values import UNKNOWN
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import AttributeValue
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.inference import infer
from vinculum.tensors.type_checking import check_element_types
from vinculum.text import quoted

BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
"""What an attribute of an IR file may say for true and false."""
AXIS_OF_OPENVINO = "auto_broadcast.auto_broadcast_axis"
"""As OpenVINO reads and writes the attribute that the document lacks."""

Bounds = tuple[int, int | None]
"""The smallest and the largest size of a dimension; None for no limit."""


def parameter(layer: Layer) -> tuple[TensorType, tuple[Bounds, ...] | None]:
    """Return what a Parameter declares, and the bounds of each dimension (None for any rank).

    ModelError if an attribute is missing or malformed, or the shape's size overflows.
    """
    given = layer.data.get("element_type")
    element_type = given if given == "string" else declared_type(layer, "element_type")
    text = layer.data.get("shape")
    if text is None:
        raise ModelError(f"{layer.title} has no attribute shape")
    if text.strip() == "...":
        return TensorType(element_type, None), None
    bounds = tuple(_bounds(part.strip(), layer) for part in text.split(",")) if text.strip() else ()
    shape = tuple(low if low == high else None for low, high in bounds)
    check_size([low for low, _ in bounds], bits_of(element_type), layer.title)
    return TensorType(element_type, shape), bounds


def check_bounds(title: str, bounds: tuple[Bounds, ...], actual: tuple[int, ...]) -> None:
    """Refuse an array that is outside of the bounds that a Parameter declares."""
    for axis, ((low, high), size) in enumerate(zip(bounds, actual, strict=True)):
        if size < low or (high is not None and size > high):
            declared = f"{low} to {'any' if high is None else high}"
            raise BroadcastError(f"{title} has shape {actual}; dimension {axis} must be {declared}")


def divide(
    layer: Layer, operands: tuple[TensorType, TensorType], path: str = ""
) -> tuple[Division, dict[str, AttributeValue], TensorType]:
    """Return a Divide's division, the attributes that it sets, and what is known of its quotient.

    An error of ours if Divide-1 does not allow the operands or the attributes.
    """
    bare = Division(layer.name, path, DIVIDE_1)
    with labelled(bare):
        attributes = checked_attributes(DIVIDE_1, _divide_attributes(layer))
        types = [known.element_type for known in operands]
        if UNKNOWN in types:
            return bare, attributes, TensorType(UNKNOWN, None)
        for operand, given in zip(DIVIDE_1.inputs, types, strict=True):
            if isinstance(given, str):
                raise ElementTypeError(f"{operand.name} has element type {given}, which does not divide")
        element_type = check_element_types(DIVIDE_1, tuple(t for t in types if isinstance(t, ElementType)))
        shapes = [known.shape for known in operands]
        _, joined = infer(DIVIDE_1, attributes, [element_type, element_type], shapes)
    known_shapes = (*shapes, joined)
    division = Division(
        layer.name, path, DIVIDE_1, element_type, known_shapes if any(s is not None for s in known_shapes) else None
    )
    return division, attributes, TensorType(element_type, joined)


def _divide_attributes(layer: Layer) -> dict[str, object]:
    values: dict[str, object] = {}
    for given, text in layer.data.items():
        name = "axis" if given == AXIS_OF_OPENVINO else given
        declared = DIVIDE_1.attribute(name)
        spelling = declared.name if declared else name
        value: object = text
        if declared and declared.type == "boolean":
            value = BOOLEANS.get(text.strip().lower(), text)
        elif spelling == "axis":
            value = whole_number(text, "axis")
        if values.setdefault(spelling, value) != value:
            raise AttributeValueError(f"{spelling} is given twice, as {values[spelling]} and {value}")
    return values


def _bounds(text: str, layer: Layer) -> Bounds:
    owner = f"a dimension of attribute shape of {layer.title}"
    if text in ("?", "-1"):
        return 0, None
    low, dots, high = text.partition("..")
    smallest = whole_number(low, owner) if low or not dots else 0
    largest = smallest if not dots else whole_number(high, owner) if high else None
    if smallest < 0 or (largest is not None and largest < smallest):
        raise ModelError(f"{owner} is {quoted(text)}; allowed: a size, '?', or a range such as '1..8'")
    return smallest, largest
