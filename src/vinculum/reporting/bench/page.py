"""What ``vinculum bench`` tells on a terminal: a table for each operator, shape and size, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from vinculum.benchmarking.peers.registry import OURS, ROOFLINE
from vinculum.benchmarking.results import Measured, Report, Row
from vinculum.reporting.bench.words import LEGEND, SPOILT, findings, groups, how, multiple, number, percent, time_of
from vinculum.reporting.escape import escaped, short
from vinculum.reporting.tables import cell, section, table

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
    lines = Table.grid(padding=(0, 1, 0, 0))
    for sentence in findings(report):
        lines.add_row("-", Text(escaped(sentence), "bold red" if sentence.startswith(("WRONG", SPOILT)) else ""))
    yield from section("What stands out", lines)
    yield from section("Where", _facts(report))


def _tables(report: Report, rows: Sequence[Row], width: int) -> Iterator[RenderableType]:
    """Yield one table if it fits, else one of ours and one of the peers."""
    whole = _table(report, rows, report.peers, compared=True)
    if Console(width=_ANY_WIDTH).measure(whole).maximum <= width:
        yield whole
        return
    yield _table(report, rows, (), compared=True)
    yield Text("")
    yield _table(report, rows, report.peers, compared=False)


def _table(report: Report, rows: Sequence[Row], peers: Sequence[str], *, compared: bool) -> Table:
    ours = ["Vinculum", "±"] if compared else []
    # Without a column of its own the peer that we are compared with is named.
    named = ["Fastest exact"] if compared and not peers else []
    last = [*named, "Ratio", "Limit", "Of limit"] if compared else []
    titles = [short(report.titles[name]).replace(" ", "\n") for name in peers]
    made = table("Type", right=[*ours, *titles, *last])
    for row in rows:
        cells = [cell(row.cell.element_type)]
        if compared:
            cells += _ours(row)
        cells += [Text(time_of(row, name), _style(row, name)) for name in peers]
        if named:
            cells.append(_fastest(report, row))
        if compared:
            cells += [_ratio(row), Text(time_of(row, ROOFLINE)), Text(multiple(row.of_roofline))]
        made.add_row(*cells)
    return made


def _ours(row: Row) -> list[Text]:
    outcome = row.measured(OURS)
    style = "bold" if outcome is not None and outcome.exact else "bold red"
    return [Text(time_of(row, OURS), style), Text("" if outcome is None else percent(outcome.spread), "dim")]


def _style(row: Row, name: str) -> str:
    if name == row.fastest:
        return "bold"
    outcome = row.outcomes.get(name)
    return "" if isinstance(outcome, Measured) and outcome.exact else "dim"


def _fastest(report: Report, row: Row) -> Text:
    fastest = row.measured(row.fastest or "")
    if row.fastest is None or fastest is None:
        return Text("-", "dim")
    return Text(f"{short(report.titles[row.fastest])} {number(fastest.median)}")


def _ratio(row: Row) -> Text:
    ratio = row.ratio
    return Text(multiple(ratio), "" if ratio is None else "green" if ratio >= 1 else "yellow")


def _facts(report: Report) -> RenderableType:
    rows = Table.grid(padding=(0, 2, 0, 0))
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    for name, words in {**report.machine, "versions": versions, "date": report.date}.items():
        rows.add_row(Text(escaped(name), "dim"), Text(escaped(words)))
    return rows
