"""The tables of a conformance run on a terminal: the matrix, in as few parts as fit, and runtimes side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vinculum.conformance.execute.run import Run
from vinculum.conformance.oracle.verdict import Kind
from vinculum.errors import SpecLookupError
from vinculum.reporting.conformance.findings import Finding
from vinculum.reporting.conformance.matrix import SYMBOLS, WORST_FIRST, Cell, Matrix
from vinculum.reporting.conformance.survey import Given, SilentRow
from vinculum.reporting.conformance.words import verdict_sentence
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.tables import cell, counted, table
from vinculum.spec.element_types import Kind as Arithmetic
from vinculum.spec.element_types import by_name

_LONGEST = 300  # Characters of a statement, which may hold what a runtime said.

STYLES: Mapping[Kind, str] = {
    **dict.fromkeys((Kind.CRASHED, Kind.HUNG, Kind.OUT_OF_MEMORY), "bold red"),
    **dict.fromkeys((Kind.DIFFERS, Kind.WRONG_VALUE, Kind.WRONG_TYPE, Kind.WRONG_SHAPE, Kind.ACCEPTED), "red"),
    Kind.ULPS: "yellow",
    Kind.REFUSED: "magenta",
    Kind.UNSUPPORTED: "dim",
    **dict.fromkeys((Kind.UNSPECIFIED, Kind.REFUSED_AS_REQUIRED, Kind.EXACT), "green"),
}


def matrices(found: Matrix, width: int) -> Iterator[RenderableType]:
    """Yield the matrix in as few tables as fit: floats, signed and unsigned integers stay together where they can."""
    room = width - max((len(short(name)) for name in found.operators), default=0)
    columns: list[str] = []
    left = room
    for group in _groups(found.element_types):
        widths = {name: _width(found, name) for name in group}
        together = sum(widths.values())
        for name in group:
            # A group that fits into a table of its own is not begun where it does not fit.
            needed = together if name == group[0] and together <= room else widths[name]
            if columns and needed > left:
                yield _matrix(found, columns)
                columns, left = [], room
            columns.append(name)
            left -= widths[name]
    yield _matrix(found, columns)


def _width(found: Matrix, column: str) -> int:
    words = (cell_words(cell) for (_, name), cell in found.cells.items() if name == column)
    return max(len(short(column)), *map(len, words)) + 2


def _matrix(found: Matrix, columns: Sequence[str]) -> Table:
    rows = table("", right=[short(name) for name in columns])
    for operator in found.operators:
        cells = [found.cells.get((operator, name)) for name in columns]
        if any(cells):
            rows.add_row(cell(operator), *map(_cell, cells))
    return rows


def _groups(element_types: Sequence[str]) -> list[list[str]]:
    groups: dict[Arithmetic | None, list[str]] = {}
    for name in element_types:
        groups.setdefault(_arithmetic(name), []).append(name)
    return list(groups.values())


def _arithmetic(name: str) -> Arithmetic | None:
    try:
        return by_name(name).kind
    except SpecLookupError:
        return None


def _cell(found: Cell | None) -> Text:
    if found is None:
        return Text("")
    return Text(cell_words(found), STYLES[found.worst])


def cell_words(found: Cell) -> str:
    """Return what a cell says: the worst verdict's letter and how many of how many cases deviate, or how many pass."""
    if found.deviating:
        return f"{SYMBOLS[found.worst]} {found.deviating}/{found.total}"
    if found.is_lacking:
        return "-"
    return f"ok {found.passing}" if found.passing == found.total else f"ok {found.passing} -"


def legend(kinds: Sequence[Kind]) -> RenderableType:
    """Return what the letters stand for that occur, and how a cell is read."""
    shown = [kind for kind in WORST_FIRST if kind in kinds and not kind.passes]
    names = [Text(SYMBOLS[kind], STYLES[kind]).append(f" {kind.value}", "dim not bold") for kind in shown]
    names.append(Text("ok", "green").append(" passed", "dim"))
    example = "W 3/24: of 24 cases 3 deviate, at worst by a wrong value; ok 5 -: 5 pass, the others are not supported"
    return Group(Text(example, "dim"), Columns(names, (0, 3)))


def side_by_side(runs: Sequence[Run]) -> RenderableType:
    """Return how often each verdict was given to each runtime."""
    rows = table("Verdict", right=[short(run.backend) for run in runs])
    counts = [run.counts() for run in runs]
    for kind in WORST_FIRST:
        if any(count[kind] for count in counts):
            rows.add_row(Text(kind.value, STYLES[kind]), *(_count(count[kind]) for count in counts))
    rows.add_section()
    _add_total(rows, "cases", runs, lambda run: f"{len(run.results):,}")
    _add_total(rows, "seconds", runs, lambda run: f"{run.seconds:.0f}")
    return rows


def silent(rows: Sequence[SilentRow], runs: Sequence[Run]) -> RenderableType:
    """Return what runtimes give where the specification is silent; types of which all give the same share a line."""
    lines = table("", "Element types", *(short(run.backend) for run in runs))
    shared: dict[tuple[str, tuple[Given, ...]], list[str]] = {}
    for row in rows:
        shared.setdefault((row.question, row.given), []).append(row.element_type)
    previous = ""
    for (question, given), names in shared.items():
        words = (Text(one.words or "not tested", STYLES[one.kind] if one.kind else "dim") for one in given)
        lines.add_row(Text(question if question != previous else "", "bold"), ", ".join(names), *words)
        previous = question
    return lines


def _add_total(rows: Table, what: str, runs: Sequence[Run], words: Callable[[Run], str]) -> None:
    rows.add_row(Text(what, "dim"), *(Text(words(run)) for run in runs))


def found(findings: Sequence[Finding]) -> RenderableType:
    """Return findings, each with how often, on what, and an example."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    for finding in findings:
        style = STYLES[finding.kind]
        statement = Text(one_line(finding.statement)[:_LONGEST], "bold")
        statement.append(f" ({counted(len(finding.results), 'case')}: {finding.where})", "not bold default")
        example = Text(verdict_sentence(finding.shown.verdict), "dim")
        rows.add_row(Text(SYMBOLS[finding.kind], style), Group(statement, example))
    return rows


def _count(count: int) -> Text:
    return Text(f"{count:,}" if count else "-", "" if count else "dim")
