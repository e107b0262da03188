"""The attributes of Parameter and Divide, and the shapes that Unsqueeze, Squeeze and Reshape compute.

Where the specification leaves something open, the behaviour is OpenVINO's: axes may be repeated, Squeeze keeps a listed
dimension that is not 1, and a Reshape that copies dimensions computes -1 from the other dimensions only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.models.declared_data import LARGEST_RANK, check_size
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
from vinculum.text import quoted, shape_text

BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
"""The spellings of true and false in attributes of an IR file."""
AXIS_OF_OPENVINO = "auto_broadcast.auto_broadcast_axis"
"""The name under which OpenVINO reads and writes the attribute axis."""

Bounds = tuple[int, int | None]
"""The smallest and the largest size of a dimension; None for no limit."""
Sizes = tuple[int | None, ...]
"""A shape of known rank; None for a size that is not known."""
RESHAPES = ("Unsqueeze", "Squeeze", "Reshape")


def parameter(layer: Layer) -> tuple[TensorType, tuple[Bounds, ...] | None]:
    """Return the type that a Parameter declares, and the bounds of each dimension (None for any rank).

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
    """Refuse an array whose shape is outside of the bounds that a Parameter declares."""
    for axis, ((low, high), size) in enumerate(zip(bounds, actual, strict=True)):
        if size < low or (high is not None and size > high):
            declared = f"{low} to {'any' if high is None else high}"
            raise BroadcastError(f"{title} has shape {actual}; dimension {axis} must be {declared}")


def divide(
    layer: Layer, operands: tuple[TensorType, TensorType], path: str = ""
) -> tuple[Division, dict[str, AttributeValue], TensorType]:
    """Return a Divide's division, the attributes that it sets, and the type of its quotient.

    A VinculumError if Divide-1 does not allow the operands or the attributes.
    """
    bare = Division(layer.name, path, DIVIDE_1)
    with labelled(bare):
        attributes = checked_attributes(DIVIDE_1, _divide_attributes(layer))
        types = [known.element_type for known in operands]
        if UNKNOWN in types:
            return bare, attributes, TensorType(UNKNOWN, None)
        for operand, given in zip(DIVIDE_1.inputs, types, strict=True):
            if isinstance(given, str):
                raise ElementTypeError(f"{operand.name} has element type {given}, which cannot be divided")
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


@dataclass(frozen=True)
class Reshaping:
    """A change of shape by a layer."""

    kind: str  # One of `RESHAPES`.
    title: str  # The layer's title in messages.
    special_zero: bool = True  # Of a Reshape: whether 0 copies the size at that place.

    def checked(self, shape: Sizes, pattern: NDArray[Any] | None) -> Sizes | None:
        """Return the new shape for axes or a pattern (None for a Squeeze without axes), None if its rank is open.

        BroadcastError if the axes or the pattern do not fit the shape; the message names the layer.
        """
        try:
            if pattern is not None and pattern.size > LARGEST_RANK:
                raise BroadcastError(f"{pattern.size} axes or sizes are given; at most {LARGEST_RANK} are possible")
            sizes = self._sizes(shape, [] if pattern is None else pattern.astype(np.int64).reshape(-1).tolist())
            if sizes is not None and len(sizes) > LARGEST_RANK:
                raise BroadcastError(f"the result has {len(sizes)} dimensions; at most {LARGEST_RANK} are possible")
        except BroadcastError as error:
            raise BroadcastError(f"{self.title}: {error}") from None
        return sizes

    def _sizes(self, shape: Sizes, pattern: Sequence[int]) -> Sizes | None:
        if self.kind == "Unsqueeze":
            return unsqueezed(shape, pattern)
        return squeezed(shape, pattern) if self.kind == "Squeeze" else reshaped(shape, pattern, self.special_zero)


def reshaping(
    layer: Layer, operands: Sequence[TensorType], pattern: NDArray[Any] | None
) -> tuple[Reshaping, TensorType]:
    """Return the reshaping of an Unsqueeze, Squeeze or Reshape, and the type of its result.

    - `layer`: one of `RESHAPES`.
    - `operands`: the value to reshape, and then the axes or the pattern, if there are any.
    - `pattern`: the axes or the pattern, if they are constant.

    A VinculumError if an attribute is missing or malformed, or the layer does not take the type or shape of an operand.
    """
    found = Reshaping(layer.type, layer.title, layer.type != "Reshape" or _special_zero(layer))
    data, *rest = operands
    for numbers in rest:
        if not isinstance(numbers.element_type, ElementType) or not numbers.element_type.is_integer:
            raise ElementTypeError(f"the second input of {layer.title} is of {numbers.element_type}; allowed: integers")
        if numbers.shape is not None and len(numbers.shape) > 1:
            raise BroadcastError(f"the second input of {layer.title} has rank {len(numbers.shape)}; allowed: 0 and 1")
    shape = _known_shape(found, data, rest, pattern)
    if shape is not None:
        check_size(shape, bits_of(data.element_type), layer.title)
    return found, TensorType(data.element_type, shape)


