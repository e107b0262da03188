"""A class of operands: numbers that are after one thing, under one English name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement
from vinculum.spec.element_types import ElementType

CHOSEN_TYPES = ("float", "int32", "real")  # Those that are asked what has little to do with element types.

Array = NDArray[Any]
Operands = tuple[Array, ...]
Maker = Callable[[ElementType], Operands]
"""Makes operands of an element type, always the same."""


Types = Callable[[ElementType], bool]
"""Tells of which element types a class is."""


def every(_: ElementType) -> bool:
    """Tell that a class is of all the element types of its table."""
    return True


def of_bits(*bits: int) -> Types:
    """Return what tells of the element types of so many bits."""
    return lambda t: t.bits in bits


def above(bits: int) -> Types:
    """Return what tells of the element types of more bits."""
    return lambda t: t.bits > bits


class Joined(Enum):
    """How the operands of a class lie under each other."""

    EQUAL = "equal shapes"
    SCALAR_DIVISOR = "scalar divisor"
    SCALAR_DIVIDEND = "scalar dividend"


@dataclass(frozen=True, eq=False)
class ValueClass:
    """Operands that are after one thing: a row of a table.

    Attributes
    ----------
    tried : str
        What they try, in English.
    subject : Subject
        What they are after.
    make : callable
        Makes the operands.
    level : Level
        The first level that asks them of an operator's newest version, at run time.
    older : Level
        The same for its older versions.
    constants : tuple of Placement
        How else they are asked at the default level, of the newest version; other placements come at the last.
    joined : Joined
        How they lie under each other.
    types : callable
        Tells of which element types they are.
    label : str
        What an id calls the way they are joined, where it says more than `joined`.
    """

    tried: str
    subject: Subject
    make: Maker
    level: Level = Level.DEFAULT
    older: Level = Level.FULL
    constants: tuple[Placement, ...] = ()
    joined: Joined = Joined.EQUAL
    types: Types = every
    label: str = ""

    def operands(self, element_type: ElementType) -> Operands:
        """Return the operands, made once; they may not be written."""
        return _made(self, element_type)

    def shapes(self, operands: int) -> str:
        """Return what an id calls the way in which so many operands are joined."""
        return self.label or (self.joined.value if operands > 1 else "one dimension")


@cache  # Versions of an operator share the arrays.
def _made(values: ValueClass, element_type: ElementType) -> Operands:
    arrays = values.make(element_type)
    for array in arrays:
        array.flags.writeable = False
    return arrays
