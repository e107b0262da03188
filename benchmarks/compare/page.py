"""A run as a page of Markdown: sentences, the figure and tables that are folded by size, as docs/performance.md is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median

from benchmarks.compare.cells import TYPES, Cell
from benchmarks.compare.peers import OURS, PEERS, ROOFLINE
from benchmarks.compare.results import Report, Row
from benchmarks.compare.tables import by_shape, every_peer, safe, table
from vinculum.reporting.terminal import counted

_TOLERABLE = 0.05  # A part of the processors' time.
_MOST = 10  # Cells of a sentence.
_MANY = 65_536  # Elements from which on memory and division count, and the call does not.
_LEVEL = 0.95  # The ratio above which a peer is as fast as we are.

_LEGEND = """\
- Ratio: the time of the fastest exact peer, as a multiple of ours; above 1 we are faster.
- Of limit: our time, as a multiple of a plain pass that reads and writes the same bytes and divides nothing.
- \\*: not every quotient is exact; such a peer is not compared. -: it cannot compute this.
- Bold: the fastest exact peer, and us where we are faster.
- Under *broadcast*: our time, and the ratio in brackets."""

_ELSEWHERE = """\
Other runs: in how many cells we are the fastest, in how many another is faster by more than a twentieth, and the ratios
of {:,} elements and more, and of fewer (median, smallest and largest). A target that is not the processor's own is a
limit: each package was given it by a setting of its own, which ONNX Runtime and OpenVINO's kernels do not have. A
processor without AVX-512 may differ."""

_METHOD = """\
Every peer runs in a process of its own, with the same number of threads, on the same operands, and writes into
allocated memory; only JAX cannot be told where. In each round all take turns, after a pause in which waiting threads
fall asleep. A turn is 20 milliseconds of warm-up and two to five samples. All quotients of every peer are compared with
ours, bit for bit, and a thousand of ours in each cell with the slow exact reference."""


def page(report: Report, stem: str, beside: Sequence[Report] = ()) -> str:
    """Return the page of a run.

    Parameters
    ----------
    report : Report
        The run.
    stem : str
        How the names of the files beside the page begin: ``stem.svg``, the plot, and ``stem.json``.
    beside : sequence of Report, optional
        Runs of the same cells, a line of a table each; one of the same processor has a column of ratios too.
    """
    return "\n".join(_lines(report, stem, beside)) + "\n"


def whole(report: Report) -> str:
    """Return every time of every peer, for a terminal, where nothing can be folded."""
    return "\n".join(_whole(report)) + "\n"


def threads(report: Report) -> str:
    """Return how many threads the peers had."""
    words = f"{counted(report.threads, 'thread')} each"
    single = ", ".join(report.titles[name] for name in report.single_threaded)
    return f"{words} ({single} can use 1 only)" if single and report.threads > 1 else words


def _lines(report: Report, stem: str, beside: Sequence[Report]) -> Iterator[str]:
    yield from ("<!-- Written by `make bench`; changes by hand are lost. -->", "", "# Performance", "")
    yield f"On {_place(report)}:"
    yield ""
    yield from (f"- {safe(sentence)}" for sentence in summary(report))
    if beside:
        yield from ("", _ELSEWHERE.format(_MANY), "", *_elsewhere(beside))
    limited = [other for other in beside if _is_same_processor(report, other)]
    yield from ("", f"![Nanoseconds an element by element type]({stem}.svg)", "", "## Times", "")
    yield f"Nanoseconds an element, {_how(report)}. [Every sample of every peer]({stem}.json) is JSON."
    yield from ("", _LEGEND)
    yield from (f"- A further ratio is that of {other.target}." for other in limited)
    for title, rows in groupby(report.rows, key=_section):
        yield from ("", f"### {title}")
        for size, found in groupby(sorted(rows, key=_size), key=_size):
            each = list(found)
            is_equal = each[0].cell.shape == "equal"
            lines = every_peer(report, each, limited) if is_equal else by_shape(each, limited)
            yield from ("", f"<details markdown><summary>{size:,} elements</summary>", "", *lines, "", "</details>")
    yield from _closing(report)


def _whole(report: Report) -> Iterator[str]:
    yield from (f"- {safe(sentence)}" for sentence in summary(report))
    yield from ("", f"Nanoseconds an element, {_how(report)}.", "", _LEGEND.rpartition("\n")[0])
    for heading, rows in groupby(report.rows, key=lambda row: row.cell.heading):
        yield from ("", f"## {heading}", "", *every_peer(report, rows))
    yield from _closing(report)


def _closing(report: Report) -> Iterator[str]:
    yield from ("", "## Exceptions", "", *(f"- {safe(sentence)}" for sentence in exceptions(report)))
    yield from ("", "## How it was measured", "", _METHOD, "")
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    facts = {**report.machine, "versions": versions, "date": report.date}
    yield from (f"- {name}: {safe(words)}" for name, words in facts.items())


def _section(row: Row) -> str:
    if len(row.cell.shapes) < 2:
        return row.cell.operator
    return f"{row.cell.operator}, {'equal shapes' if row.cell.shape == 'equal' else 'broadcast'}"


def _size(row: Row) -> int:
    return row.cell.size


def _place(report: Report) -> str:
    processor, backend = report.machine.get("processor", "one machine"), report.machine.get("backend")
    return safe(f"{processor}{f', target {backend}' if backend else ''}, {counted(report.threads, 'thread')}")


def _elsewhere(reports: Iterable[Report]) -> Iterator[str]:
    """Yield the lines of a table of runs."""
    lines = []
    for report in reports:
        yield from (f"- {safe(words)}" for words in _wrong(report))
        faster, behind, count = _counts(report)
        kinds = (
            f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})" if found else "-"
            for _, found in _kinds(report)
        )
        lines.append((_place(report), f"{faster:,} of {count:,}", f"{behind:,}", *kinds))
    yield from table(("On", "Fastest", "Behind", "Integers", "Floats", "Fewer elements"), lines)


def _is_same_processor(report: Report, other: Report) -> bool:
    return report.machine.get("processor") == other.machine.get("processor")


def _how(report: Report) -> str:
    return f"medians of {counted(report.rounds, 'round')} in which all take turns; {threads(report)}"


def summary(report: Report) -> Iterator[str]:
    """Yield a few sentences for whoever reads no table: what is wrong, then how ratios and times lie."""
    yield from _wrong(report)
    faster, behind, count = _counts(report)
    if count:
        yield (
            f"Vinculum is the fastest exact package in {faster:,} of {count:,} cells; in {behind:,} another is "
            "faster by more than a twentieth."
        )
    for what, found in _kinds(report):
        if found:
            yield (
                f"{what}: the fastest other exact package takes {median(found):.2f} times as long "
                f"(median; {min(found):.2f} to {max(found):.2f} in single cells)."
            )
    inexact = {
        name: {
            row.cell.element_type for row in report.rows if row.outcomes[name].samples and not row.outcomes[name].exact
        }
        for name in report.peers
    }
    named = [f"{_title(report, name)} of {_types(types)}" for name, types in inexact.items() if types]
    if named:
        yield f"Quotients that are not exact: {'; '.join(named)}."


def _ratios(report: Report) -> list[tuple[Cell, float]]:
    return [(row.cell, row.ratio) for row in report.rows if row.ratio is not None]


def _counts(report: Report) -> tuple[int, int, int]:
    """Return in how many cells we are the fastest, in how many clearly behind, and how many can be compared."""
    ratios = [ratio for _, ratio in _ratios(report)]
    return sum(ratio >= 1 for ratio in ratios), sum(ratio < _LEVEL for ratio in ratios), len(ratios)


def _kinds(report: Report) -> Iterator[tuple[str, list[float]]]:
    """Yield the ratios of integers, of floats, and of few elements."""
    ratios = _ratios(report)
    many = [(cell, ratio) for cell, ratio in ratios if cell.size >= _MANY]
    yield f"Integers, from {_MANY:,} elements on", [ratio for cell, ratio in many if cell.type.is_integer]
    yield f"Floats, from {_MANY:,} elements on", [ratio for cell, ratio in many if not cell.type.is_integer]
    yield "Fewer elements", [ratio for cell, ratio in ratios if cell.size < _MANY]


def exceptions(report: Report) -> Iterator[str]:
    """Yield sentences: what is wrong with ours, whose process ended, where a peer is faster, who cannot what."""
    yield from _wrong(report)
    if report.others > _TOLERABLE:
        yield (
            f"NOT IDLE: {report.others:.0%} of the processors' time went to other processes meanwhile. Measure "
            "again on an idle machine: threads that wait for each other suffer most, PyTorch's by a hundred times."
        )
    for row in report.rows:
        for name in report.peers:
            if row.outcomes[name].ended:
                yield f"{_title(report, name)} ended in {row.cell}: {row.outcomes[name].reason}."
    ratios = [(row.ratio, row.cell) for row in report.rows if row.ratio is not None]
    slower = sorted((pair for pair in ratios if pair[0] < 1), key=lambda pair: pair[0])
    if slower:
        named = "; ".join(f"{cell}: {ratio:.2f}" for ratio, cell in slower[:_MOST])
        more = f"; and {len(slower) - _MOST} more" if len(slower) > _MOST else ""
        yield f"An exact peer is faster in {len(slower):,} of {len(ratios):,} cells: {named}{more}."
    elif ratios:
        yield f"No exact peer is faster in any of {len(ratios):,} cells."
    yield from _lacking(report)
    absent = [name for name in PEERS if name not in report.titles]
    if absent:
        yield f"Not installed: {', '.join(absent)}."


def _wrong(report: Report) -> Iterator[str]:
    for row in report.rows:
        ours, roofline = row.outcomes[OURS], row.outcomes[ROOFLINE]
        if not ours.samples:
            yield f"WRONG: Vinculum has no time in {row.cell}: {ours.reason}."
        elif not ours.exact:
            yield f"WRONG: Vinculum's quotients are not exact in {row.cell}."
        if roofline.samples and not roofline.exact:
            yield f"WRONG: the plain pass did not read and write its memory in {row.cell}."


def _lacking(report: Report) -> Iterator[str]:
    """Yield what each peer cannot compute; the reason that it gives for the first element type stands there once."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in report.rows:
        for name, outcome in row.outcomes.items():
            if name != OURS and outcome.reason and not outcome.ended:
                found.setdefault((name, row.cell.operator), []).append(row)
    for (name, operator), rows in found.items():
        types = dict.fromkeys(row.cell.element_type for row in rows)
        reason = rows[0].outcomes[name].reason.rstrip(".")
        yield f"{_title(report, name)} has no {operator} of {', '.join(types)}: {reason}."


def _types(names: Iterable[str]) -> str:
    return ", ".join(sorted(names, key=list(TYPES).index))


def _title(report: Report, name: str) -> str:
    """Return a title as a sentence begins with it."""
    title = report.titles[name]
    return title[:1].upper() + title[1:]
