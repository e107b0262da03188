"""A run of the suite: the cases that one runtime executed, with their verdicts. Every report is a view of it.

Verdicts are data, which the reports express in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgspec
import numpy as np

from vinculum.conformance.cases.case import CaseId, Level
from vinculum.sandbox import End
from vinculum.spec.element_types import ElementType


class Kind(Enum):
    """Every verdict; the first three are passes."""

    EXACT = "exact"
    REFUSED_AS_REQUIRED = "refused as required"
    UNSPECIFIED = "unspecified"
    UNSUPPORTED = "not supported"
    REFUSED = "refused"
    ULPS = "off by ulps"
    WRONG_VALUE = "wrong value"
    WRONG_SHAPE = "wrong shape"
    WRONG_TYPE = "wrong type"
    ACCEPTED = "accepted what must be refused"
    CRASHED = "crashed"
    HUNG = "hung"
    OUT_OF_MEMORY = "out of memory"
    DIFFERS = "answers differ between runs"

    @property
    def passes(self) -> bool:
        """Whether it conforms to the specification."""
        return self in (Kind.EXACT, Kind.REFUSED_AS_REQUIRED, Kind.UNSPECIFIED)

    @property
    def is_death(self) -> bool:
        """Whether the process ended without an answer."""
        return self in (Kind.CRASHED, Kind.HUNG, Kind.OUT_OF_MEMORY)

    @property
    def deviates(self) -> bool:
        """Whether it is a fault; "not supported" is neither a pass nor a fault."""
        return not self.passes and self is not Kind.UNSUPPORTED


READINGS: Mapping[str, tuple[Kind, ...]] = {
    "ieee-754": (Kind.ULPS,),
    "special-values": (Kind.ULPS, Kind.WRONG_VALUE),
    "f8e4m3-without-infinity": (Kind.WRONG_VALUE,),
    "regular-division": (Kind.WRONG_VALUE,),
    "empty-result-divides-nothing": (Kind.REFUSED,),
    "any-numeric-type": (Kind.REFUSED,),
    "pdpd-axis": (Kind.REFUSED,),
    "negative-axis-undefined": (Kind.ACCEPTED,),
}
"""By the clause that a case tests, the verdicts that contradict only our reading of what its document leaves unsaid."""


@dataclass(frozen=True)
class Example:
    """An element that differs, with numbers as text; floats include their encoding."""

    index: tuple[int, ...]
    operands: tuple[str, ...]
    expected: str
    actual: str


@dataclass(frozen=True)
class Gave:
    """A runtime's quotient where the specification leaves it unspecified.

    - `dividend`: A number, or ``"x"`` for all dividends in the operation.
    - `divisor`: A number.
    - `quotient`: The quotient; for several dividends the quotient that they share.
    - `where`: The dividends to which it applies, ``"x > 0"``; empty for all.
    """

    dividend: str
    divisor: str
    quotient: str
    where: str = ""

    @property
    def quotients(self) -> str:
        """The division: ``"x/0"``."""
        return f"{self.dividend}/{self.divisor}"


@dataclass(frozen=True)
class Verdict:
    """The verdict on an answer.

    - `said`: The message of a refusal, or what ended the process: ``"SIGFPE"``. For an answer of a wrong type or shape,
      or instead of a required refusal, a description of the answer: ``"int32 of shape (2, 3)"``. For answers that
      differ, the verdicts on them: ``"off by ulps, exact"``; the rest is then that of the first.
    - `elements`, `differing`: How many quotients were compared, and how many of them differ.
    - `ulps`: For floats: the number of quotients with an error from 2**k to below 2**(k + 1) ulps, by k.
    - `largest`: The largest error in ulps; None if the difference is not a number of ulps.
    - `example`: An element that differs: of the numbers that a person reads most easily.
    - `expected`: For an answer of a wrong type or shape, the right one: ``"float32"``, ``"(2, 3)"``.
    - `unspecified`: The quotients that the specification leaves unspecified.
    """

    kind: Kind
    said: str = ""
    elements: int = 0
    differing: int = 0
    ulps: Mapping[int, int] = field(default_factory=dict)
    largest: int | None = None
    example: Example | None = None
    expected: str = ""
    unspecified: tuple[Gave, ...] = ()


def number_text(value: Any, element_type: ElementType) -> str:
    """Return a number as text, that of a float with its encoding: ``"0.1 (0x3dcccccd)"``.

    - `value`: An element of an array, of the element type.
    """
    if element_type.binary_format is None:
        return str(value)
    encoding = int(np.asarray(value).view(f"u{element_type.bits // 8}"))
    return f"{value!s} (0x{encoding:0{element_type.bits // 4}x})"


@dataclass(frozen=True)
class Cause:
    """Why cases deviate: a way to compute quotients, or a rule, that predicts the outcome of each of them.

    - `name`: The name in files: ``"arithmetic: a * (1/b)"``, ``"rule: axis ignored"``.
    - `statement`: The cause in English.
    - `element_types`: The element types of its cases.
    - `passing`: How many passing cases it also predicts.
    """

    name: str
    statement: str
    element_types: tuple[str, ...]
    passing: int


class KeptAnswer(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An answer as a run keeps it; the message of a refusal stands in the verdict.

    - `end`: How the call ended.
    - `type`: The element type by NumPy's name, ``"float32"``, or ``"real"``; empty for that of the expected quotient.
    - `shape`: The shape; left out with the type.
    - `data`: Compressed by zlib, in Base64: the elements in row-major order, little-endian, reals as text. Without a
      type, their exclusive or with those of the expected quotient; empty if all bits are equal.
    """

    end: End = End.RETURNED
    type: str = ""
    shape: tuple[int, ...] = ()
    data: str = ""


