"""What the HTML page's script lists cases from: JSON in which every text and every line of source stands once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vinculum.conformance.known_deviations import KnownDeviations
from vinculum.conformance.run import Result, Run
from vinculum.conformance.verdict import Kind
from vinculum.reporting.conformance.findings import findings, ulps_text
from vinculum.reporting.conformance.matrix import WORST_FIRST
from vinculum.reporting.conformance.words import message
from vinculum.reporting.harmless import harmless, one_line, short

# The colours: what a kind of verdict means to whoever relies on the runtime.
GRAVITIES: Mapping[Kind, str] = {
    **dict.fromkeys((Kind.CRASHED, Kind.HUNG, Kind.OUT_OF_MEMORY), "fatal"),
    **dict.fromkeys((Kind.WRONG_VALUE, Kind.ACCEPTED, Kind.WRONG_TYPE, Kind.WRONG_SHAPE), "wrong"),
    Kind.ULPS: "ulps",
    Kind.REFUSED: "refused",
    Kind.UNSUPPORTED: "none",
    **dict.fromkeys((Kind.SILENT, Kind.REFUSED_AS_REQUIRED, Kind.EXACT), "ok"),
}

_LONGEST = 2000  # Characters of what a runtime said; some dump whole graphs.


class _Texts:
    """Texts by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)


def data(runs: Sequence[Run], known: Mapping[str, KnownDeviations]) -> str:
    """Return the cases of several runtimes as JSON that can stand in a script element.

    It is one object: ``texts``; ``kinds``, the worst first; ``ulps``, what the bars of histograms are called by their
    number; and ``runtimes``. A runtime has its ``findings``, by what they are called, and its ``cases``, each an array.
    First come numbers of texts: id, row of the matrix, element type, then a number of ``kinds``, texts again: words,
    clause, statement. Then elements, differing, and what may be null or missing: histogram, example (texts), source
    (the texts of its lines), the number of its finding, the reason why it is known and the link (texts).
    """
    texts = _Texts()
    runtimes = [
        {
            "backend": one_line(run.backend),
            "title": one_line(run.title),
            "findings": [f"{finding.kind.value}, {short(finding.tried)}" for finding in findings(run)],
            "cases": _cases(run, known.get(run.backend), texts),
        }
        for run in runs
    ]
    powers = {power for run in runs for result in run.results for power in result.verdict.ulps}
    whole = {
        "kinds": [[kind.value, GRAVITIES[kind], kind.deviates] for kind in WORST_FIRST],
        "ulps": {str(power): ulps_text(power) for power in sorted(powers)},
        "runtimes": runtimes,
        "texts": texts.all(),
    }
    # Neither the end of the script element nor a comment can then stand in it; all beyond ASCII is escaped anyway.
    return json.dumps(whole, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


def _cases(run: Run, known: KnownDeviations | None, texts: _Texts) -> list[list[Any]]:
    numbers = {id(result): number for number, one in enumerate(findings(run)) for result in one.results}
    cases = []
    for result in run.results:
        told = why(result, known)
        reason = None if told is None else [texts.number(one_line(text)) for text in told]
        case = [*_case(result, texts), numbers.get(id(result)), reason]
        while case[-1] is None:  # Most cases pass, and have none of the last ones.
            case.pop()
        cases.append(case)
    return cases


def why(result: Result, known: KnownDeviations | None) -> tuple[str, str] | None:
    """Return the reason and the link of the line that knows of a case, None if none does."""
    if known is None or result.verdict.kind.passes:
        return None
    lines = (line for line in known.deviations if result.verdict.kind in line.kinds and line.matches(result.id))
    return next(((line.reason, line.link) for line in lines), None)


def _case(result: Result, texts: _Texts) -> list[Any]:
    verdict = result.verdict
    words = one_line(message(verdict))
    example = verdict.example
    names = (str(result.id), result.id.row, result.id.element_type)
    told = (words if len(words) <= _LONGEST else f"{words[:_LONGEST]}...", result.clause, result.statement)
    return [
        *(texts.number(one_line(name)) for name in names),
        WORST_FIRST.index(verdict.kind),
        *(texts.number(one_line(text)) for text in told),
        verdict.elements,
        verdict.differing,
        sorted(verdict.ulps.items()) or None,
        None
        if example is None
        else [
            texts.number(one_line(text))
            for text in (str(example.index), example.expected, example.actual, *example.operands)
        ],
        None
        if not result.reproducer or not verdict.kind.deviates
        else [texts.number(harmless(line.expandtabs(4))) for line in result.reproducer.rstrip("\n").split("\n")],
    ]
