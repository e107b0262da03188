"""What ``vinculum conform`` tells on a terminal: the matrix, what was found, and how to see more."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.conformance.execute.run import Result, Run
from vinculum.reporting.conformance.findings import (
    findings,
    foremost,
    ulp_bars,
)
from vinculum.reporting.conformance.matrix import Cases, matrix
from vinculum.reporting.conformance.survey import silence
from vinculum.reporting.conformance.tables import STYLES, legend, matrices, side_by_side, silent
from vinculum.reporting.conformance.tables import found as findings_table
from vinculum.reporting.conformance.words import example_sentence, message, verdict_sentence
from vinculum.reporting.escape import escaped, one_line, short
from vinculum.reporting.tables import counted, section

_FINDINGS_SHOWN = 8  # With a matrix above them they fill a screen.
_IN_FULL = 5  # So many cases are shown with everything that is known of each.


def page(runs: Sequence[Run], *, width: int, verbose: bool = False) -> RenderableType:
    """Return a page on several runtimes, about a screen for each.

    Parameters
    ----------
    runs : sequence of Run
        One for each runtime.
    width : int
        How many columns there are; the matrix is split if it needs more.
    verbose : bool
        Whether every case that deviates is named.
    """
    parts: list[RenderableType] = []
    if len(runs) > 1:
        parts += [Text("How runtimes divide", "bold"), *section("Side by side", side_by_side(runs))]
        left_open = silence(runs)
        parts += section("Where the specification is silent", silent(left_open, runs)) if left_open else ()
    for run in runs:
        parts += [Text(""), *_runtime(run, width, verbose)] if parts else _runtime(run, width, verbose)
    return Group(*parts)


def _runtime(run: Run, width: int, verbose: bool) -> Iterator[RenderableType]:
    yield Text(short(f"How {run.title} divides"), "bold")
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    yield Text(one_line(versions), "dim")
    if not run.results:
        yield Text("")
        yield Text("No case was run: the runtime covers none of the selected cases.")
        return
    if len(run.results) <= _IN_FULL:
        for result in run.results:
            yield from _in_full(result)
    else:
        yield Text("")
        for part in matrices(matrix(run), width - 2):
            yield Padding(part, (0, 0, 1, 2), expand=False)
        yield Padding(legend(list(run.counts())), (0, 0, 0, 2))
        yield from _all_cases(run) if verbose else _findings(run)
    yield Text("")
    yield from _verdict(run)


def _findings(run: Run) -> Iterator[RenderableType]:
    found = findings(run)
    if not found:
        return
    shown = foremost(found, _FINDINGS_SHOWN)
    yield from section("Found", findings_table(shown))
    if len(found) > _FINDINGS_SHOWN:
        left = sum(len(finding.results) for finding in found) - sum(len(finding.results) for finding in shown)
        count = counted(len(found) - len(shown), "finding")
        more = f"and {count} more, {counted(left, 'case')}; --verbose names every case"
        yield Padding(Text(more), (0, 0, 0, 2))


def _all_cases(run: Run) -> Iterator[RenderableType]:
    blocks: list[RenderableType] = []
    for result in run.results:
        if result.verdict.kind.deviates:
            heading = Text(result.verdict.kind.value, STYLES[result.verdict.kind]).append(
                f"  {escaped(str(result.id))}", "bold"
            )
            blocks += [heading, Text(f"    {verdict_sentence(result.verdict)}", "dim")]
    if blocks:
        yield from section("Every case that deviates", Group(*blocks))


def _in_full(result: Result) -> Iterator[RenderableType]:
    verdict = result.verdict
    words = message(verdict)
    heading = f"{result.id}: {verdict.kind.value}" + (f", {words}" if words else "")
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
            yield Text(escaped(line.expandtabs(4)), "cyan", no_wrap=True, overflow="ignore")


def _verdict(run: Run) -> Iterator[RenderableType]:
    cases = Cases(run.results)
    deviating = cases.deviating
    parts = [f"{counted(cases.total, 'case')} in {run.seconds:.1f} s: {cases.passing:,} pass, {deviating:,} deviate"]
    parts += [f"{cases.unsupported:,} are not supported"] if cases.unsupported else []
    yield Text(", ".join(parts) + ".")
    if deviating:
        left = len(run.unexplained)
        causes = f"{counted(len(run.causes), 'cause')} explain{'s' if len(run.causes) == 1 else ''}"
        yield Text(f"{causes} {deviating - left:,} of {deviating:,} cases that deviate; {left:,} unexplained.")
    if deviating and cases.total > _IN_FULL:
        worst = findings(run)[0].shown
        yield Text("To see one case, with a script that reproduces it:")
        words = ("vinculum", "conform", run.backend, *run.selection.level.options, "--only", str(worst.id))
        command = " ".join(shlex.quote(escaped(word)) for word in words)
        yield Text(f"    {command}", no_wrap=True, overflow="ignore")
