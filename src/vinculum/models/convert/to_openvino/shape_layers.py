"""ONNX nodes that give a value another shape, as layers of operation set 1; a constant is reshaped itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vinculum.errors import BroadcastError, ModelError
from vinculum.models.convert.to_openvino.nodes import PlainNode
from vinculum.models.convert.to_openvino.writer import Converted, OpenvinoWriter, Value
from vinculum.models.openvino_ir.reshaping import Reshaping, Sizes, normalised
from vinculum.models.openvino_ir.types import TensorType
from vinculum.spec.element_types import INT64

_ZERO_COPIES = {"special_zero": "true"}


def unsqueeze(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Return what an Unsqueeze makes; ModelError or BroadcastError if its axes are computed, or wrong."""
    value, axes = operand(node, 0), _constant_axes(node)
    if axes is None:
        raise ModelError(f"{node.title} has no axes")
    if value.known.shape is not None:
        _check_axes(node, axes, len(value.known.shape) + len(axes))
    return reshaped(node, "Unsqueeze", value, _integers(axes), writer), []


def squeeze(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Return what a Squeeze makes; ModelError or BroadcastError if its axes are computed, or wrong."""
    value, axes = operand(node, 0), _constant_axes(node)
    shape = value.known.shape
    if axes is not None and not axes:
        raise ModelError(
            f"{node.title} has empty axes, which an IR takes as all axes of size 1; leave them out or name one"
        )
    if axes and shape is not None:
        wrong = [place for place in _check_axes(node, axes, len(shape)) if shape[place] not in (1, None)]
        if wrong:
            raise BroadcastError(f"{node.title} drops dimension {wrong[0]}, whose size is {shape[wrong[0]]} and not 1")
    numbers = None if axes is None else _integers(axes)
    return reshaped(node, "Squeeze", value, numbers, writer), []


def reshape(node: PlainNode, writer: OpenvinoWriter) -> Converted:
    """Return what a Reshape makes; ModelError or BroadcastError if it has no pattern, or one that does not fit."""
    attribute, allow_zero = node.attributes.get("shape"), node.attributes.get("allowzero")
    pattern = _integers(list(attribute.ints)) if attribute is not None else operand(node, 1)
    zeros = {"special_zero": "false"} if allow_zero is not None and allow_zero.i else _ZERO_COPIES
    return reshaped(node, "Reshape", operand(node, 0), pattern, writer, zeros), []


def operand(node: PlainNode, place: int) -> Value:
    """Return an operand that a node must have; ModelError if it is left out."""
    value = node.operand(place)
    if value is None:
        raise ModelError(f"{node.title} has no input {place}")
    return value


def with_ones_at_end(node: PlainNode, value: Value, count: int, writer: OpenvinoWriter) -> Value:
    """Return an operand of known rank with dimensions of size 1 after its own."""
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
    """Return what a node makes of a value: a constant in another shape itself, any other value by a layer.

    - `kind`: the layer: Unsqueeze, Squeeze or Reshape.
    - `value`: what is reshaped.
    - `numbers`: the axes or the pattern.
    - `data`: what the layer says beside.

    BroadcastError if the shape cannot become that.
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
        return (None,) * length if isinstance(length, int) else None
    if value.known.shape is None:
        return None
    sizes = tuple(size if isinstance(size, int) else None for size in value.known.shape)
    return reshaping.checked(sizes, None if numbers is None else numbers.array)


def _constant_axes(node: PlainNode) -> list[int] | None:
    """Return the axes that a node names, None if it names none."""
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
    """Return the axes counted from the front, each known to be there once."""
    try:
        places = normalised(axes, rank)
    except BroadcastError as error:
        raise BroadcastError(f"{node.title}: {error}") from None
    if len(set(places)) < len(places):
        raise BroadcastError(f"{node.title} names an axis twice in {axes}")
    return places


def _integers(numbers: list[int]) -> Value:
    return Value(TensorType(INT64, (len(numbers),)), "", np.array(numbers, np.int64))
