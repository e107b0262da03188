"""A class of operands: numbers that test one thing, under one English name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.operation import Placement
from vinculum.spec.element_types import ElementType

CHOSEN_TYPES = ("float", "int32", "real")  # They run the cases that hardly depend on the element type.

Array = NDArray[Any]
Operands = tuple[Array, ...]
Maker = Callable[[ElementType], Operands]
"""Makes operands of an element type, always the same."""

Types = Callable[[ElementType], bool]
"""Returns whether a class applies to an element type."""


def every(_: ElementType) -> bool:
    """Return True: the class applies to all element types of its table."""
    return True


def of_bits(*bits: int) -> Types:
    """Return the predicate of element types of these widths in bits."""
    return lambda t: t.bits in bits


def above(bits: int) -> Types:
    """Return the predicate of element types of more than this number of bits."""
    return lambda t: t.bits > bits


class Joined(Enum):
    """How the shapes of a class's operands are joined."""

    EQUAL = "equal shapes"
    SCALAR_DIVISOR = "scalar divisor"
    SCALAR_DIVIDEND = "scalar dividend"


@dataclass(frozen=True, eq=False)
class ValueClass:
    """Operands that test one thing: a row of a table.

    Attributes
    ----------
    tried : str
        The scenario in English, as in the id.
    subject : Subject
        What the operands test.
    make : callable
        Makes the operands.
    level : Level
        The first level that runs them with an operator's newest version, as run-time operands.
    older : Level
        The first level that runs them with its older versions.
    constants : tuple of Placement or None
        The other placements that the default level runs for the newest version; the remaining ones run at the last, or
        never if this is None.
    joined : Joined
        How the shapes are joined.
    types : callable
        Returns whether the class applies to an element type.
    label : str
        The text for the shapes in the id, where it differs from that of `joined`.
    """

    tried: str
    subject: Subject
    make: Maker
    level: Level = Level.DEFAULT
    older: Level = Level.FULL
    constants: tuple[Placement, ...] | None = ()
    joined: Joined = Joined.EQUAL
    types: Types = every
    label: str = ""

    def operands(self, element_type: ElementType) -> Operands:
        """Return the operands, which are made once and read-only."""
        return _made(self, element_type)

    def shapes(self, operands: int) -> str:
        """Return the text for the shapes in the id, for an operator with this number of operands."""
        return self.label or (self.joined.value if operands > 1 else "one dimension")


@cache  # Versions of an operator share the arrays.
def _made(values: ValueClass, element_type: ElementType) -> Operands:
    arrays = values.make(element_type)
    for array in arrays:
        array.flags.writeable = False
    return arrays
