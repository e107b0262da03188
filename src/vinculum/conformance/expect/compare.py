"""Disagreements between a run and a file of known deviations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from vinculum.conformance.execute.run import Result, Run
from vinculum.conformance.expect.known import KnownCases, KnownCause, KnownDeviations


class Disagreement(Enum):
    """How a run and a file disagree."""

    NEW_FAILURE = "new failure"
    OTHER_FAILURE = "other failure"
    UNEXPECTED_PASS = "unexpected pass"
    UNUSED = "unused"


@dataclass(frozen=True)
class Mismatch:
    """A disagreement between a run and a file of known deviations.

    Attributes
    ----------
    how : Disagreement
        The kind of disagreement.
    result : Result or None
        The result of the case; None for an unused entry of the file.
    entry : KnownCause, KnownCases or None
        The entry of the file; None for a new failure.
    """

    how: Disagreement
    result: Result | None = None
    entry: KnownCause | KnownCases | None = None


def mismatches(run: Run, known: KnownDeviations) -> tuple[Mismatch, ...]:
    """Return the disagreements between a run and the known deviations; empty if all is as expected.

    Entries that require another processor count for nothing. An unused entry is a mismatch too if the run included
    every case of the file's level: the case may have been renamed, or the runtime fixed.
    """
    known = known.on(run.features)
    found: list[Mismatch] = []
    used: set[str] = set()
    for result in run.results:
        cause = next((cause for cause in known.causes if cause.explains(result)), None)
        cases = [cases for cases in known.cases if cases.matches(result.id)]
        used.update(entry.where for entry in (cause, *cases) if entry is not None)
        found += _disagreement(result, cause, cases)
    if not run.selection.only and run.selection.level >= known.level:
        entries: tuple[KnownCause | KnownCases, ...] = (*known.causes, *known.cases)
        found += (Mismatch(Disagreement.UNUSED, entry=entry) for entry in entries if entry.where not in used)
    return tuple(found)


def _disagreement(result: Result, cause: KnownCause | None, cases: list[KnownCases]) -> Iterator[Mismatch]:
    kind = result.verdict.kind
    other = next((one for one in cases if not one.allows(kind)), None)
    if kind.deviates and cause is not None:
        return
    if other is not None:
        yield Mismatch(Disagreement.UNEXPECTED_PASS if kind.passes else Disagreement.OTHER_FAILURE, result, other)
    elif kind.deviates and not cases:
        yield Mismatch(Disagreement.NEW_FAILURE, result)
