"""What ``vinculum conform --diff`` tells: what changed between two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from vinculum.conformance.run.diff import Change, RunDiff
from vinculum.conformance.run.record import Result
from vinculum.reporting.conformance.words import verdict_sentence
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.terminal import counted

_SHOWN = 5  # Cases of each kind of change.


def page(found: Sequence[RunDiff], *, verbose: bool = False) -> RenderableType:
    """Return what changed, by how a verdict became another; verbose, every case."""
    return Group(*(line for diff in found for line in _diff(diff, verbose)))


def _diff(diff: RunDiff, verbose: bool) -> Iterator[RenderableType]:
    versions = [f"{name} {old} -> {new}" for name, (old, new) in diff.versions.items()]
    yield Text(short(f"{diff.before.title} -> {diff.after.title}"), "bold")
    yield Text(one_line(", ".join(versions) or "the same versions"), "dim")
    groups = Counter(_kinds(change) for change in diff.changes)
    for (old, new), count in groups.most_common():
        yield Text("")
        yield Text(f"{old} -> {new}: {counted(count, 'case')}", "bold cyan")
        own = [change for change in diff.changes if _kinds(change) == (old, new)]
        for change in own if verbose else own[:_SHOWN]:
            yield Text(f"  {one_line(str(change.id))}")
            apart = f"{counted(change.differing, 'quotient')} changed: " if change.differing else ""
            yield Text(f"    {apart}{_told(change.before)} -> {_told(change.after)}", "dim")
        if count > _SHOWN and not verbose:
            yield Text(f"  and {count - _SHOWN:,} more; --verbose names them all")
    yield Text("")
    changed = counted(len(diff.changes), "case") if diff.changes else "no case"
    counts = f"{changed} changed; {diff.removed:,} were only in the first run, {diff.added:,} are only in the second"
    yield Text(counts if diff.removed or diff.added else f"{changed} changed")


def _kinds(change: Change) -> tuple[str, str]:
    return change.before.verdict.kind.value, change.after.verdict.kind.value


def _told(result: Result) -> str:
    return one_line(result.cause) or verdict_sentence(result.verdict)