def _known_shape(
    found: Reshaping, data: TensorType, rest: Sequence[TensorType], pattern: NDArray[Any] | None
) -> Sizes | None:
    if rest and pattern is None:
        length = rest[0].shape[0] if found.kind == "Reshape" and rest[0].shape else None
        return (None,) * length if isinstance(length, int) and length <= LARGEST_RANK else None
    if data.shape is not None:
        return found.checked(tuple(size if isinstance(size, int) else None for size in data.shape), pattern)
    if found.kind != "Reshape" or pattern is None or pattern.size > LARGEST_RANK:
        return None
    return tuple(
        size if size > 0 or (size == 0 and not found.special_zero) else None for size in pattern.reshape(-1).tolist()
    )


def _special_zero(layer: Layer) -> bool:
    text = layer.data.get("special_zero")
    if text is None:
        raise ModelError(f"{layer.title} has no attribute special_zero")
    value = BOOLEANS.get(text.strip().lower())
    if value is None:
        raise ModelError(f"attribute special_zero of {layer.title} is {quoted(text)}; allowed: true, false")
    return value


def unsqueezed(shape: Sizes, axes: Sequence[int]) -> Sizes:
    """Return a shape with a 1 at each of `axes`, counted in the result.

    BroadcastError if there is no axis, or one is outside of the result's rank.
    """
    if not axes:
        raise BroadcastError("its axes are empty; give at least one")
    places = sorted(set(normalised(axes, len(shape) + len(set(axes)))))
    sizes = list(shape)
    for place in places:
        if place > len(sizes):
            raise BroadcastError(f"axis {place} is beyond the result, which has rank {len(shape) + len(places)}")
        sizes.insert(place, 1)
    return tuple(sizes)


def squeezed(shape: Sizes, axes: Sequence[int]) -> Sizes | None:
    """Return a shape without those of the dimensions `axes` that may be 1; without axes, all of size 1 are dropped.

    None if the rank of the result is not known.

    BroadcastError if an axis is outside of the shape's rank.
    """
    if not axes:
        return None if None in shape else tuple(size for size in shape if size != 1)
    dropped = set(normalised(axes, max(len(shape), 1)))  # For a scalar, 0 and -1 are allowed.
    return tuple(size for place, size in enumerate(shape) if place not in dropped or size not in (1, None))


def reshaped(shape: Sizes, pattern: Sequence[int], special_zero: bool) -> Sizes:
    """Return the shape that results from a Reshape by a pattern.

    - `shape`: the original one.
    - `pattern`: the sizes; one may be -1 and is computed from the others.
    - `special_zero`: whether 0 copies the size of the shape at that place; else it is a size of 0.

    BroadcastError if the pattern is malformed, or has another number of elements than the shape.
    """
    given = f"the pattern {shape_text(pattern)} for shape {shape_text(shape)}"
    if any(size < -1 for size in pattern) or list(pattern).count(-1) > 1:
        raise BroadcastError(f"{given} is malformed; allowed: sizes, and -1 once")
    copied = {place for place, size in enumerate(pattern) if size == 0 and special_zero}
    if any(place >= len(shape) for place in copied):
        raise BroadcastError(f"{given} copies dimension {max(copied)}, which does not exist")
    sizes: list[int | None] = [shape[place] if place in copied else size for place, size in enumerate(pattern)]
    rest = [size for place, size in enumerate(shape) if place not in copied]
    named = prod(size for place, size in enumerate(pattern) if place not in copied and size != -1)
    if -1 not in pattern:
        if None not in rest and prod(size or 0 for size in rest) != named:
            raise BroadcastError(f"{given} has another number of elements")
        return tuple(sizes)
    left = list(pattern).index(-1)
    if named == 0:
        raise BroadcastError(f"{given} leaves -1 undetermined, because another size is 0")
    whole = None if None in rest else prod(size or 0 for size in rest)
    if whole is not None and whole % named:
        raise BroadcastError(f"{given} has another number of elements, for any value of -1")
    sizes[left] = None if whole is None else whole // named
    return tuple(sizes)


def normalised(axes: Sequence[int], rank: int) -> list[int]:
    """Return axes counted from the front; BroadcastError if one is outside of the rank."""
    for axis in axes:
        if not -rank <= axis < rank:
            raise BroadcastError(f"axis {axis} is outside of rank {rank}; allowed: {-rank} to {rank - 1}")
    return [axis + rank if axis < 0 else axis for axis in axes]
