"""A benchmark as a page of Markdown, tables and figure, as docs/performance.md has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vinculum.benchmarking.results import Report
from vinculum.reporting.bench.table import Table, table
from vinculum.reporting.bench.words import LEGEND, facts, findings, groups, how, summary
from vinculum.reporting.escape import one_line

_METHOD = """\
Every peer runs in a process of its own, with the same number of threads, on the same operands, and writes into
allocated memory; only JAX cannot be told where. In each round all of them take turns, after a pause in which waiting
threads fall asleep. A turn is 20 milliseconds of warm-up and two to five samples, each of calls that last a millisecond
together. All quotients of every peer are compared with ours, bit for bit, and a thousand of ours in each cell with the
slow exact reference. The limit is a pass over the same memory by the same number of threads, which reads the operands,
writes the same number of bytes, and divides nothing."""


def document(report: Report, figure: str | None) -> str:
    """Return the page.

    Parameters
    ----------
    report : Report
        What it tells.
    figure : str or None
        Where the plot lies, as seen from the page.
    """
    return "\n".join(_lines(report, figure)) + "\n"


def _lines(report: Report, figure: str | None) -> Iterator[str]:
    yield "<!-- Written by `vinculum bench --markdown`, as `make bench` calls it; changes by hand are lost. -->"
    yield from ("", "# Performance", "")
    yield from (f"- {_safe(sentence)}" for sentence in summary(report))
    if figure is not None:
        yield from ("", f"![Nanoseconds an element by element type]({figure})")
    yield from ("", "## How to read the tables", "", _safe(how(report)), "")
    yield from (f"- {_safe(line)}" for line in LEGEND)
    yield "- Bold: the fastest exact peer, and us where we are faster."
    for heading, rows in groups(report):
        yield from ("", f"## {_safe(heading)}", "")
        yield from _table(table(report, rows, report.peers))
    yield from ("", "## Exceptions", "")
    yield from (f"- {_safe(sentence)}" for sentence in findings(report))
    yield from ("", "## How it is measured", "", _METHOD, "", "## Where it was measured", "")
    yield from (f"- {_safe(name)}: {_safe(words)}" for name, words in facts(report).items())


def _table(record: Table) -> Iterator[str]:
    headings, rows = record
    yield _row([_safe(heading) for heading in headings])
    yield _row(["---", *["---:"] * (len(headings) - 1)])
    for row in rows:
        yield _row([f"**{_safe(one.text)}**" if one.style == "bold" else _safe(one.text) for one in row])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _safe(words: str) -> str:
    """Return words on one line of which Markdown makes nothing else."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in one_line(words))
