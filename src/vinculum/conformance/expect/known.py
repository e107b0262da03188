"""What a file of known deviations says of a runtime: causes that predict cases, and patterns of cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from vinculum.conformance.arithmetic import Cause
from vinculum.conformance.arithmetic.explain import written
from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.execute.run import Result
from vinculum.conformance.oracle.verdict import Kind
from vinculum.spec.element_types import by_name

PARTS = 5
PATTERN = f"a pattern of ids has {PARTS} parts, joined by '/', such as Div-14/int32/*/*/*"
"""Of a case's id."""


@dataclass(frozen=True)
class KnownCause:
    """A cause that is known: it must predict every case that it is given for, bit for bit.

    Attributes
    ----------
    name : str
        As `vinculum.conformance.execute.run.Cause` has it: ``"arithmetic: a * (1/b)"``.
    element_types : tuple of str
        The dividends' of its cases.
    reason, link : str
        Why, and where it was reported; the link may be empty.
    where : str
        Where the file says it.
    """

    name: str
    element_types: tuple[str, ...]
    reason: str
    link: str
    where: str

    def explains(self, result: Result) -> bool:
        """Tell whether a case deviates for this cause."""
        return result.cause == self.name and result.id.element_type in self.element_types


@dataclass(frozen=True)
class KnownCases:
    """Cases that are known by their ids.

    Attributes
    ----------
    pattern : tuple of str
        One for each part of a case's id.
    kinds : tuple of Kind
        The verdict on all of them; several if the processor decides.
    reason, link : str
        Why, and where it was reported; the link may be empty.
    where : str
        Where the file says it.
    """

    pattern: tuple[str, ...]
    kinds: tuple[Kind, ...]
    reason: str
    link: str
    where: str

    def matches(self, id: CaseId) -> bool:
        """Tell whether a case is among them."""
        return all(map(fnmatchcase, id.parts, self.pattern))

    def allows(self, kind: Kind) -> bool:
        """Tell whether a verdict is one of those; what must be refused may lie among what is refused throughout."""
        refused_throughout = Kind.REFUSED in self.kinds or Kind.UNSUPPORTED in self.kinds
        return kind in self.kinds or (kind is Kind.REFUSED_AS_REQUIRED and refused_throughout)


@dataclass(frozen=True)
class KnownDeviations:
    """A file: what is known of one backend.

    Attributes
    ----------
    file : Path
        Where it was read.
    backend : str
        As `Run.backend` has it.
    level : Level
        The cases that it knows of.
    versions : tuple of (str, str)
        The packages that it was made with.
    causes : tuple of KnownCause
        In the file's order.
    cases : tuple of KnownCases
        In the file's order; a case of one of them needs no cause.
    """

    file: Path
    backend: str
    level: Level
    versions: tuple[tuple[str, str], ...]
    causes: tuple[KnownCause, ...] = ()
    cases: tuple[KnownCases, ...] = ()

    def entries(self, result: Result) -> Iterator[KnownCause | KnownCases]:
        """Yield all that the file says of a deviating case."""
        yield from (cause for cause in self.causes if cause.explains(result))
        kind = result.verdict.kind
        yield from (cases for cases in self.cases if kind in cases.kinds and cases.matches(result.id))

    def as_causes(self) -> tuple[Cause, ...]:
        """Return the causes as what predicts cases."""
        return tuple(written(cause.name, [by_name(name) for name in cause.element_types]) for cause in self.causes)

    def reason(self, result: Result) -> tuple[str, str] | None:
        """Return the reason and the link of the first entry that knows of a case; None if none does."""
        return next(((entry.reason, entry.link) for entry in self.entries(result)), None)
