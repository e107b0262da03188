"""A class of operands: numbers that are after one thing, under one English name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement

CHOSEN_TYPES = ("float", "int32", "real")  # Those that are asked what has little to do with element types.

Array = NDArray[Any]
Operands = tuple[Array, ...]


class Joined(Enum):
    """How the operands of a class lie under each other."""

    EQUAL = "equal shapes"
    SCALAR_DIVISOR = "scalar divisor"
    SCALAR_DIVIDEND = "scalar dividend"


@dataclass(frozen=True, eq=False)
class ValueClass:
    """Operands that are after one thing.

    Attributes
    ----------
    tried : str
        What they try, in English.
    subject : Subject or str
        What they are after; a string is the tag of a clause.
    make : callable
        Returns the operands, always the same.
    level : Level
        The first level that asks them of an operator's newest version, at run time.
    older : Level
        The same for its older versions.
    constants : tuple of Placement
        How else they are placed at the default level, to the newest version; other placements come at the last.
    joined : Joined
        How they lie under each other.
    label : str
        What an id calls that, where it says more than `joined`.
    """

    tried: str
    subject: Subject | str
    make: Callable[[], Operands]
    level: Level = Level.DEFAULT
    older: Level = Level.FULL
    constants: tuple[Placement, ...] = ()
    joined: Joined = Joined.EQUAL
    label: str = ""

    @cached_property
    def operands(self) -> Operands:
        """The operands, made once; they may not be written."""
        arrays = self.make()
        for array in arrays:
            array.flags.writeable = False
        return arrays

    def shapes(self, operands: int) -> str:
        """Return what an id calls the way in which so many operands are joined."""
        return self.label or (self.joined.value if operands > 1 else "one dimension")

    def asked_at(self, placement: Placement, *, newest: bool) -> Level:
        """Return the first level that asks these operands in a placement."""
        if placement is Placement.RUN_TIME:
            return self.level if newest else self.older
        return max(self.level, Level.DEFAULT) if newest and placement in self.constants else Level.FULL
