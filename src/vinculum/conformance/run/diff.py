"""The differences between two runs of the suite, such as those of two versions of a runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vinculum.conformance.arithmetic import Answered
from vinculum.conformance.cases.case import CaseId
from vinculum.conformance.run.file import answered
from vinculum.conformance.run.judgement import apart
from vinculum.conformance.run.record import Result, Run
from vinculum.errors import AttributeValueError
from vinculum.text import listed


@dataclass(frozen=True)
class Change:
    """A case whose verdict, answer or cause changed.

    - `differing`: In how many quotients the answers differ; None if in none, or if they cannot be compared.
    """

    before: Result
    after: Result
    differing: int | None = None

    @property
    def id(self) -> CaseId:
        """The id of the case."""
        return self.after.id


@dataclass(frozen=True)
class RunDiff:
    """The differences between two runs.

    - `changes`: The cases of both that differ, in the suite's order.
    - `removed`, `added`: The number of cases that only the first or only the second run has; a case with other numbers
      is another.
    """

    before: Run
    after: Run
    changes: tuple[Change, ...]
    removed: int
    added: int

    @property
    def versions(self) -> Mapping[str, tuple[str, str]]:
        """The versions that differ, before and after."""
        before, after = self.before.versions, self.after.versions
        names = dict.fromkeys((*before, *after))
        pairs = {name: (before.get(name, "none"), after.get(name, "none")) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def run_diff(before: Sequence[Run], after: Sequence[Run]) -> tuple[RunDiff, ...]:
    """Return the differences for each runtime; two single runs are compared even if their runtimes differ.

    AttributeValueError if the files have no runtime in common.
    """
    if len(before) == len(after) == 1:
        return (_diff(before[0], after[0]),)
    earlier = {run.backend: run for run in before}
    found = tuple(_diff(earlier[run.backend], run) for run in after if run.backend in earlier)
    if not found:
        names = listed([run.backend for run in after])
        raise AttributeValueError(f"the first file has no run of {names}; give two files with runs of one backend")
    return found


def _diff(before: Run, after: Run) -> RunDiff:
    earlier = {(result.id, result.digest): result for result in before.results}
    both = [(earlier[key], new) for new in after.results if (key := (new.id, new.digest)) in earlier]
    differ = [(old, new) for old, new in both if old.answer != new.answer]  # to rebuild the others takes seconds
    answers = _answers(before, [old for old, _ in differ])
    others = _answers(after, [new for _, new in differ])
    changes = []
    for old, new in both:
        differing: int | None = 0
        if old.id in answers and old.id in others:
            one = answers[old.id]
            differing = apart(one.answer, others[old.id].answer, one.case.expectation)
        if differing != 0 or _worth(old) != _worth(new):
            changes.append(Change(old, new, differing or None))
    return RunDiff(before, after, tuple(changes), len(earlier) - len(both), len(after.results) - len(both))


def _answers(run: Run, results: Sequence[Result]) -> dict[CaseId, Answered]:
    return {one.case.id: one for one in answered(replace(run, results=tuple(results)))}


def _worth(result: Result) -> tuple[object, ...]:
    """Return the parts of a result that are compared: verdict, values and cause, but not the runtime's messages."""
    verdict = result.verdict
    return verdict.kind, verdict.differing, verdict.example, verdict.unspecified, result.cause
