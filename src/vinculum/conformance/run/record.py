"""A run of the suite: the cases that one runtime executed, with their verdicts. Every report is a view of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.run.verdict import READINGS, Kind, Verdict
from vinculum.sandbox import End


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
