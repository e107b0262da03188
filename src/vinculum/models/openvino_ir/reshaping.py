"""What the layers Unsqueeze, Squeeze and Reshape say: one value takes another shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import BroadcastError, ElementTypeError, ModelError
from vinculum.models.declared_shapes import LARGEST_RANK, check_size
from vinculum.models.openvino_ir.layers import BOOLEANS
from vinculum.models.openvino_ir.shapes import Sizes, reshaped, squeezed, unsqueezed
from vinculum.models.openvino_ir.types import TensorType, bits_of
from vinculum.models.openvino_ir.xml import Layer
from vinculum.spec.element_types import ElementType
from vinculum.text import quoted

RESHAPES = ("Unsqueeze", "Squeeze", "Reshape")


@dataclass(frozen=True)
class Reshaping:
    """What becomes of a shape."""

    kind: str  # One of `RESHAPES`.
    title: str  # What a message calls the layer.
    special_zero: bool = True  # Of a Reshape: whether 0 stands for the size that is there.

    def checked(self, shape: Sizes, pattern: NDArray[Any] | None) -> Sizes | None:
        """Return the new shape for axes or a pattern (None for a Squeeze that has none), None if its rank is open.

        BroadcastError if the shape cannot become that; the line names the layer.
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
    """Return what an Unsqueeze, Squeeze or Reshape does, and what is known of its result.

    - `layer`: one of `RESHAPES`.
    - `operands`: what is reshaped, and then the axes or the pattern, if there are any.
    - `pattern`: the axes or the pattern, if they are constant.

    An error of ours if an attribute is missing or malformed, or an operand is of another type or shape than the layer
    takes.
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
