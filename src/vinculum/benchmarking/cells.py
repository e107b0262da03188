"""The cells of a benchmark: an operator, an element type, shapes and a size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isqrt, prod
from types import MappingProxyType

from vinculum.errors import AttributeValueError
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
    Kind,
)
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

Shape = tuple[int, ...]
Laying = Callable[[int], tuple[Shape, Shape]]

NATIVE_TYPES = (
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT16, BFLOAT16, FLOAT, DOUBLE,
)  # fmt: skip
TYPES: Mapping[str, ElementType] = MappingProxyType({found.numpy: found for found in NATIVE_TYPES})
"""The element types that kernels divide, by their names in NumPy and ml_dtypes."""

OPERATORS: Mapping[str, OperatorSpec] = MappingProxyType(
    {"Div": DIV_14, "Divide": DIVIDE_1, "Reciprocal": RECIPROCAL_13}
)
"""Truncating division, floor division and reciprocals; for floats Div and Divide are the same."""

MILLION, LARGE = 1_000_000, 16_000_000
_SIZES = (16, 1_000, 8_000, 65_536, 500_000, MILLION, LARGE)
_EQUAL = "equal"
_LONGEST_SIDE = 125  # The longest side of an image.
_ROUNDING = 1e-9  # Compensates a rounding error that makes the cube root of a cube too small.


def _grid(size: int) -> tuple[int, int]:
    columns = isqrt(size)
    return size // columns, columns


def _image(size: int) -> tuple[int, int, int, int]:
    side = min(_LONGEST_SIDE, int(size ** (1 / 3) + _ROUNDING))
    planes = size // side**2
    channels = isqrt(planes)
    return planes // channels, channels, side, side


SHAPES: Mapping[str, Laying] = MappingProxyType(
    {
        _EQUAL: lambda size: ((size,), (size,)),
        "scalar-divisor": lambda size: ((size,), (1,)),
        "scalar-dividend": lambda size: ((1,), (size,)),
        "row": lambda size: (_grid(size), _grid(size)[1:]),
        "column": lambda size: (_grid(size), (_grid(size)[0], 1)),
        "channel": lambda size: (_image(size), (_image(size)[1], 1, 1)),
        "outer": lambda size: ((_grid(size)[0], 1), (1, _grid(size)[1])),
    }
)
"""The operands' shapes for about `size` quotients, which is at least 1."""


@dataclass(frozen=True)
class Cell:
    """One line of the table.

    Attributes
    ----------
    operator, element_type, shape : str
        Keys of `OPERATORS`, `TYPES` and `SHAPES`.
    size : int
        Approximate number of quotients.
    """

    operator: str
    element_type: str
    shape: str
    size: int

    @property
    def spec(self) -> OperatorSpec:
        """The operator version."""
        return OPERATORS[self.operator]

    @property
    def is_integer(self) -> bool:
        """Whether the operands are integers."""
        return TYPES[self.element_type].is_integer

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the operator's operands."""
        return SHAPES[self.shape](self.size)[: len(self.spec.inputs)]

    @property
    def result(self) -> Shape:
        """The shape of the quotients."""
        ranks = max(map(len, self.shapes))
        padded = [(1,) * (ranks - len(shape)) + shape for shape in self.shapes]
        return tuple(map(max, zip(*padded, strict=True)))

    @property
    def elements(self) -> int:
        """The number of quotients."""
        return prod(self.result)

    @property
    def size_in_bytes(self) -> int:
        """The size of the quotients in bytes."""
        return self.elements * TYPES[self.element_type].bits // 8

    def __str__(self) -> str:
        return f"{self.operator}, {self.element_type}, {self.shape}, {self.size:,} elements"


def cells(
    operators: Sequence[str], types: Sequence[str], shapes: Sequence[str], sizes: Sequence[int]
) -> tuple[Cell, ...]:
    """Return every distinct combination.

    Reciprocal takes floats only, and one operand; Divide differs from Div for signed integers only.

    Raises
    ------
    AttributeValueError
        If no combination is left.
    """
    return _nonempty(_existing(operators, types, shapes, sizes))


def every_cell(operators: Sequence[str], types: Sequence[str]) -> tuple[Cell, ...]:
    """Return equal shapes of every size, and other shapes from a million elements on, where calls cost little.

    Raises
    ------
    AttributeValueError
        As for `cells`.
    """
    others = [shape for shape in SHAPES if shape != _EQUAL]
    equal = _existing(operators, types, [_EQUAL], _SIZES)
    return _nonempty(equal + _existing(operators, types, others, [MILLION, LARGE]))


def _nonempty(found: tuple[Cell, ...]) -> tuple[Cell, ...]:
    if not found:
        raise AttributeValueError(
            "nothing is left to measure: Reciprocal takes floats and the shape equal, and Divide is measured for "
            "signed integers; add an operator, a type or a shape"
        )
    return found


def _existing(
    operators: Sequence[str], types: Sequence[str], shapes: Sequence[str], sizes: Sequence[int]
) -> tuple[Cell, ...]:
    every = (Cell(o, t, shape, size) for o, shape, size, t in product(operators, shapes, sizes, types))
    return tuple(dict.fromkeys(filter(_is_measured, every)))


def _is_measured(cell: Cell) -> bool:
    kind = TYPES[cell.element_type].kind
    if cell.operator == "Reciprocal":
        return kind is Kind.FLOAT and cell.shape == _EQUAL
    return cell.operator != "Divide" or kind is Kind.SIGNED
