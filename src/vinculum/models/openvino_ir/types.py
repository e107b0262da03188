"""What the layers of an OpenVINO graph declare of their values."""

from __future__ import annotations

from dataclasses import dataclass

from vinculum.errors import ModelError, SpecLookupError
from vinculum.models.execution import Shape
from vinculum.models.openvino_ir.xml import Declared, Layer
from vinculum.models.values import UNKNOWN
from vinculum.spec.element_types import ELEMENT_TYPES, ElementType, by_openvino_name
from vinculum.text import quoted

_BOOLEAN = ("boolean", "bool")


@dataclass(frozen=True)
class TensorType:
    """What is known of a value before it exists: its element type, and its shape as far as the file settles it."""

    element_type: ElementType | str
    shape: Shape | None


def declared_value(declared: Declared) -> TensorType:
    """Return what a port says of its value.

    One without sizes is that of a scalar, or of a value whose rank is not known.
    """
    sizes = tuple(None if size < 0 else size for size in declared.sizes) or None
    precision = declared.precision.lower()
    if precision in (*_BOOLEAN, "string"):
        return TensorType("string" if precision == "string" else "bool", sizes)
    try:
        return TensorType(by_openvino_name(precision), sizes)
    except SpecLookupError:
        return TensorType(UNKNOWN, sizes)


def declared_type(layer: Layer, attribute: str) -> ElementType | str:
    """Return the element type that an attribute names, ``"bool"`` for the one that does not divide.

    ModelError if it is missing, or not one that can be read.
    """
    given = layer.data.get(attribute)
    if given is None:
        raise ModelError(f"{layer.title} has no attribute {attribute}")
    if given.lower() in _BOOLEAN:
        return "bool"
    try:
        return by_openvino_name(given)
    except SpecLookupError:
        allowed = ", ".join([*(t.openvino for t in ELEMENT_TYPES if t.openvino), "boolean"])
        raise ModelError(
            f"{layer.title} has element type {quoted(given)}, which cannot be read; allowed: {allowed}"
        ) from None


def bits_of(element_type: ElementType | str) -> int:
    """Return how many bits of a file an element takes."""
    return element_type.bits if isinstance(element_type, ElementType) else 8


def openvino_name(element_type: ElementType | str) -> str:
    """Return what an IR calls an element type."""
    return "boolean" if isinstance(element_type, str) else str(element_type.openvino)
