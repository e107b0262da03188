"""What ``vinculum conform --diff`` tells: what changed between two runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from vinculum.conformance.run.diff import Change, RunDiff
from vinculum.conformance.run.record import Result
from vinculum.reporting.conformance.words import verdict_sentence
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.plain import part
from vinculum.reporting.terminal import counted

_SHOWN = 5  # Cases of each kind of change.


def page(found: Sequence[RunDiff]) -> RenderableType:
    """Return what changed, by how a verdict became another."""
    return Group(*(line for diff in found for line in _diff(diff)))


def _diff(diff: RunDiff) -> Iterator[RenderableType]:
    versions = [f"{name} {old} -> {new}" for name, (old, new) in diff.versions.items()]
    yield Text(short(f"{diff.before.title} -> {diff.after.title}"), "bold")
    yield Text(one_line(", ".join(versions) or "the same versions"), "dim")
    groups = Counter(_kinds(change) for change in diff.changes)
    for (old, new), count in groups.most_common():
        yield Text("")
        yield Text(f"{old} -> {new}: {counted(count, 'case')}", "bold cyan")
        own = [change for change in diff.changes if _kinds(change) == (old, new)]
        for change in own[:_SHOWN]:
            yield Text(f"  {one_line(str(change.id))}")
            apart = f"{counted(change.differing, 'quotient')} changed: " if change.differing else ""
            yield Text(f"    {apart}{_told(change.before)} -> {_told(change.after)}", "dim")
        if count > _SHOWN:
            yield Text(f"  and {count - _SHOWN:,} more; --json FILE lists them all")
    yield Text("")
    changed = counted(len(diff.changes), "case") if diff.changes else "no case"
    counts = f"{changed} changed; {diff.removed:,} were only in the first run, {diff.added:,} are only in the second"
    yield Text(counts if diff.removed or diff.added else f"{changed} changed")


def _kinds(change: Change) -> tuple[str, str]:
    return change.before.verdict.kind.value, change.after.verdict.kind.value


def _told(result: Result) -> str:
    return one_line(result.cause) or verdict_sentence(result.verdict)


def document(found: Sequence[RunDiff]) -> str:
    """Return what changed as the text of a JSON file: a list with an object for each runtime.

    It has ``before`` and ``after``, each ``{"backend", "date", "versions"}``; ``removed`` and ``added``, whole numbers;
    and ``changes``, a list of ``{"id", "differing", "before", "after"}``: in how many quotients the answers differ, or
    null, and each ``{"verdict", "cause"}``.
    """
    whole = [
        {
            "before": part(diff.before, "backend", "date", "versions"),
            "after": part(diff.after, "backend", "date", "versions"),
            **part(diff, "removed", "added"),
            "changes": [
                {
                    "id": str(change.id),
                    "differing": change.differing,
                    "before": {"verdict": change.before.verdict.kind.value, "cause": change.before.cause},
                    "after": {"verdict": change.after.verdict.kind.value, "cause": change.after.cause},
                }
                for change in diff.changes
            ],
        }
        for diff in found
    ]
    return json.dumps(whole, indent=1) + "\n"
