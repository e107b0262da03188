"""The table of a benchmark as a record, which a terminal and Markdown show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vinculum.benchmarking.peers.registry import OURS, ROOFLINE
from vinculum.benchmarking.results import Measured, Report, Row
from vinculum.reporting.bench.words import multiple, number, percent, time_of


@dataclass(frozen=True)
class Figure:
    """A cell of the table.

    Attributes
    ----------
    text : str
        What stands there.
    style : str
        As rich takes it; what is bold is the fastest.
    """

    text: str
    style: str = ""


Table = tuple[tuple[str, ...], tuple[tuple[Figure, ...], ...]]
"""The headings, and the rows; all but the first column are flush right."""


def table(report: Report, rows: Sequence[Row], peers: Sequence[str], *, compared: bool = True) -> Table:
    """Return the table of some rows.

    Parameters
    ----------
    report : Report
        The run.
    rows : sequence of Row
        Those of one operator, shape and size.
    peers : sequence of str
        The peers that have a column; without any, the one that we are compared with is named in each row.
    compared : bool, keyword-only
        Whether there are columns of ours, and of what it is compared with.
    """
    ours = ("Vinculum", "±") if compared else ()
    named = ("Fastest exact",) if compared and not peers else ()
    last = ("Ratio", "Limit", "Of limit") if compared else ()
    headings = ("Type", *ours, *(report.titles[name] for name in peers), *named, *last)
    return headings, tuple(tuple(_figures(report, row, peers, compared)) for row in rows)


def _figures(report: Report, row: Row, peers: Sequence[str], compared: bool) -> Iterator[Figure]:
    yield Figure(row.cell.element_type)
    ahead = row.ratio is not None and row.ratio >= 1
    if compared:
        ours = row.measured(OURS)
        sound = ours is not None and ours.exact
        yield Figure(time_of(row, OURS), "bold red" if not sound else "bold" if ahead else "")
        yield Figure("" if ours is None else percent(ours.spread), "dim")
    yield from (Figure(time_of(row, name), _style(row, name)) for name in peers)
    if compared and not peers:
        fastest = row.measured(row.fastest or "")
        yield (
            Figure(f"{report.titles[row.fastest]} {number(fastest.median)}") if row.fastest and fastest else Figure("-")
        )
    if compared:
        yield Figure(multiple(row.ratio), "" if row.ratio is None else "green" if ahead else "yellow")
        yield Figure(time_of(row, ROOFLINE))
        yield Figure(multiple(row.of_roofline))


def _style(row: Row, name: str) -> str:
    if name == row.fastest:
        return "bold"
    outcome = row.outcomes.get(name)
    return "" if isinstance(outcome, Measured) and outcome.exact else "dim"
