"""Conformance runs as SARIF: a rule for each cause, a result for each deviating case."""

from __future__ import annotations

from dataclasses import replace

from tests.reporting.conformance.reports import exact, hostile, only, report
from tests.reporting.formats import read_sarif
from tests.reporting.printing import Told
from vinculum.conformance.run.record import Kind, Run
from vinculum.reporting.conformance.sarif import document


def test_every_case_that_deviates() -> None:
    given = report()
    log = read_sarif(document([given, exact()]))
    first, second = log.runs
    deviating = [r for r in given.results if r.verdict.kind.deviates]
    assert [one.partial_fingerprints["caseId"] for one in first.results] == [str(r.id) for r in deviating]
    for one, result in zip(first.results, deviating, strict=True):
        assert one.rule_id == (result.cause or f"unexplained: {result.verdict.kind.value}")
    assert second.results == ()


def test_hostile_text() -> None:
    (run,) = read_sarif(document([hostile()])).runs
    assert all(one.message.text.isprintable() for one in run.results)


def of_clauses(*clauses: str) -> Run:
    """Return a run of cases that are off by ulps, one for each clause."""
    one = only(report(), Kind.ULPS)
    return replace(one, results=tuple(replace(one.results[0], clause=clause) for clause in clauses))


TOLD: Told = {
    "a case of each kind": lambda _: document([only(report()), only(exact())]),
    "our reading": lambda _: document([of_clauses("ieee-754", "any-shape")]),
}
