"""SARIF: a rule for each cause, a result for each case that deviates, and no hostile text."""

from __future__ import annotations

import json

from tests.reporting.conformance.reports import exact, hostile, report
from vinculum.reporting.conformance.sarif import document


def test_every_case_that_deviates() -> None:
    given = report()
    read = json.loads(document([given, exact()]))
    assert (read["version"], len(read["runs"])) == ("2.1.0", 2)
    first, second = read["runs"]
    deviating = [r for r in given.results if r.verdict.kind.deviates]
    assert [one["partialFingerprints"]["caseId"] for one in first["results"]] == [str(r.id) for r in deviating]
    rules = [rule["id"] for rule in first["tool"]["driver"]["rules"]]
    for one, result in zip(first["results"], deviating, strict=True):
        assert rules[one["ruleIndex"]] == one["ruleId"] == (result.cause or result.verdict.kind.value)
        assert one["message"]["text"].startswith(result.verdict.kind.value)
    assert second["results"] == []


def test_no_character_hides() -> None:
    text = json.loads(document([hostile()]))["runs"][0]["results"][0]["message"]["text"]
    assert text.isprintable()
