"""What the HTML page's script lists cases from: JSON in which every text and every line of source stands once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from vinculum.conformance.execute.run import Result
from vinculum.conformance.oracle.verdict import Example
from vinculum.reporting.conformance.questions import QUESTIONS, told
from vinculum.reporting.conformance.view import WORST_FIRST, View, reason, severity, ulps_text
from vinculum.reporting.conformance.words import message
from vinculum.reporting.escape import escaped, one_line, short

_LONGEST = 2000  # Characters of what a runtime said; some dump whole graphs.


class _Texts:
    """Texts by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)


def data(views: Sequence[View]) -> str:
    """Return the cases of several runtimes as JSON that can stand in a script element.

    It is one object: ``texts``; ``kinds``, the worst first; ``ulps``, what the bars of histograms are called by their
    number; ``questions``; and ``runtimes``. A runtime has its ``findings``, by what they are called; its ``cases``,
    each an array; and for each question the numbers of the cases in which it is ``asked``.
    ``columns`` names its members. Texts stand as their numbers among ``texts``; what comes last may be missing.
    """
    texts = _Texts()
    runtimes = [
        {
            "backend": one_line(one.run.backend),
            "title": one_line(one.run.title),
            "findings": [short(finding.statement) for finding in one.findings],
            "cases": _cases(one, texts),
            "asked": _asked(one),
        }
        for one in views
    ]
    powers = {power for one in views for result in one.results for power in result.verdict.ulps}
    whole = {
        "columns": _COLUMNS,
        "kinds": [[kind.value, kind.deviates] for kind in WORST_FIRST],
        "questions": [question.heading for question in QUESTIONS],
        "ulps": {str(power): ulps_text(power) for power in sorted(powers)},
        "runtimes": runtimes,
        "texts": texts.all(),
    }
    # Neither the end of the script element nor a comment can then stand in it; all beyond ASCII is escaped anyway.
    return json.dumps(whole, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


_COLUMNS = (
    "id",
    "operator",
    "type",
    "kind",
    "severity",
    "words",
    "clause",
    "statement",
    "elements",
    "differing",
    "ulps",
    "example",
    "source",
    "finding",
    "reason",
)


def _asked(view: View) -> list[list[int]]:
    numbers = {id(result): number for number, result in enumerate(view.results)}
    return [[numbers[id(result)] for result in one.results] for one in told(view)]


def _cases(view: View, texts: _Texts) -> list[list[Any]]:
    numbers = {id(result): number for number, one in enumerate(view.findings) for result in one.results}
    cases = []
    for result in view.results:
        told = reason(result, view.known)
        last = {
            "finding": numbers.get(id(result)),
            "reason": None if told is None else [texts.number(one_line(text)) for text in told],
        }
        row = {**_case(result, texts), **last}
        case = [row[name] for name in _COLUMNS]
        while case[-1] is None:  # Most cases pass, and have none of the last ones.
            case.pop()
        cases.append(case)
    return cases


def _case(result: Result, texts: _Texts) -> dict[str, Any]:
    verdict = result.verdict
    words = one_line(message(verdict))

    def number(text: str) -> int:
        return texts.number(one_line(text))

    return {
        "id": number(str(result.id)),
        "operator": number(result.id.row),
        "type": number(result.id.element_type),
        "kind": WORST_FIRST.index(verdict.kind),
        "severity": number(severity(verdict).value),
        "words": number(words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."),
        "clause": number(result.clause),
        "statement": number(result.statement),
        "elements": verdict.elements,
        "differing": verdict.differing,
        "ulps": sorted(verdict.ulps.items()) or None,
        "example": _example(verdict.example, number),
        "source": _source(result, texts),
    }


def _example(example: Example | None, number: Callable[[str], int]) -> list[int] | None:
    if example is None:
        return None
    return [number(text) for text in (str(example.index), example.expected, example.actual, *example.operands)]


def _source(result: Result, texts: _Texts) -> list[int] | None:
    """Return the lines of a reproducer; of what is not supported it shows nothing."""
    if not result.reproducer or not result.verdict.kind.deviates:
        return None
    return [texts.number(escaped(line.expandtabs(4))) for line in result.reproducer.rstrip("\n").split("\n")]
