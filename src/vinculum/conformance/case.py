"""A case: a question with an English name, the clause that it tests, and the answer that the specification expects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.question import Question
from vinculum.spec.element_types import ElementType


class Level(IntEnum):
    """How many of the cases are run: each level holds those before it."""

    QUICK = 0  # Seconds.
    DEFAULT = 1  # About a minute.
    FULL = 2


@dataclass(frozen=True, eq=False)
class Expectation:
    """What the specification says of an answer.

    Attributes
    ----------
    quotient : ndarray or None
        The exact reference's; None if the question must be refused.
    silent : ndarray of bool or None
        The elements whose quotient the specification leaves open; None if it leaves none. Where an element is open the
        whole question may be refused as well.
    """

    quotient: NDArray[Any] | None
    silent: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One question of the conformance suite.

    Attributes
    ----------
    id : str
        English, in five parts: ``"Div-14/int64/MIN divided by -1/equal shapes/constant divisor"``: operator version,
        element type, what is tried, how the shapes are joined, how the operands are delivered.
    clause : str
        The tag of the clause of ``question.spec`` that it tests.
    element_type : ElementType
        The column of the matrix that it counts for: the dividend's.
    question : Question
        What the runtime is asked.
    expected : callable
        Returns what the specification says of the answer. The exact reference takes its time for that, which is not
        spent on cases that are not asked.
    level : Level
        The first level that holds it.
    """

    id: str
    clause: str
    element_type: ElementType
    question: Question
    expected: Callable[[], Expectation]
    level: Level

    @cached_property
    def expectation(self) -> Expectation:
        """What the specification says of the answer."""
        return self.expected()
