"""What a run is going to ask of whom: what cannot be run is refused here, before anything is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from vinculum.conformance.case import Case, Level
from vinculum.conformance.cases import cases
from vinculum.conformance.runtimes.protocol import Runtime
from vinculum.conformance.runtimes.registry import runtime
from vinculum.errors import AttributeValueError
from vinculum.text import listed


@dataclass(frozen=True, eq=False)
class Plan:
    """One run of the suite that has been checked and can begin.

    Attributes
    ----------
    backend : str
        As it was asked for.
    runtime : Runtime
        What it names.
    level : Level
        Which cases.
    cases : iterable of Case
        Those that it covers, made as they are taken; they can be taken once.
    total : int
        How many they are; 0 if that is not known before.
    """

    backend: str
    runtime: Runtime
    level: Level
    cases: Iterable[Case]
    total: int = 0


def plan(backend: str, level: Level, only: Sequence[str] = ()) -> Plan:
    """Return the plan to ask a runtime the cases that it covers.

    Parameters
    ----------
    backend : str
        As `vinculum.conformance.runtimes.registry.runtime` takes it.
    level : Level
        Which cases.
    only : sequence of str
        Glob patterns on the ids: a case is asked if one of them matches; all are if there is none.

    Raises
    ------
    SpecLookupError, AttributeValueError
        If no runtime has that name or option, or a pattern matches no case that it covers.
    ModelError
        If its package is not installed, or it does not start.
    """
    asked = runtime(backend)
    asked.check()
    covered = (case for case in cases(level) if asked.covers(case.question))
    if not only:
        return Plan(backend, asked, level, covered)
    chosen = [case for case in covered if any(fnmatchcase(case.id, pattern) for pattern in only)]
    idle = [pattern for pattern in only if not any(fnmatchcase(case.id, pattern) for case in chosen)]
    if idle:
        raise AttributeValueError(
            f"no case of this level that {asked.title} can be asked matches {listed(idle)}; an id reads "
            "'Div-14/int64/MIN divided by -1/equal shapes/constant divisor', and * stands for anything"
        )
    return Plan(backend, asked, level, chosen, len(chosen))
