"""What ``vinculum bench`` tells on a terminal: a table for each operator, shape and size, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from vinculum.benchmarking.results import Report, Row
from vinculum.reporting.bench.table import Table, table
from vinculum.reporting.bench.words import LEGEND, SPOILT, facts, findings, groups, how
from vinculum.reporting.escape import escaped, short
from vinculum.reporting.tables import section
from vinculum.reporting.tables import table as columns

_ANY_WIDTH = 1_000
_INDENT = 2


def page(report: Report, width: int) -> RenderableType:
    """Return a page for a terminal of so many columns."""
    return Group(*_sections(report, width))


def _sections(report: Report, width: int) -> Iterator[RenderableType]:
    yield Text("How fast quotients are", "bold")
    yield Text(how(report))
    for heading, rows in groups(report):
        yield from section(heading, Group(*_tables(report, rows, width - _INDENT)))
    yield Text("")
    yield from (Text(line, "dim") for line in LEGEND)
    lines = Grid.grid(padding=(0, 1, 0, 0))
    for sentence in findings(report):
        lines.add_row("-", Text(escaped(sentence), "bold red" if sentence.startswith(("WRONG", SPOILT)) else ""))
    yield from section("What stands out", lines)
    yield from section("Where", _facts(report))


def _tables(report: Report, rows: Sequence[Row], width: int) -> Iterator[RenderableType]:
    """Yield one table if it fits, else one of ours and one of the peers."""
    whole = _shown(table(report, rows, report.peers))
    if Console(width=_ANY_WIDTH).measure(whole).maximum <= width:
        yield whole
        return
    yield _shown(table(report, rows, ()))
    yield Text("")
    yield _shown(table(report, rows, report.peers, compared=False))


def _shown(record: Table) -> RenderableType:
    (first, *headings), rows = record
    made = columns(first, right=[short(heading).replace(" ", "\n") for heading in headings])
    for row in rows:
        made.add_row(*(Text(short(figure.text), figure.style) for figure in row))
    return made


def _facts(report: Report) -> RenderableType:
    rows = Grid.grid(padding=(0, 2, 0, 0))
    for name, words in facts(report).items():
        rows.add_row(Text(escaped(name), "dim"), Text(escaped(words)))
    return rows
