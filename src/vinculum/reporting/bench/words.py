"""What every form of a benchmark's report says: groups of rows, numbers, and the sentences below the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor, log10
from statistics import median
from types import MappingProxyType

from vinculum.benchmarking.cells import TYPES, Cell
from vinculum.benchmarking.peers.registry import NAMES, OURS, ROOFLINE
from vinculum.benchmarking.results import Measured, Missing, Report, Row
from vinculum.reporting.tables import counted

SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "equal": "equal shapes",
        "scalar-divisor": "a scalar divisor",
        "scalar-dividend": "a scalar dividend",
        "row": "(M,N)/(N)",
        "column": "(M,N)/(M,1)",
        "channel": "(N,C,H,W)/(C,1,1)",
        "outer": "(M,1)/(1,N)",
    }
)
"""What sentences call the shapes."""

LEGEND = (
    "ratio: the time of the fastest exact peer, as a multiple of ours; above 1 we are faster.",
    "of limit: our time, as a multiple of a plain pass that reads and writes the same bytes.",
    "* not every quotient is exact; such a peer is not compared. -: it cannot compute this.",
)

SPOILT = "NOT IDLE:"
"""How a sentence begins that says that the times are worth little."""

_TOLERABLE = 0.05  # A part of the processors' time.
_MOST = 10  # Cells of a sentence.
_MANY = 65_536  # Elements from which on memory and division count, and the call does not.
_CLEARLY = 0.9  # A ratio that no noise makes.


def groups(report: Report) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Yield the rows of one operator, shape and size together, each under its heading."""
    found: dict[str, list[Row]] = {}
    for row in report.rows:
        found.setdefault(heading(row.cell), []).append(row)
    for words, rows in found.items():
        yield words, tuple(rows)


def heading(cell: Cell) -> str:
    """Return what stands above the rows of a cell's operator, shape and size."""
    shape = f", {SHAPES[cell.shape]}" if len(cell.shapes) == 2 else ""
    return f"{cell.operator}{shape}, {cell.size:,} elements"


def how(report: Report) -> str:
    """Return in one sentence what the numbers are."""
    threads = f"{counted(report.threads, 'thread')} each"
    single = [report.titles[name] for name in report.single]
    if single and report.threads > 1:
        threads += f" ({', '.join(single)} can use 1 only)"
    rounds = counted(report.rounds, "round")
    return f"Nanoseconds an element: medians of {rounds} in which all take turns; {threads}."


def number(value: float) -> str:
    """Return a positive number with three digits: ``"0.407"``, ``"12.3"``, ``"1,234"``."""
    digits = 2 - floor(log10(value))
    rounded = round(value, digits)
    return f"{rounded:,.{max(0, 2 - floor(log10(rounded)))}f}"


def facts(report: Report) -> Mapping[str, str]:
    """Return where and when it was measured, by what each is about."""
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return {**report.machine, "versions": versions, "date": report.date}


def percent(part: float) -> str:
    """Return a part as a whole percentage."""
    return f"{100 * part:.0f}%"


def multiple(value: float | None) -> str:
    """Return a ratio with two decimals, nothing without one."""
    return "" if value is None else f"{value:.2f}"


def time_of(row: Row, name: str) -> str:
    """Return a peer's time in a row, marked if it is not exact; why it has none, in a word."""
    outcome = row.outcomes.get(name)
    if isinstance(outcome, Measured):
        return f"{number(outcome.median)}{'' if outcome.exact else '*'}"
    return "ended" if outcome is not None and outcome.ended else "-"


def findings(report: Report) -> Iterator[str]:
    """Yield sentences: what is wrong with ours, whose process ended, where a peer is faster, who cannot what."""
    yield from _ours(report)
    if report.others > _TOLERABLE:
        yield (
            f"{SPOILT} {percent(report.others)} of the processors' time went to other processes meanwhile. Measure "
            "again on an idle machine: threads that wait for each other suffer most, PyTorch's by a hundred times."
        )
    for row in report.rows:
        for name, outcome in row.outcomes.items():
            if isinstance(outcome, Missing) and outcome.ended and name != OURS:
                yield f"{_title(report, name)} ended in {row.cell}: {outcome.reason}."
    yield from _slower(report)
    yield from _lacking(report)
    absent = [name for name in NAMES if name not in report.titles]
    if absent:
        yield f"Not installed, or not selected: {', '.join(absent)}."


