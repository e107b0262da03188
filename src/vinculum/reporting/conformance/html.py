"""Conformance runs as one self-contained HTML page: it needs no network.

The summary and the matrices need no JavaScript; a script lists the cases from data in the page. A runtime's text cannot
become markup: it goes through `escaped`, is escaped by the template, and is set as text by the script.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from vinculum.conformance.expect import KnownDeviations
from vinculum.conformance.run.record import Kind, Result, Run
from vinculum.reporting.conformance.questions import QUESTIONS, told
from vinculum.reporting.conformance.view import (
    KINDS,
    WORST_FIRST,
    Cell,
    Finding,
    Severity,
    View,
    in_order,
    message,
    reason,
    severity,
    ulps_text,
    view,
)
from vinculum.reporting.escape import escaped, one_line, short
from vinculum.reporting.plain import rendered

_FINDINGS_SHOWN = 12
_CAUSES_SIDE_BY_SIDE = 4
_LONGEST = 2000  # Characters of a runtime's message; some print whole graphs.


def document(runs: Sequence[Run], known: Mapping[str, KnownDeviations] | None = None) -> str:
    """Return the page on one or several runtimes.

    - `known`: The known deviations of backends, whose reasons are shown beside the cases.
    """
    runtimes = [view(run, (known or {}).get(run.backend)) for run in runs]
    style, script = (
        files(__package__).joinpath("templates", f"conformance.{end}").read_text("utf-8") for end in ("css", "js")
    )
    rows = tuple(dict.fromkeys(operator for runtime in runtimes for operator in runtime.operators))
    columns = in_order(name for runtime in runtimes for name in runtime.element_types)
    return rendered(
        __package__,
        "conformance.html.j2",
        {"cell_word": _word, "cell_count": _count, "cell_title": _title, "number": lambda value: f"{value:,}"},
        runtimes=runtimes,
        groups=[(row, [name for name in columns if any((row, name) in r.cells for r in runtimes)]) for row in rows],
        kinds=[kind for kind in WORST_FIRST if any(runtime.counts[kind] for runtime in runtimes)],
        severity_of={kind: KINDS[kind].severity for kind in KINDS},
        shown_kinds=_shown_kinds(runtimes),
        numbered=_numbered,
        questions=QUESTIONS,
        told=told,
        most=_FINDINGS_SHOWN,
        few=_CAUSES_SIDE_BY_SIDE,
        address=_address,
        link=lambda *place: f"#{_address(*place)}",
        style=style,
        script=script,
        data=data(runtimes),
        command=_command(runtimes),
    )


def answers(runtimes: Sequence[View], link: Callable[..., str]) -> str:
    """Return the table of runtimes by questions; `link` returns the address of a runtime or of one of its answers."""
    given = {"runtimes": runtimes, "questions": QUESTIONS, "told": told, "link": link}
    return rendered(__package__, "answers.html.j2", {}, **given)


def _numbered(runtime: View) -> list[tuple[int, Finding]]:
    """Return all findings with their numbers: first those on the first screen, then the folded ones."""
    shown = runtime.foremost(_FINDINGS_SHOWN)
    rest = (one for one in runtime.findings if one not in shown)
    return [(runtime.findings.index(one), one) for one in (*shown, *rest)]


def _shown_kinds(runtimes: Sequence[View]) -> list[tuple[Severity, list[tuple[Kind, str]]]]:
    """Return the words of the cells that occur, and their verdicts, by severity."""
    found: dict[Severity, list[tuple[Kind, str]]] = {}
    for kind, shown in KINDS.items():
        if not kind.passes and any(one.counts[kind] for one in runtimes):
            found.setdefault(shown.severity, []).append((kind, shown.word))
    return list(found.items())


def _address(runtime: View, *parts: str) -> str:
    """Return the part of an address after the #: ``openvino/cell/Div-14/float``; the script reads it."""
    return "/".join(quote(one_line(part), safe="-_.!~*'()") for part in (runtime.run.backend, *parts))


