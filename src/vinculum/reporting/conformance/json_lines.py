"""A conformance run as JSON lines: one object that says what was run, then one for each case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from vinculum.conformance.execute.run import Result, Run
from vinculum.reporting.conformance.words import message


def lines(run: Run) -> Iterator[str]:
    """Yield a run as JSON lines.

    Yields
    ------
    str
        First ``{"type": "run", "backend", "title", "versions", "level", "seconds", "counts"}``, ``counts`` by the name
        of the verdict. Then for each case, in the suite's order, ``{"type": "case", "backend", "id", "clause",
        "statement", "operator", "element_type", "verdict", "passes", "deviates", "words", "elements", "differing",
        "ulps", "largest", "example", "reproducer"}``. Characters beyond ASCII are escaped.

    Notes
    -----
    Strings, but for: ``versions`` and ``counts``, objects of strings and of whole numbers; ``seconds``, a number;
    ``passes`` and ``deviates``, which are both false for what is not supported; ``elements`` and ``differing``, whole
    numbers; ``ulps``, an object that maps k, as text, to how many quotients are off by 2**k to below 2**(k + 1) ulps;
    ``largest``, a whole number or null; ``example``, null or ``{"index", "operands", "expected", "actual"}``, of a list
    of whole numbers, a list of strings and two strings; ``reproducer``, a string or null.
    """
    head = {
        "type": "run",
        "backend": run.backend,
        "title": run.title,
        "versions": dict(run.versions),
        "level": run.selection.level.value,
        "seconds": run.seconds,
        "counts": {kind.value: count for kind, count in run.counts().items()},
    }
    yield json.dumps(head, allow_nan=False)
    for result in run.results:
        yield json.dumps(_case(run, result), allow_nan=False)


def _case(run: Run, result: Result) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "type": "case",
        "backend": run.backend,
        "id": str(result.id),
        "clause": result.clause,
        "statement": result.statement,
        "operator": result.id.operator,
        "element_type": result.id.element_type,
        "verdict": verdict.kind.value,
        "passes": verdict.kind.passes,
        "deviates": verdict.kind.deviates,
        "words": message(verdict),
        "elements": verdict.elements,
        "differing": verdict.differing,
        "ulps": {str(power): count for power, count in sorted(verdict.ulps.items())},
        "largest": verdict.largest,
        "example": None if verdict.example is None else asdict(verdict.example),
        "reproducer": result.reproducer,
    }
