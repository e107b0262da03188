"""What ``vinculum conform`` tells on a terminal: the matrix, what was found, and how to see more."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.conformance.report import Report, Result
from vinculum.reporting.conformance_findings import (
    example_sentence,
    findings,
    foremost,
    ulp_bars,
    verdict_sentence,
)
from vinculum.reporting.conformance_matrix import deviates, matrix
from vinculum.reporting.conformance_survey import silence
from vinculum.reporting.conformance_tables import STYLES, legend, matrices, side_by_side, silent
from vinculum.reporting.conformance_tables import found as findings_table
from vinculum.reporting.harmless import harmless, one_line, short
from vinculum.reporting.tables import counted, section

_FINDINGS_SHOWN = 8  # With a matrix above them they fill a screen.
_IN_FULL = 5  # So many cases are shown with everything that is known of each.


def page(reports: Sequence[Report], *, width: int, verbose: bool = False) -> RenderableType:
    """Return a page on several runtimes, about a screen for each.

    Parameters
    ----------
    reports : sequence of Report
        One for each runtime.
    width : int
        How many columns there are; the matrix is split if it needs more.
    verbose : bool
        Whether every case that deviates is named.
    """
    parts: list[RenderableType] = []
    if len(reports) > 1:
        parts += [Text("How runtimes divide", "bold"), *section("Side by side", side_by_side(reports))]
        left_open = silence(reports)
        parts += section("Where the specification is silent", silent(left_open, reports)) if left_open else ()
    for report in reports:
        parts += [Text(""), *_runtime(report, width, verbose)] if parts else _runtime(report, width, verbose)
    return Group(*parts)


def _runtime(report: Report, width: int, verbose: bool) -> Iterator[RenderableType]:
    yield Text(short(f"How {report.title} divides"), "bold")
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    yield Text(one_line(versions), "dim")
    if not report.results:
        yield Text("")
        yield Text("No case was run: the runtime covers none of those that were asked for.")
        return
    if len(report.results) <= _IN_FULL:
        for result in report.results:
            yield from _in_full(result)
    else:
        yield Text("")
        for part in matrices(matrix(report), width - 2):
            yield Padding(part, (0, 0, 1, 2), expand=False)
        yield Padding(legend(list(report.counts())), (0, 0, 0, 2))
        yield from _all_cases(report) if verbose else _findings(report)
    yield Text("")
    yield from _verdict(report)


def _findings(report: Report) -> Iterator[RenderableType]:
    found = findings(report)
    if not found:
        return
    shown = foremost(found, _FINDINGS_SHOWN)
    yield from section("Found", findings_table(shown))
    if len(found) > _FINDINGS_SHOWN:
        left = sum(len(finding.results) for finding in found) - sum(len(finding.results) for finding in shown)
        count = counted(len(found) - len(shown), "finding")
        more = f"and {count} more, {counted(left, 'case')}; --verbose names every case"
        yield Padding(Text(more), (0, 0, 0, 2))


def _all_cases(report: Report) -> Iterator[RenderableType]:
    blocks: list[RenderableType] = []
    for result in report.results:
        if deviates(result.verdict.kind):
            heading = Text(result.verdict.kind.value, STYLES[result.verdict.kind]).append(
                f"  {harmless(result.id)}", "bold"
            )
            blocks += [heading, Text(f"    {verdict_sentence(result.verdict)}", "dim")]
    if blocks:
        yield from section("Every case that deviates", Group(*blocks))


def _in_full(result: Result) -> Iterator[RenderableType]:
    verdict = result.verdict
    heading = f"{result.id}: {verdict.kind.value}" + (f", {verdict.words}" if verdict.words else "")
    yield Text("")
    yield Text(one_line(heading), STYLES[verdict.kind])
    lines = [f"Clause {result.clause}: {result.statement}"]
    if verdict.elements:
        lines.append(f"{verdict.differing:,} of {counted(verdict.elements, 'quotient')} differ")
    if verdict.example is not None:
        lines.append(f"At index {verdict.example.index}: {example_sentence(verdict.example)}")
    lines += [f"Off by {name}: {count:,}" for name, count in ulp_bars([verdict])]
    for line in lines:
        yield Padding(Text(one_line(line)), (0, 0, 0, 2))
    if result.reproducer:
        yield Text("")
        # As it stands, so that it can be copied; but a terminal obeys none of it.
        for line in result.reproducer.splitlines():
            yield Text(harmless(line.expandtabs(4)), "cyan", no_wrap=True, overflow="ignore")


def _verdict(report: Report) -> Iterator[RenderableType]:
    kinds = [result.verdict.kind for result in report.results]
    deviating, passing = sum(map(deviates, kinds)), sum(kind.passes for kind in kinds)
    unsupported = len(kinds) - deviating - passing
    parts = [f"{counted(len(kinds), 'case')} in {report.seconds:.1f} s: {passing:,} pass, {deviating:,} deviate"]
    parts += [f"{unsupported:,} are not supported"] if unsupported else []
    yield Text(", ".join(parts) + ".")
    if deviating and len(kinds) > _IN_FULL:
        worst = findings(report)[0].shown
        yield Text("To see one case, with a program that shows it:")
        words = ("vinculum", "conform", report.backend, "--only", worst.id)
        command = " ".join(shlex.quote(harmless(word)) for word in words)
        yield Text(f"    {command}", no_wrap=True, overflow="ignore")