def summary(report: Report) -> Iterator[str]:
    """Yield a few sentences for whoever reads no table: what is wrong, then how ratios and times lie."""
    yield from _ours(report)
    compared = [row for row in report.rows if row.ratio is not None]
    if compared:
        slower = sum(row.ratio < 1 for row in compared if row.ratio is not None)
        clearly = sum(row.ratio < _CLEARLY for row in compared if row.ratio is not None)
        yield (
            f"Vinculum is the fastest exact package in {len(compared) - slower:,} of {len(compared):,} cells; in "
            f"{clearly:,} another is faster by more than a tenth."
        )
    many = [row for row in compared if row.cell.size >= _MANY]
    for what, rows in (
        (f"Integers, from {_MANY:,} elements on", [row for row in many if "int" in row.cell.element_type]),
        (f"Floats, from {_MANY:,} elements on", [row for row in many if "int" not in row.cell.element_type]),
        ("Fewer elements", [row for row in compared if row.cell.size < _MANY]),
    ):
        ratios = sorted(row.ratio for row in rows if row.ratio is not None)
        if ratios:
            yield (
                f"{what}: the fastest other exact package takes {multiple(median(ratios))} times as long as Vinculum "
                f"in the median cell; {multiple(ratios[0])} to {multiple(ratios[-1])} times in all."
            )
    inexact: dict[str, dict[str, None]] = {}
    for row in report.rows:
        for name, outcome in row.outcomes.items():
            if isinstance(outcome, Measured) and not outcome.exact and name not in (OURS, ROOFLINE):
                inexact.setdefault(name, {})[row.cell.element_type] = None
    if inexact:
        named = "; ".join(
            f"{_title(report, name)} of {', '.join(sorted(found, key=list(TYPES).index))}"
            for name, found in inexact.items()
        )
        yield f"Quotients that are not exact: {named}."


def _ours(report: Report) -> Iterator[str]:
    for row in report.rows:
        outcome = row.outcomes[OURS]
        if isinstance(outcome, Missing):
            yield f"WRONG: Vinculum has no time in {row.cell}: {outcome.reason}."
        elif not outcome.exact:
            yield f"WRONG: Vinculum's quotients are not exact in {row.cell}."
        roofline = row.measured(ROOFLINE)
        if roofline is not None and not roofline.exact:
            yield f"WRONG: the plain pass did not read and write its memory in {row.cell}."


def _slower(report: Report) -> Iterator[str]:
    compared = [row for row in report.rows if row.ratio is not None]
    slower = sorted((row for row in compared if (row.ratio or 0) < 1), key=lambda row: row.ratio or 0)
    if not slower:
        if compared:
            yield f"No exact peer is faster in any of {len(compared):,} cells."
        return
    named = "; ".join(f"{row.cell}: {multiple(row.ratio)}" for row in slower[:_MOST])
    more = f"; and {len(slower) - _MOST} more" if len(slower) > _MOST else ""
    yield f"An exact peer is faster in {len(slower):,} of {len(compared):,} cells: {named}{more}."


def _lacking(report: Report) -> Iterator[str]:
    """Yield what each peer cannot compute; what it says of each element type by its name stands there once."""
    types: dict[tuple[str, str], dict[str, None]] = {}
    reasons: dict[tuple[str, str], str] = {}
    for row in report.rows:
        for name, outcome in row.outcomes.items():
            if isinstance(outcome, Missing) and not outcome.ended and name != OURS:
                key = name, row.cell.operator
                types.setdefault(key, {})[row.cell.element_type] = None
                reasons.setdefault(key, outcome.reason)
    for (name, operator), found in types.items():
        yield f"{_title(report, name)} has no {operator} of {', '.join(found)}: {reasons[name, operator].rstrip('.')}."


def _title(report: Report, name: str) -> str:
    title = report.titles[name]
    return title[:1].upper() + title[1:]
