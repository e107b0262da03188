"""The tables of a run: the times of every peer at one shape and size, and ours under every way to broadcast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import floor, log10

from benchmarks.compare.peers import OURS
from benchmarks.compare.results import Outcome, Report, Row
from vinculum.reporting.escape import one_line


def every_peer(report: Report, rows: Iterable[Row], beside: Sequence[Report] = ()) -> Iterator[str]:
    """Yield the lines of a table: an element type a line, the time of every peer, and the ratios of runs beside it."""
    titles = (report.titles[name] for name in report.peers)
    added = (f"Ratio, {other.target}" for other in beside)
    ratios = [other.ratios for other in beside]
    yield from _head(("Type", "Vinculum", *titles, "Ratio", *added, "Of limit"))
    for row in rows:
        ours = row.outcomes[OURS]
        ahead = row.ratio is not None and row.ratio >= 1
        yield _line(
            (
                row.cell.element_type,
                _time(ours, bold=ahead or not ours.exact),
                *(_time(row.outcomes[name], bold=name == row.fastest) for name in report.peers),
                _multiple(row.ratio),
                *(_multiple(others.get(row.cell)) for others in ratios),
                _multiple(row.of_roofline),
            )
        )


def by_shape(rows: Iterable[Row], beside: Sequence[Report] = ()) -> Iterator[str]:
    """Yield the lines of a table: an element type a line, a way to broadcast a column; our time, and the ratios."""
    ratios = [other.ratios for other in beside]
    cells = {(row.cell.element_type, row.cell.shape_words): row for row in rows}
    shapes = list(dict.fromkeys(words for _, words in cells))
    yield from _head(("Type", *shapes))
    for name in dict.fromkeys(name for name, _ in cells):
        found = (cells.get((name, words)) for words in shapes)
        yield _line(
            (name, *("" if row is None else _ours(row, [others.get(row.cell) for others in ratios]) for row in found))
        )


def table(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield from _head(headings)
    yield from map(_line, lines)


def number(value: float) -> str:
    """Return a positive number with three digits: ``"0.407"``, ``"12.3"``, ``"1,230"``."""
    rounded = round(value, 2 - floor(log10(value)))
    return f"{rounded:,.{max(0, 2 - floor(log10(rounded)))}f}"


def safe(words: str) -> str:
    """Return words on one line of which Markdown makes nothing else; messages of other packages may hold anything."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in one_line(words))


def _head(headings: Sequence[str]) -> Iterator[str]:
    yield _line(headings)
    yield _line(["---", *["---:"] * (len(headings) - 1)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ours(row: Row, beside: Iterable[float | None]) -> str:
    ratios = ", ".join(filter(None, map(_multiple, (row.ratio, *beside))))
    return _time(row.outcomes[OURS]) + (f" ({ratios})" if ratios else "")


def _time(outcome: Outcome, *, bold: bool = False) -> str:
    """Return a time, marked if the quotients are not exact; if there is none, why, in a word."""
    if not outcome.samples:
        words = "ended" if outcome.ended else "-"
    else:
        words = f"{number(outcome.median)}{'' if outcome.exact else '*'}"
    return f"**{safe(words)}**" if bold else safe(words)


def _multiple(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