def _command(runtimes: Sequence[View]) -> str:
    options = runtimes[0].run.selection.options if runtimes else ()
    expected = [part for one in runtimes if one.known for part in ("--expect", str(one.known.file))]
    words = ["vinculum", "conform", *(one.run.backend for one in runtimes), *options, *expected, "--html", "run.html"]
    return " ".join(shlex.quote(escaped(word)) for word in words)


def _word(cell: Cell) -> str:
    if not (cell.deviating or cell.is_lacking):
        return "ok"
    far = cell.severity is Severity.WRONG and cell.worst is Kind.ULPS
    return KINDS[Kind.WRONG_VALUE if far else cell.worst].word


def _count(cell: Cell) -> str:
    if cell.deviating:
        return f"{cell.deviating:,} of {cell.total:,}"
    left = cell.total - cell.passing
    return f"{cell.passing:,}, {left:,} none" if 0 < left < cell.total else f"{cell.total:,}"


def _title(cell: Cell) -> str:
    counts = ", ".join(f"{cell.counts[kind]:,} {kind.value}" for kind in WORST_FIRST if cell.counts[kind])
    return short(f"{cell.operator}, {cell.element_type}: {counts}")


def data(views: Sequence[View]) -> str:
    """Return the cases of several runtimes as JSON for a script element.

    It is one object: ``texts``; ``kinds``, the worst first; ``ulps``, the labels of the bars of histograms by number;
    ``questions``; and ``runtimes``. A runtime has the statements of its ``findings``; its ``cases``, each an array
    whose members ``columns`` names; and for each question the numbers of the cases that answer it, ``asked``. Texts
    are written as numbers of ``texts``; members at the end of a case may be missing.
    """
    texts: dict[str, int] = {}
    runtimes = [
        {
            "backend": one_line(one.run.backend),
            "title": one_line(one.run.title),
            "findings": [short(finding.statement) for finding in one.findings],
            "cases": [_numbers(case, texts) for case in _cases(one)],
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
        "texts": [*texts],
    }
    # So the text contains neither the end of the script element nor a comment. It is ASCII, as json escapes the rest.
    return json.dumps(whole, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


_COLUMNS = (
    *("id", "operator", "type", "kind", "severity", "words", "clause", "statement", "elements", "differing", "ulps"),
    *("example", "source", "finding", "reason"),
)


def _numbers(value: Any, texts: dict[str, int]) -> Any:
    """Return a value with each text replaced by its number."""
    if isinstance(value, str):
        return texts.setdefault(value, len(texts))
    return [_numbers(one, texts) for one in value] if isinstance(value, list | tuple) else value


def _asked(view: View) -> list[list[int]]:
    numbers = {id(result): number for number, result in enumerate(view.results)}
    return [[numbers[id(result)] for result in one.results] for one in told(view)]


def _cases(view: View) -> Iterator[list[Any]]:
    """Yield the members of each case, named by `_COLUMNS`; those at the end are left out if they are None."""
    findings = {id(result): number for number, one in enumerate(view.findings) for result in one.results}
    for result in view.results:
        verdict, example, known = result.verdict, result.verdict.example, reason(result, view.known)
        words = one_line(message(verdict))
        case = [
            *map(one_line, (str(result.id), result.id.row, result.id.element_type)),
            WORST_FIRST.index(verdict.kind),
            severity(verdict).value,
            words if len(words) <= _LONGEST else f"{words[:_LONGEST]}...",
            *map(one_line, (result.clause, result.statement)),
            verdict.elements,
            verdict.differing,
            sorted(verdict.ulps.items()) or None,
            example
            and [one_line(f"{one}") for one in (example.index, example.expected, example.actual, *example.operands)],
            _source(result),
            findings.get(id(result)),
            known and [*map(one_line, known)],
        ]
        while case[-1] is None:
            case.pop()
        yield case


def _source(result: Result) -> list[str] | None:
    """Return the lines of a reproducer; None if the case does not deviate."""
    if not result.reproducer or not result.verdict.kind.deviates:
        return None
    return [escaped(line.expandtabs(4)) for line in result.reproducer.rstrip("\n").split("\n")]
