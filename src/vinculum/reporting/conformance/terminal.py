"""The page of ``vinculum conform`` on a terminal: the matrix, the findings, and how to see more."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vinculum.conformance.run.record import Kind, Result, Run
from vinculum.errors import SpecLookupError
from vinculum.reporting.conformance.questions import QUESTIONS, told
from vinculum.reporting.conformance.view import (
    KINDS,
    WORST_FIRST,
    Cell,
    Finding,
    Severity,
    View,
    example_sentence,
    message,
    ulps_text,
    verdict_sentence,
    view,
)
from vinculum.reporting.escape import cut, escaped, one_line, short
from vinculum.reporting.terminal import cell, counted, grid, section, table
from vinculum.spec.element_types import Kind as Arithmetic
from vinculum.spec.element_types import by_name

_FINDINGS_SHOWN = 8  # With a matrix above them they fill a screen.
_IN_FULL = 5  # Up to this number of cases, each is shown in full.
_LONGEST = 160  # Characters of a statement, which may contain a runtime's message.
_EXAMPLE = 120  # Characters of an example.

_STYLES = {
    Severity.FATAL: "bold red",
    Severity.WRONG: "red",
    Severity.ULPS: "yellow",
    Severity.REFUSED: "magenta",
    Severity.NONE: "dim",
    Severity.OK: "green",
}


def page(runs: Sequence[Run], *, width: int, verbose: bool = False) -> RenderableType:
    """Return a page on several runtimes, about a screen for each.

    - `width`: The number of columns; a wider matrix is split.
    - `verbose`: Whether every deviating case is named.
    """
    parts: list[RenderableType] = []
    views = [view(run) for run in runs]
    if len(runs) > 1:
        parts += [Text("How runtimes divide", "bold"), *section("Side by side", _answers(views))]
    for one in views:
        parts += [Text(""), *_runtime(one, width, verbose)] if parts else _runtime(one, width, verbose)
    return Group(*parts)


def _style(kind: Kind) -> str:
    return _STYLES[KINDS[kind].severity]


def _runtime(one: View, width: int, verbose: bool) -> Iterator[RenderableType]:
    run = one.run
    yield Text(short(f"How {run.title} divides"), "bold")
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    yield Text(one_line(versions), "dim")
    if not run.results:
        yield Text("")
        yield Text("No case was run: the runtime covers none of the selected cases.")
        return
    if one.total <= _IN_FULL:
        for result in run.results:
            yield from _in_full(result)
    else:
        yield Text("")
        for part in _matrices(one, width - 2):
            yield Padding(part, (0, 0, 1, 2), expand=False)
        yield Padding.indent(_legend(one), 2)
        yield from _all_cases(run) if verbose else _findings(one)
    yield Text("")
    yield from _verdict(one)


def _matrices(one: View, width: int) -> Iterator[RenderableType]:
    """Yield the matrix in as few tables as fit; floats, signed and unsigned integers stay together if possible."""
    room = width - max((len(short(name)) for name in one.operators), default=0)
    columns: list[str] = []
    left = room
    groups: dict[Arithmetic | None, list[str]] = {}
    for name in one.element_types:
        groups.setdefault(_arithmetic(name), []).append(name)
    for group in groups.values():
        widths = {name: _width(one, name) for name in group}
        together = sum(widths.values())
        for name in group:
            # A group that fits into a table of its own is not begun where it does not fit.
            needed = together if name == group[0] and together <= room else widths[name]
            if columns and needed > left:
                yield _matrix(one, columns)
                columns, left = [], room
            columns.append(name)
            left -= widths[name]
    yield _matrix(one, columns)


def _width(one: View, column: str) -> int:
    words = (_cell_words(own) for (_, name), own in one.cells.items() if name == column)
    return max(len(short(column)), *map(len, words)) + 2


def _matrix(one: View, columns: Sequence[str]) -> Table:
    rows = table(("",), right=[short(name) for name in columns])
    for operator in one.operators:
        cells = [one.cells.get((operator, name)) for name in columns]
        if any(cells):
            texts = (Text(_cell_words(own), _style(own.worst)) if own else Text("") for own in cells)
            rows.add_row(cell(operator), *texts)
    return rows


def _arithmetic(name: str) -> Arithmetic | None:
    try:
        return by_name(name).kind
    except SpecLookupError:
        return None


def _cell_words(own: Cell) -> str:
    """Return the text of a cell: the letter of the worst verdict and how many cases deviate, or how many pass."""
    if own.deviating:
        return f"{KINDS[own.worst].letter} {own.deviating}/{own.total}"
    if own.is_lacking:
        return "-"
    return f"ok {own.passing}" if own.passing == own.total else f"ok {own.passing} -"


def _legend(one: View) -> RenderableType:
    """Return a legend: how to read a cell, by examples from this matrix, and the meaning of the letters."""
    cells = list(one.cells.values())
    wrong = next((own for own in cells if own.deviating), None)
    partly = next((own for own in cells if not own.deviating and 0 < own.unsupported < own.total), None)
    told = []
    if wrong is not None:
        deviate = f"{wrong.deviating} of {counted(wrong.total, 'case')} deviate{'s' if wrong.deviating == 1 else ''}"
        place = short(f"{wrong.operator} of {wrong.element_type}")
        told.append(f"{_cell_words(wrong)}: {deviate} in {place}, at worst: {wrong.worst.value}")
    if partly is not None:
        told.append(f"{_cell_words(partly)}: {partly.passing} pass, the others are not supported")
    shown = [kind for kind in WORST_FIRST if one.counts[kind] and not kind.passes]
    return Group(*(Text(line, "dim") for line in told), _letters(shown))


def _letters(kinds: Sequence[Kind]) -> RenderableType:
    return Columns(
        [Text(KINDS[kind].letter, _style(kind)).append(f" {kind.value}", "dim not bold") for kind in kinds], (0, 3)
    )


def _answers(views: Sequence[View]) -> RenderableType:
    rows = table(("", *(short(one.run.backend) for one in views)))
    for question, given in zip(QUESTIONS, zip(*map(told, views), strict=True), strict=True):
        if any(one.results for one in given):
            about = Text(question.heading, "bold").append(f", {question.about}", "not bold dim")
            rows.add_row(about, *(Text(one.words, _STYLES[one.severity]) for one in given))
    return rows


def _findings(one: View) -> Iterator[RenderableType]:
    if not one.findings:
        return
    shown = one.foremost(_FINDINGS_SHOWN)
    letters = [Text(KINDS[finding.worst].letter, _style(finding.worst)) for finding in shown]
    yield from section("Found", grid(zip(letters, map(_finding, shown), strict=True)))
    if len(one.findings) > len(shown):
        left = sum(finding.total for finding in one.findings) - sum(finding.total for finding in shown)
        count = counted(len(one.findings) - len(shown), "finding")
        yield Padding.indent(Text(f"and {count} more, {counted(left, 'case')}; --verbose names every case"), 2)


def _finding(finding: Finding) -> RenderableType:
    statement = Text(cut(one_line(finding.statement), _LONGEST), "bold")
    statement.append(f" ({counted(finding.total, 'case')}: {finding.where})", "not bold default")
    return Group(statement, Text(cut(finding.example, _EXAMPLE), "dim")) if finding.example else statement


def _all_cases(run: Run) -> Iterator[RenderableType]:
    blocks: list[RenderableType] = []
    for result in run.results:
        kind = result.verdict.kind
        if kind.deviates:
            heading = Text(kind.value, _style(kind)).append(f"  {escaped(str(result.id))}", "bold")
            blocks += [heading, Text(f"    {verdict_sentence(result.verdict)}", "dim")]
    if blocks:
        yield from section("Every case that deviates", Group(*blocks))


def _in_full(result: Result) -> Iterator[RenderableType]:
    verdict = result.verdict
    words = message(verdict)
    heading = f"{result.id}: {verdict.kind.value}" + (f", {words}" if words else "")
    yield Text("")
    yield Text(one_line(heading), _style(verdict.kind))
    lines = [f"Clause {result.clause}: {result.statement}"]
    if result.is_reading:
        lines.append("The specification is silent here: this is Vinculum's reading.")
    if verdict.elements:
        lines.append(f"{verdict.differing:,} of {counted(verdict.elements, 'quotient')} differ")
    if verdict.example is not None:
        lines.append(f"At index {verdict.example.index}: {example_sentence(verdict.example)}")
    lines += [f"Off by {ulps_text(power)}: {count:,}" for power, count in sorted(verdict.ulps.items())]
    for line in lines:
        yield Padding.indent(Text(one_line(line)), 2)
    if result.reproducer:
        yield Text("")
        # Unchanged, so that it can be copied, except for control characters.
        for line in result.reproducer.splitlines():
            yield Text(escaped(line.expandtabs(4)), "cyan", no_wrap=True, overflow="ignore")


def _verdict(one: View) -> Iterator[RenderableType]:
    parts = [
        f"{counted(one.total, 'case')} in {one.run.seconds:.1f} s: {one.passing:,} pass, {one.deviating:,} deviate"
    ]
    parts += [f"{one.unsupported:,} are not supported"] if one.unsupported else []
    yield Text(", ".join(parts) + ".")
    if one.readings:
        clauses = ", ".join(dict.fromkeys(result.clause for result in one.results if result.is_reading))
        reading = f"only from Vinculum's reading of what no document says: {clauses}."
        yield Text(f"{one.readings:,} of those that deviate do so {reading}")
    if one.deviating:
        yield Text(one.explained)
    if one.deviating and one.total > _IN_FULL:
        yield Text("To see one case, with a script that reproduces it:")
        worst = str(one.findings[0].shown.id)
        words = ("vinculum", "conform", one.run.backend, *one.run.selection.level.options, "--only", worst)
        yield Text(f"    {' '.join(shlex.quote(escaped(word)) for word in words)}", no_wrap=True, overflow="ignore")
