"""An operand under conversion to another operator set: a constant's array is changed, any other value gets nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from vinculum.models.execution import Shape
from vinculum.models.onnx.divisions import declared_element_type, declared_shape
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import Types
from vinculum.models.onnx.tensors import array_of
from vinculum.spec.element_types import INT64, ElementType
from vinculum.tensors.storage import dtype_of

_TILE_BY_INTEGERS = 6
"""The first operator set with integer arithmetic and a Tile that takes integers."""
_LONGEST_CONCAT = 1024
"""The most operands of a Concat that repeats a dimension in operator sets without such a Tile."""


def known_type(value: str, types: Types, constants: Mapping[str, TensorProto]) -> tuple[int, Shape | None]:
    """Return the TensorProto number of a value's element type, 0 if unknown, and its shape as far as it is known."""
    if value in constants:
        return constants[value].data_type, tuple(constants[value].dims)
    return (types[value].tensor_type.elem_type, declared_shape(types[value])) if value in types else (0, None)


class Operand:
    """A dividend or a divisor.

    - `name`: ``"A"`` or ``"B"``.
    - `shape`: as far as it is known.
    - `code`: the number of its element type in TensorProto, 0 if it is not known.
    - `element_type`: if it is known and can be divided, else None.
    """

    def __init__(self, name: str, value: str, types: Types, constants: Mapping[str, TensorProto]) -> None:
        self.name = name
        self._constant = constants.get(value)  # Decoded only if its elements matter: it may be large.
        self._array: NDArray[Any] | None = None
        self._given = self._value = value
        self._changed = False  # Whether the array differs from that of the value.
        self.code, self.shape = known_type(value, types, constants)
        self._given_rank = len(self.shape or ())
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
        if self.shape is not None:
            # ONNX does not infer the result type of Cast-1.
            rewriter.declare(self._value, self.code, self.shape)

    def append_ones(self, count: int, rewriter: Rewriter) -> None:
        """Append dimensions of size 1 to a shape of known rank."""
        rank = len(self.shape or ())
        self._reshape((*(self.shape or ()), *[1] * count), "Unsqueeze", range(rank, rank + count), rewriter)

    def prepend_ones(self, count: int, rewriter: Rewriter) -> None:
        """Prepend dimensions of size 1 to a shape of known rank."""
        self._reshape((*[1] * count, *(self.shape or ())), "Unsqueeze", range(count), rewriter)

    def drop_ones(self, axes: Sequence[int], rewriter: Rewriter) -> None:
        """Drop dimensions of size 1."""
        kept = tuple(size for d, size in enumerate(self.shape or ()) if d not in axes)
        self._reshape(kept, "Squeeze", axes, rewriter)

    def tile(self, repeats: Sequence[int], rewriter: Rewriter, opset: int) -> None:
        """Repeat the operand along each of its dimensions by the given counts.

        ValueError if the operator set has no Tile and Concat would need too many operands.
        """
        if all(count == 1 for count in repeats):
            return
        value, before = self.emit(rewriter), self.shape or ()
        self._array = self._constant = None
        if opset < _TILE_BY_INTEGERS:
            self._value = _concatenated(value, repeats, rewriter)
            # ONNX does not infer the shape of a Concat of those operator sets.
            pairs = zip(before, repeats, strict=True)
            shape = [size * count if isinstance(size, int) else None for size, count in pairs]
            rewriter.declare(self._value, self.code, shape)
        else:
            counts = rewriter.constant(np.array(repeats, np.int64), f"{self.name}_repeats")
            self._value = rewriter.add("Tile", [value, counts], f"{self.name}_repeated")

    def tile_onto(self, other: Operand, rank: int, rewriter: Rewriter, opset: int) -> None:
        """Repeat the operand to the common broadcast shape with another operand, computed at run time.

        Where two sizes differ one of them is 1, so the other is the repeat count.

        ValueError if the operator set has no integer arithmetic.
        """
        if opset < _TILE_BY_INTEGERS:
            raise ValueError(
                "the repeat count of an operand is computed at run time, and operator sets below "
                f"{_TILE_BY_INTEGERS} cannot compute it; declare the shapes"
            )
        own, others = self._sizes(rank, rewriter), other._sizes(rank, rewriter)
        ones = rewriter.constant(np.ones(rank, np.int64), "ones")
        equal = rewriter.add("Equal", [own, others], "equal")
        differ = rewriter.cast(rewriter.add("Not", [equal], "differ"), INT64, "differ_cast")
        surplus = rewriter.add("Mul", [rewriter.add("Sub", [others, ones], "surplus"), differ], "surplus_where_differ")
        counts = rewriter.add("Add", [surplus, ones], f"{self.name}_repeats")
        value = self.emit(rewriter)
        self._array = self._constant = None
        self._value = rewriter.add("Tile", [value, counts], f"{self.name}_repeated")

    def _sizes(self, rank: int, rewriter: Rewriter) -> str:
        """Return the name of the operand's original shape, padded in front with 1 to the rank."""
        shape = rewriter.add("Shape", [self._given], f"{self.name}_shape")
        if rank == self._given_rank:
            return shape
        ones = rewriter.constant(np.ones(rank - self._given_rank, np.int64), f"{self.name}_missing")
        return rewriter.add("Concat", [ones, shape], f"{self.name}_sizes", axis=0)

    def _reshape(self, shape: Shape, op_type: str, axes: Sequence[int], rewriter: Rewriter) -> None:
        if not axes:
            return
        self.shape = shape
        if self.array is not None:
            self._set(self.array.reshape([size for size in shape if isinstance(size, int)]))
        elif op_type == "Unsqueeze":
            self._value = rewriter.unsqueeze(self._value, axes, f"{self.name}_unsqueezed")
        else:
            self._value = rewriter.squeeze(self._value, axes, f"{self.name}_squeezed")

    def _set(self, array: NDArray[Any]) -> None:
        self._array, self._changed = array, True


def _concatenated(value: str, repeats: Sequence[int], rewriter: Rewriter) -> str:
    for d, count in enumerate(repeats):
        if not 0 < count <= _LONGEST_CONCAT:
            raise ValueError(
                f"an operand needs repeating {count} times along dimension {d}; operator sets below "
                f"{_TILE_BY_INTEGERS} support 1 to {_LONGEST_CONCAT}"
            )
        if count > 1:
            value = rewriter.add("Concat", [value] * count, f"repeated_{d}", axis=d)
    return value
