"""A run of the suite: what one runtime was asked, and what each answer is worth. Every report is a view of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.oracle.verdict import Kind, Verdict


@dataclass(frozen=True)
class Cause:
    """Why cases deviate: a way to compute quotients, or a rule, that predicts what happened in each of them.

    Attributes
    ----------
    name : str
        What files call it: ``"arithmetic: a * (1/b)"``, ``"rule: axis ignored"``.
    statement : str
        The same in English.
    element_types : tuple of str
        Those of its cases.
    passing : int
        How many cases that pass it predicts too.
    """

    name: str
    statement: str
    element_types: tuple[str, ...]
    passing: int


@dataclass(frozen=True)
class Result:
    """One case and its verdict.

    Attributes
    ----------
    id : CaseId
        The case's.
    clause, statement : str
        The clause that it tests, and what that asks for, in our words.
    verdict : Verdict
        What the answer is worth.
    cause : str
        The name of the cause that predicts it, if it deviates; empty if none of the run's causes does.
    reproducer : str or None
        Python source that shows it in the runtime's own interface; None for a pass.
    """

    id: CaseId
    clause: str
    statement: str
    verdict: Verdict
    cause: str = ""
    reproducer: str | None = None


@dataclass(frozen=True)
class Selection:
    """Which cases were run, and what each might take.

    Attributes
    ----------
    level : Level
        Which cases.
    only : tuple of str
        Glob patterns, of which a case's id matches one; none if the whole level was run.
    seconds : float
        The time limit of a case.
    memory : int
        The memory limit of a process that answers, in bytes.
    """

    level: Level
    only: tuple[str, ...] = ()
    seconds: float = 30.0
    memory: int = 4 << 30

    @property
    def options(self) -> tuple[str, ...]:
        """The options of ``vinculum conform`` that select this."""
        default = Selection(self.level)
        words = list(self.level.options)
        for pattern in self.only:
            words += ["--only", pattern]
        if self.seconds != default.seconds:
            words += ["--case-limit", f"{self.seconds:g}"]
        if self.memory != default.memory:
            words += ["--memory-limit", str(self.memory >> 20)]
        return tuple(words)


@dataclass(frozen=True)
class Run:
    """What one runtime was asked, and what each answer is worth.

    Attributes
    ----------
    backend : str
        As it was asked for: ``"onnxruntime"``, ``"openvino[device=GPU]"``, ``"package.module:attribute"``.
    title : str
        What sentences call it: ``"ONNX Runtime"``.
    versions : Mapping of str to str
        The versions of what the answers depend on: packages, Python, platform, processor.
    selection : Selection
        Which cases were run.
    results : tuple of Result
        One for each case, in the suite's order.
    causes : tuple of Cause
        Why cases deviate, that of most cases first.
    date : str
        When it began: ISO 8601, UTC.
    seconds : float
        How long it took.
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
    def command(self) -> tuple[str, ...]:
        """The command that makes such a run, word by word."""
        return "vinculum", "conform", self.backend, *self.selection.options

    @property
    def unexplained(self) -> tuple[Result, ...]:
        """The deviating cases that no cause predicts."""
        return tuple(result for result in self.results if result.verdict.kind.deviates and not result.cause)

    def counts(self) -> Counter[Kind]:
        """Return how many results there are of each kind."""
        return Counter(result.verdict.kind for result in self.results)