@dataclass(frozen=True)
class Result:
    """One case and its verdict.

    - `clause`, `statement`: The clause that it tests, and what that requires, in our words.
    - `cause`: The name of the cause that predicts it, if it deviates; empty if none of the run's causes does.
    - `reproducer`: Python source that reproduces the answer with the runtime's own interface, and says so if it need
      not; None if the case does not deviate.
    - `digest`: A digest of the operation and the expectation, by which a later version of the suite knows the same
      case.
    - `answer`: The answer; None for an object that is no array of numbers.
    - `consistent`: What unexplained quotients are consistent with, and why it is not the cause: ``"consistent with:
      ...; but 40 other cases refute it"``; empty if there is nothing.
    """

    id: CaseId
    clause: str
    statement: str
    verdict: Verdict
    cause: str = ""
    reproducer: str | None = None
    digest: str = ""
    answer: KeptAnswer | None = None
    consistent: str = ""

    @property
    def is_reading(self) -> bool:
        """Whether it deviates only from our reading of what no document says."""
        return self.verdict.kind in READINGS.get(self.clause, ())


@dataclass(frozen=True)
class Selection:
    """Which cases were run, and their limits.

    - `level`: The last level whose cases were run.
    - `only`: Glob patterns; the id of each case matches one of them. Empty if the whole level was run.
    - `seconds`: The time limit of a case.
    - `memory`: The memory limit of a subprocess, in bytes.
    """

    level: Level
    only: tuple[str, ...] = ()
    seconds: float = 30.0
    memory: int = 4 << 30

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ``vinculum conform`` that select this."""
        default = Selection(self.level)
        seconds = () if self.seconds == default.seconds else ("--case-limit", f"{self.seconds:g}")
        memory = () if self.memory == default.memory else ("--memory-limit", str(self.memory >> 20))
        patterns = (word for pattern in self.only for word in ("--only", pattern))
        return (*self.level.options, *patterns, *seconds, *memory)


@dataclass(frozen=True)
class Run:
    """A run of the suite on one runtime.

    - `backend`: The name as requested: ``"onnxruntime"``, ``"openvino[device=GPU]"``, ``"package.module:attribute"``.
    - `title`: The name in sentences: ``"ONNX Runtime"``.
    - `versions`: What the answers depend on: versions of packages, Python and platform; the processor's model and
      features.
    - `results`: One for each case, in the suite's order.
    - `causes`: Why cases deviate, ordered by decreasing number of cases.
    - `date`: The start time: ISO 8601, UTC.
    - `seconds`: The duration.
    """

    backend: str
    title: str
    versions: Mapping[str, str]
    selection: Selection
    results: tuple[Result, ...]
    causes: tuple[Cause, ...]
    date: str
    seconds: float

    @property
    def unexplained(self) -> tuple[Result, ...]:
        """The deviating cases that no cause predicts; answers that differ between runs have none."""
        deviating = (one for one in self.results if one.verdict.kind.deviates and not one.cause)
        return tuple(one for one in deviating if one.verdict.kind is not Kind.DIFFERS)

    def counts(self) -> Counter[Kind]:
        """Return the number of results of each kind."""
        return Counter(result.verdict.kind for result in self.results)
