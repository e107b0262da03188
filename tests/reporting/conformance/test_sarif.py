"""SARIF: a rule for each cause, a result for each case that deviates, as the standard has it, and no hostile text."""

from __future__ import annotations

from dataclasses import replace

from tests.reporting.conformance.reports import exact, hostile, report
from tests.reporting.formats import read_sarif
from vinculum.conformance.run.verdict import Kind
from vinculum.reporting.conformance.sarif import document


def test_every_case_that_deviates() -> None:
    given = report()
    log = read_sarif(document([given, exact()]))
    first, second = log.runs
    deviating = [r for r in given.results if r.verdict.kind.deviates]
    assert [one.partial_fingerprints["caseId"] for one in first.results] == [str(r.id) for r in deviating]
    for one, result in zip(first.results, deviating, strict=True):
        assert one.rule_id == (result.cause or f"unexplained: {result.verdict.kind.value}")
        assert one.message.text.startswith(result.verdict.kind.value)
        assert one.level == ("note" if result.is_reading else "error")
    assert second.results == ()


def test_a_rule_says_more_than_its_id() -> None:
    (run,) = read_sarif(document([report()])).runs
    for rule in run.tool.driver.rules:
        assert rule.help_uri is not None
        assert rule.help_uri.startswith("https://")
    described = {rule.id: rule.short_description.text for rule in run.tool.driver.rules}
    assert described["arithmetic: a * (1/b)"] == "computed as a multiplication by the reciprocal"
    crash = next(rule for rule in run.tool.driver.rules if rule.id.startswith("rule: crashed"))
    assert crash.full_description.text.startswith("12 cases of int64; Div-6, ")


def test_our_reading_is_no_error() -> None:
    given = report()
    ulps = next(r for r in given.results if r.verdict.kind is Kind.ULPS)
    results = tuple(replace(ulps, clause=clause) for clause in ("ieee-754", "any-shape"))
    (run,) = read_sarif(document([replace(given, results=results)])).runs
    assert [one.level for one in run.results] == ["note", "error"]


def test_hostile_text() -> None:
    (run,) = read_sarif(document([hostile()])).runs
    assert all(one.message.text.isprintable() for one in run.results)
