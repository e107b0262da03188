"""An operand under conversion to another operator set: a constant's array is changed, any other value gets nodes."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from onnx import TensorProto

from vinculum.models.convert.opset.adaptation import Adaptation
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import declared_element_type
from vinculum.models.onnx.tensors import array_of
from vinculum.spec.element_types import ElementType
from vinculum.tensors.storage import dtype_of


class Operand:
    """A dividend or a divisor.

    - `name`: ``"A"`` or ``"B"``.
    - `shape`: as far as it is known.
    - `code`: the number of its element type in TensorProto, 0 if it is not known.
    - `element_type`: if it is known and can be divided, else None.
    """

    def __init__(self, name: str, value: str, step: Adaptation) -> None:
        self.name = name
        self._constant = step.tensor(value)  # Decoded only if its elements matter: it may be large.
        self._array: NDArray[Any] | None = None
        self._value = value
        self._changed = False  # Whether the array differs from that of the value.
        self.code, self.shape = step.element_type(value), step.shape(value)
        found = declared_element_type(self.code) if self.code else None
        self.element_type = found if isinstance(found, ElementType) else None

    @property
    def array(self) -> NDArray[Any] | None:
        """Its elements, if they are the same in every run."""
        if self._array is None and self._constant is not None:
            self._array = array_of(self._constant)
        return self._array

    def emit(self, rewriter: Rewriter) -> str:
        """Return the name by which a node can use the operand."""
        if self._changed and self.array is not None:
            self._value, self._changed = rewriter.constant(self.array, self.name), False
        return self._value

    def cast(self, target: ElementType, rewriter: Rewriter) -> None:
        """Cast the operand to an element type that holds all of its values."""
        self.code = target.onnx_code or TensorProto.UNDEFINED
        if self.array is not None:
            self._set(self.array.astype(dtype_of(target)))
            return
        self._value = rewriter.cast(self._value, target, f"{self.name}_cast")

    def append_ones(self, count: int, rewriter: Rewriter) -> None:
        """Append dimensions of size 1 to a shape of known rank."""
        if not count:
            return
        rank = len(self.shape or ())
        self.shape = (*(self.shape or ()), *[1] * count)
        if self.array is not None:
            self._set(self.array.reshape(*self.array.shape, *[1] * count))
        else:
            self._value = rewriter.unsqueeze(self._value, range(rank, rank + count), f"{self.name}_unsqueezed")

    def _set(self, array: NDArray[Any]) -> None:
        self._array, self._changed = array, True
