"""Conformance runs as SARIF 2.1.0, which code hosts show: a rule for each cause, a result for each case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vinculum.conformance.execute.run import Result, Run
from vinculum.reporting.conformance.words import verdict_sentence
from vinculum.reporting.escape import escaped, one_line
from vinculum.reporting.sarif import sarif


def document(runs: Sequence[Run]) -> str:
    """Return the document: what does not deviate is not in it."""
    return sarif([_run(run) for run in runs])


def _run(run: Run) -> dict[str, Any]:
    deviating = [result for result in run.results if result.verdict.kind.deviates]
    rules = list(dict.fromkeys(map(_rule, deviating)))
    driver = {
        "name": "vinculum conform",
        "rules": [{"id": rule, "shortDescription": {"text": rule}} for rule in rules],
    }
    properties = {"backend": one_line(run.backend), "date": run.date, "versions": dict(run.versions)}
    results = [_result(result, rules) for result in deviating]
    return {"tool": {"driver": driver}, "results": results, "properties": properties}


def _rule(result: Result) -> str:
    return one_line(result.cause) or result.verdict.kind.value


def _result(result: Result, rules: Sequence[str]) -> dict[str, Any]:
    rule = _rule(result)
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "error",
        "message": {"text": f"{result.verdict.kind.value}: {verdict_sentence(result.verdict)}"},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": escaped(str(result.id)), "kind": "member"}]}],
        "partialFingerprints": {"caseId": escaped(str(result.id))},
    }
