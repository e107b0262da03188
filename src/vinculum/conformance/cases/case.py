"""A test case: an operation with an id, the clause that it tests, and the answer that the specification expects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from fnmatch import fnmatchcase
from functools import cached_property, total_ordering
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.operation import Operation
from vinculum.spec.element_types import FLOAT8E4M3FN, ElementType
from vinculum.spec.model import AttributeValue, IntegerRounding, OperatorSpec


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

    - `operator`: The operator version: ``"Div-14"``, ``"SONNX Div (int)"``.
    - `rounding`: ``"floor"`` or ``"truncating"`` where an attribute chooses it, else empty.
    - `element_type`: The dividend's element type.
    - `scenario`: What the case tries.
    - `shapes`: The shapes, or how they are joined.
    - `placement`: Which operands are constants of the model.
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

    - `quotient`: The quotient by the exact reference; None if the operation must be refused.
    - `unspecified`: The elements whose quotient the specification leaves unspecified; None if there are none. If there
      are any, the whole operation may also be refused.
    """

    quotient: NDArray[Any] | None
    unspecified: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One operation of the conformance suite.

    - `clause`: The tag of the clause of ``operation.spec`` that it tests.
    - `element_type`: The dividend's element type: the column of the matrix in which the case is counted.
    - `asked`: Returns the operation. It is called only for cases that run, as making operands is slow.
    - `expected`: Returns the expectation. It is called only for cases that run, as the exact reference is slow.
    - `level`: The first level that includes the case.
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


class Subject(Enum):
    """What a case tests."""

    QUOTIENT = auto()  # a quotient rounded, truncated or floored
    ORDINARY = auto()  # that the element type is supported at all
    DISCARDED = auto()  # how much of the exact quotient rounding discards
    SPECIAL = auto()  # zeros, infinities and NaN
    ZERO_BY_ZERO = auto()
    TOO_LARGE = auto()  # beyond the largest number of a float type
    ZERO_DIVISOR = auto()  # of integers and reals
    MINIMUM = auto()  # the smallest integer divided by -1
    TYPES = auto()  # operands of two element types
    UNLISTED = auto()  # an element type that the version does not list
    SIZE = auto()  # quotients, of tensors of many sizes
    ATTRIBUTES = auto()  # an attribute that the version does not have, or of another type or value


_TAGS: dict[Subject, tuple[str, ...]] = {
    Subject.ORDINARY: ("bfloat16", "narrow-integers", "any-numeric-type"),
    Subject.DISCARDED: ("introduced-error",),
    Subject.SPECIAL: ("special-values",),
    Subject.ZERO_BY_ZERO: ("zero-by-zero-error-condition", "special-values"),
    Subject.TOO_LARGE: ("f8e4m3-without-infinity",),
    Subject.ZERO_DIVISOR: ("[C3]", "integer-zero-divisor-silent", "division-by-zero", "[C2]"),
    Subject.MINIMUM: ("[V1]", "minimum-by-minus-one-silent"),
    Subject.TYPES: ("one-element-type", "[C2]"),
    Subject.UNLISTED: ("one-element-type", "[GR3]"),
    Subject.ATTRIBUTES: ("attributes-of-this-version",),
}
_ONLY_FOR = {
    "bfloat16": ("bfloat16",),
    "narrow-integers": ("int8", "int16", "uint8", "uint16"),
    "f8e4m3-without-infinity": (FLOAT8E4M3FN.name,),
}


def clause(
    spec: OperatorSpec,
    element_type: ElementType,
    subject: Subject | tuple[str, ...],
    attributes: Mapping[str, AttributeValue],
) -> str:
    """Return the tag of the clause of an operator version that a case tests.

    - `element_type`: The dividend's element type; some clauses apply to some types only.
    - `subject`: What the case tests; or tags of clauses, one of which the version has.
    - `attributes`: They select the rounding of integers, and with it the clause.

    KeyError if the version has no such clause.
    """
    if not element_type.is_integer or not spec.integer_rounding:
        of_quotients: tuple[str, ...] = "ieee-754", "exact-quotient"
    elif spec.rounding(attributes) is IntegerRounding.FLOOR:
        of_quotients = ("floor-division",)
    else:
        of_quotients = "truncating-division", "regular-division"
    wanted = (*_TAGS.get(subject, ()), *of_quotients) if isinstance(subject, Subject) else subject
    having = {c.tag for c in spec.clauses}
    for tag in wanted:
        if tag in having and element_type.name in _ONLY_FOR.get(tag, (element_type.name,)):
            return tag
    raise KeyError(f"no clause of {spec.title} is about {subject}")
