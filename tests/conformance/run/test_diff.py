"""Differences between two runs: verdicts, answers, causes and versions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reporting.conformance.reports import exact, report
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.diff import Change, run_diff
from vinculum.conformance.run.file import answered, kept
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Gave, Kind, Result, Run, Selection, Verdict
from vinculum.conformance.run.suite import survey
from vinculum.errors import AttributeValueError
from vinculum.sandbox import Answer, End

BEFORE = report()
CRASH = next(r for r in BEFORE.results if r.verdict.kind is Kind.CRASHED)
MENDED = replace(CRASH, verdict=Verdict(Kind.EXACT, elements=1), cause="", reproducer=None)


def with_one(changed: Result, of: Result = CRASH) -> Run:
    """Return the run with another result of one case."""
    return replace(BEFORE, results=tuple(changed if r is of else r for r in BEFORE.results))


AFTER = replace(with_one(MENDED), versions={**BEFORE.versions, "openvino": "2026.5.0"})


def test_a_case_that_passes_now() -> None:
    (diff,) = run_diff([BEFORE], [AFTER])
    (change,) = diff.changes
    assert (change.id, change.before, change.after) == (CRASH.id, CRASH, MENDED)
    assert diff.versions == {"openvino": ("2026.4.1", "2026.5.0")}


def test_runs_of_one_backend_are_compared() -> None:
    first, second = run_diff([exact(), BEFORE], [AFTER, exact()])
    assert (first.after.backend, len(first.changes)) == ("openvino", 1)
    assert (second.after.backend, len(second.changes)) == ("vinculum", 0)
    with pytest.raises(AttributeValueError, match="the first file has no run of 'openvino', 'vinculum'"):
        run_diff([replace(BEFORE, backend="torch")], [AFTER, exact()])


def test_another_quotient_where_any_will_do() -> None:
    old = replace(CRASH, verdict=Verdict(Kind.UNSPECIFIED, unspecified=(Gave("x", "0", "MAX"),)))
    new = replace(old, verdict=Verdict(Kind.UNSPECIFIED, unspecified=(Gave("x", "0", "0"),)))
    (diff,) = run_diff([with_one(old)], [with_one(new)])
    assert diff.changes == (Change(old, new),)


def test_answers_of_other_bits() -> None:
    """Two runs with the same verdicts may have other answers."""
    run = survey(
        plan("tests.fake_runtime:MultipliesByReciprocal", Selection(Level.QUICK, ("Div-14/float/quotients*",)))
    )
    asked = {one.case.id: one for one in answered(run)}
    at, old = next((n, r) for n, r in enumerate(run.results) if r.verdict.kind is Kind.ULPS and r.verdict.differing)
    one = asked[old.id]
    value = one.answer.value.copy()
    value.reshape(-1)[-1] = np.float32(77)
    new = replace(old, answer=kept(one.case, Answer(End.RETURNED, value)))
    other = replace(run, results=(*run.results[:at], new, *run.results[at + 1 :]))
    (diff,) = run_diff([run], [other])
    assert diff.changes == (Change(old, new, 1),)
    assert run_diff([run], [run])[0].changes == ()
