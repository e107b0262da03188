"""The cells of a run: an operator, an element type, shapes and a size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import isqrt, prod
from types import MappingProxyType
from typing import Annotated

from msgspec import Meta, Struct

from vinculum.spec.element_types import ElementType, Kind
from vinculum.spec.model import OperatorSpec
from vinculum.spec.onnx_div import DIV_14
from vinculum.spec.onnx_reciprocal import RECIPROCAL_13
from vinculum.spec.openvino_divide import DIVIDE_1

Shape = tuple[int, ...]

_DIVIDED = {found.numpy: found for found in DIV_14.element_types}
_ORDER = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64"
TYPES: Mapping[str, ElementType] = MappingProxyType({name: _DIVIDED[name] for name in _ORDER.split()})
"""The element types that kernels divide, by their names in NumPy and ml_dtypes."""

OPERATORS: Mapping[str, OperatorSpec] = MappingProxyType(
    {"Div": DIV_14, "Divide": DIVIDE_1, "Reciprocal": RECIPROCAL_13}
)
"""Truncating division, floor division and reciprocals; for floats Div and Divide are the same."""

_SIZES = (16, 1_000, 8_000, 65_536, 500_000, 1_000_000, 16_000_000)
_LARGE = _SIZES[-2:]  # Where calls cost little.
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


@dataclass(frozen=True)
class Shapes:
    """A way to broadcast: what sentences call it, and the operands' shapes for about so many quotients."""

    words: str
    of: Callable[[int], tuple[Shape, Shape]]


SHAPES: Mapping[str, Shapes] = MappingProxyType(
    {
        "equal": Shapes("equal shapes", lambda size: ((size,), (size,))),
        "scalar-divisor": Shapes("a scalar divisor", lambda size: ((size,), (1,))),
        "scalar-dividend": Shapes("a scalar dividend", lambda size: ((1,), (size,))),
        "row": Shapes("(M,N)/(N)", lambda size: (_grid(size), _grid(size)[1:])),
        "column": Shapes("(M,N)/(M,1)", lambda size: (_grid(size), (_grid(size)[0], 1))),
        "channel": Shapes("(N,C,H,W)/(C,1,1)", lambda size: (_image(size), (_image(size)[1], 1, 1))),
        "outer": Shapes("(M,1)/(1,N)", lambda size: ((_grid(size)[0], 1), (1, _grid(size)[1]))),
    }
)


class Cell(Struct, frozen=True):
    """One line of a table, by keys of `OPERATORS`, `TYPES` and `SHAPES`."""

    operator: str
    element_type: str
    shape: str
    size: Annotated[int, Meta(ge=1)]  # Approximate number of quotients.

    def __post_init__(self) -> None:
        for name, allowed in ((self.operator, OPERATORS), (self.element_type, TYPES), (self.shape, SHAPES)):
            if name not in allowed:
                raise ValueError(f"{name!r} is none of {', '.join(allowed)}")

    @property
    def spec(self) -> OperatorSpec:
        """The operator version."""
        return OPERATORS[self.operator]

    @property
    def type(self) -> ElementType:
        """The element type."""
        return TYPES[self.element_type]

    @property
    def is_floor(self) -> bool:
        """Whether integers are rounded down; otherwise they are truncated."""
        return self.operator == "Divide"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the operator's operands."""
        return SHAPES[self.shape].of(self.size)[: len(self.spec.inputs)]

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
    def shape_words(self) -> str:
        """What sentences call its shapes."""
        return SHAPES[self.shape].words

    @property
    def heading(self) -> str:
        """What stands above the cells of its operator, shape and size."""
        words = f", {self.shape_words}" if len(self.shapes) == 2 else ""
        return f"{self.operator}{words}, {self.size:,} elements"

    def __str__(self) -> str:
        return f"{self.operator}, {self.element_type}, {self.shape}, {self.size:,} elements"


def every_cell() -> tuple[Cell, ...]:
    """Return equal shapes of every size, and other shapes from a million elements on."""
    others = [shape for shape in SHAPES if shape != "equal"]
    return (*cells(TYPES, ["equal"], _SIZES), *cells(TYPES, others, _LARGE))


def quick_cells() -> tuple[Cell, ...]:
    """Return cells that are measured in half a minute: every operator and shape, of a few small sizes and types."""
    return (*cells(["int32", "float32"], SHAPES, [1_000]), *cells(["bfloat16"], ["equal"], [100_000]))


def cells(types: Iterable[str], shapes: Iterable[str], sizes: Iterable[int]) -> tuple[Cell, ...]:
    """Return every combination with an operator.

    Reciprocal takes floats only, and one operand; Divide differs from Div for signed integers only.
    """
    every = (Cell(o, t, shape, size) for o, shape, size, t in product(OPERATORS, shapes, sizes, types))
    return tuple(filter(_is_measured, every))


def _is_measured(cell: Cell) -> bool:
    if cell.operator == "Reciprocal":
        return cell.type.kind is Kind.FLOAT and cell.shape == "equal"
    return cell.operator == "Div" or cell.type.kind is Kind.SIGNED
