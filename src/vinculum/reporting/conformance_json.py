"""A conformance report as JSON lines: one object that says what was run, then one for each case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from vinculum.conformance.report import Report, Result
from vinculum.reporting.conformance_matrix import deviates


def lines(report: Report) -> Iterator[str]:
    """Yield a report as JSON lines.

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
    run = {
        "type": "run",
        "backend": report.backend,
        "title": report.title,
        "versions": dict(report.versions),
        "level": report.level.name.lower(),
        "seconds": report.seconds,
        "counts": {kind.value: count for kind, count in report.counts().items()},
    }
    yield json.dumps(run, allow_nan=False)
    for result in report.results:
        yield json.dumps(_case(report, result), allow_nan=False)


def _case(report: Report, result: Result) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "type": "case",
        "backend": report.backend,
        "id": result.id,
        "clause": result.clause,
        "statement": result.statement,
        "operator": result.operator,
        "element_type": result.element_type,
        "verdict": verdict.kind.value,
        "passes": verdict.kind.passes,
        "deviates": deviates(verdict.kind),
        "words": verdict.words,
        "elements": verdict.elements,
        "differing": verdict.differing,
        "ulps": {str(power): count for power, count in sorted(verdict.ulps.items())},
        "largest": verdict.largest,
        "example": None if verdict.example is None else asdict(verdict.example),
        "reproducer": result.reproducer,
    }
