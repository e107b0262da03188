"""The pages of ``vinculum conform --diff``, and of a run compared with a file of known deviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from vinculum.conformance.expect import KnownDeviations, Mismatch
from vinculum.conformance.run.diff import Change, RunDiff
from vinculum.conformance.run.record import Result, Run
from vinculum.reporting.conformance.view import message, verdict_sentence
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.terminal import counted

_CHANGES = 5  # Cases of each kind of change.


def diff_page(found: Sequence[RunDiff], *, verbose: bool = False) -> RenderableType:
    """Return a page of the changes, grouped by the verdicts before and after; a verbose one has every case."""
    return Group(*(line for diff in found for line in _diff(diff, verbose)))


def _diff(diff: RunDiff, verbose: bool) -> Iterator[RenderableType]:
    versions = [f"{name} {old} -> {new}" for name, (old, new) in diff.versions.items()]
    yield Text(short(f"{diff.before.title} -> {diff.after.title}"), "bold")
    yield Text(one_line(", ".join(versions) or "the same versions"), "dim")
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in diff.changes:
        groups.setdefault((change.before.verdict.kind.value, change.after.verdict.kind.value), []).append(change)
    for (old, new), own in sorted(groups.items(), key=lambda group: -len(group[1])):
        yield Text("")
        yield Text(f"{old} -> {new}: {counted(len(own), 'case')}", "bold cyan")
        for change in own if verbose else own[:_CHANGES]:
            yield Text(f"  {one_line(str(change.id))}")
            apart = f"{counted(change.differing, 'quotient')} changed: " if change.differing else ""
            yield Text(f"    {apart}{_told(change.before)} -> {_told(change.after)}", "dim")
        if len(own) > _CHANGES and not verbose:
            yield Text(f"  and {len(own) - _CHANGES:,} more; --verbose names them all")
    yield Text("")
    changed = counted(len(diff.changes), "case") if diff.changes else "no case"
    counts = f"{changed} changed; {diff.removed:,} were only in the first run, {diff.added:,} are only in the second"
    yield Text(counts if diff.removed or diff.added else f"{changed} changed")


def _told(result: Result) -> str:
    return one_line(result.cause) or verdict_sentence(result.verdict)


Comparison = tuple[Run, KnownDeviations, tuple[Mismatch, ...]]

_DISAGREEMENTS = 20


def expected_page(comparisons: Sequence[Comparison], *, verbose: bool = False) -> RenderableType:
    """Return a page of the disagreements between runs and files, or the statement that there are none."""
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
    shown = mismatches if verbose else mismatches[:_DISAGREEMENTS]
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
