"""What ``vinculum conform --expect`` tells: where runs and files of known deviations disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from vinculum.conformance.known_deviations import KnownDeviations, Mismatch
from vinculum.conformance.report import Report
from vinculum.reporting.harmless import one_line, short
from vinculum.reporting.tables import counted

Comparison = tuple[Report, KnownDeviations, tuple[Mismatch, ...]]

_SHOWN = 20


def page(comparisons: Sequence[Comparison], *, verbose: bool = False) -> RenderableType:
    """Return what is to be looked at, or that nothing is."""
    return Group(*(line for comparison in comparisons for line in _comparison(*comparison, verbose)))


def _comparison(
    report: Report, known: KnownDeviations, mismatches: tuple[Mismatch, ...], verbose: bool
) -> Iterator[RenderableType]:
    yield Text("")
    if not mismatches:
        yield Text(short(f"{report.title} divides as {known.file} says."), "bold green")
    else:
        count = counted(len(mismatches), "disagreement")
        yield Text(short(f"{report.title} does not divide as {known.file} says: {count}."), "bold red")
    shown = mismatches if verbose else mismatches[:_SHOWN]
    for mismatch in shown:
        yield Text(f"  {one_line(mismatch.id)}", "bold")
        yield Text(f"    {short(one_line(mismatch.words))}")
    if len(shown) < len(mismatches):
        yield Text(f"  and {len(mismatches) - len(shown):,} more; --verbose names them all")
    for package, version in known.versions:
        actual = report.versions.get(package)
        if actual != version:
            found = "is not what answered" if actual is None else f"{actual} answered"
            yield Text(short(f"  The file is for {package} {version}; {found}."), "yellow")
