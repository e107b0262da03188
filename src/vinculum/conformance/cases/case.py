"""A test case: an operation with an id, the clause that it tests, and the answer that the specification expects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property, total_ordering
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.spec.element_types import ElementType


@total_ordering
class Level(Enum):
    """How many of the cases are run: each level includes the levels before it."""

    QUICK = "quick"  # Seconds.
    DEFAULT = "default"  # About a minute.
    FULL = "full"

    def __init__(self, word: str) -> None:
        self._place = len(type(self).__members__)

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ``vinculum conform`` that select the level."""
        return () if self is Level.DEFAULT else (f"--{self.value}",)

    def __lt__(self, other: Level) -> bool:
        return self._place < other._place

    def __le__(self, other: Level) -> bool:  # Not derived by total_ordering: a full run calls it a million times.
        return self._place <= other._place


@dataclass(frozen=True)
class CaseId:
    """The name of a case, unique in the suite.

    As text it has five parts: ``"Divide-1 floor/int64/MIN divided by -1/equal shapes of 1 element/constant divisor"``.

    Attributes
    ----------
    operator : str
        The operator version: ``"Div-14"``, ``"SONNX Div (int)"``.
    rounding : str
        ``"floor"`` or ``"truncating"`` where an attribute chooses it, else empty.
    element_type : str
        The dividend's element type.
    scenario : str
        What the case tries.
    shapes : str
        The shapes, or how they are joined.
    placement : str
        Which operands are constants of the model.
    """

    operator: str
    rounding: str
    element_type: str
    scenario: str
    shapes: str
    placement: str

    @property
    def row(self) -> str:
        """The operator version, with the rounding where an attribute chooses it."""
        return f"{self.operator} {self.rounding}".rstrip()

    @property
    def parts(self) -> tuple[str, str, str, str, str]:
        """The parts that a pattern matches one by one."""
        return self.row, self.element_type, self.scenario, self.shapes, self.placement

    def __str__(self) -> str:
        return "/".join(self.parts)

    def matches(self, pattern: str) -> bool:
        """Tell whether a glob pattern matches the whole text."""
        return fnmatchcase(str(self), pattern)


Advance = Callable[[int, CaseId], None]
"""Called with the number of cases judged or written so far, and the id of the latest one."""


@dataclass(frozen=True, eq=False)
class Expectation:
    """The answer that the specification requires.

    Attributes
    ----------
    quotient : ndarray or None
        The quotient by the exact reference; None if the operation must be refused.
    unspecified : ndarray of bool or None
        The elements whose quotient the specification leaves unspecified; None if there are none. If there are any, the
        whole operation may also be refused.
    """

    quotient: NDArray[Any] | None
    unspecified: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One operation of the conformance suite.

    Attributes
    ----------
    id : CaseId
        The name.
    clause : str
        The tag of the clause of ``operation.spec`` that it tests.
    element_type : ElementType
        The dividend's element type: the column of the matrix in which the case is counted.
    asked : callable
        Returns the operation. It is called only for cases that run, as making operands is slow.
    expected : callable
        Returns the expectation. It is called only for cases that run, as the exact reference is slow.
    level : Level
        The first level that includes the case.
    """

    id: CaseId
    clause: str
    element_type: ElementType
    asked: Callable[[], Operation]
    expected: Callable[[], Expectation]
    level: Level

    @cached_property
    def operation(self) -> Operation:
        """The operation that the runtime executes."""
        return self.asked()

    @cached_property
    def expectation(self) -> Expectation:
        """The answer that the specification requires."""
        return self.expected()
