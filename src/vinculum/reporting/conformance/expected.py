"""What ``vinculum conform --expect`` tells: where runs and files of known deviations disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from vinculum.conformance.expect import KnownDeviations, Mismatch
from vinculum.conformance.run.record import Run
from vinculum.reporting.conformance.words import message
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.terminal import counted

Comparison = tuple[Run, KnownDeviations, tuple[Mismatch, ...]]

_SHOWN = 20


def page(comparisons: Sequence[Comparison], *, verbose: bool = False) -> RenderableType:
    """Return what is to be looked at, or that nothing is."""
    return Group(*(line for comparison in comparisons for line in _comparison(*comparison, verbose)))


def _comparison(
    run: Run, known: KnownDeviations, mismatches: tuple[Mismatch, ...], verbose: bool
) -> Iterator[RenderableType]:
    yield Text("")
    if not mismatches:
        yield Text(short(f"{run.title} divides as {known.file} says."), "bold green")
    else:
        count = counted(len(mismatches), "disagreement")
        yield Text(short(f"{run.title} does not divide as {known.file} says: {count}."), "bold red")
    shown = mismatches if verbose else mismatches[:_SHOWN]
    for mismatch in shown:
        yield from _mismatch(mismatch, known)
    if len(shown) < len(mismatches):
        yield Text(f"  and {len(mismatches) - len(shown):,} more; --verbose names them all")
    for difference in known.differences(run):
        yield Text(short(f"  {difference}"), "yellow")


def _mismatch(mismatch: Mismatch, known: KnownDeviations) -> Iterator[RenderableType]:
    result = mismatch.result
    if result is None:
        yield Text(f"  {one_line(mismatch.unused)}", "bold")
        yield Text(short(f"    {known.file} lists it, but no case has it"))
        return
    said = message(result.verdict)
    words = f"{mismatch.how.value}: {result.verdict.kind.value}" + (f" ({said})" if said else "")
    yield Text(f"  {one_line(str(result.id))}", "bold")
    yield Text(f"    {short(one_line(words))}")
    if result.cause:
        yield Text(f"    {short(one_line(result.cause))}", "dim")
