"""Conformance runs as SARIF 2.1.0, for code hosts: a rule for each cause, a result for each deviating case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vinculum.conformance.run.record import Result, Run
from vinculum.reporting.conformance.view import Finding, verdict_sentence, view
from vinculum.reporting.escape import escaped, one_line
from vinculum.reporting.plain import sarif
from vinculum.reporting.terminal import counted
from vinculum.spec.rows import ROWS

_DOCUMENTS = {spec.title: spec.source.url for spec in ROWS}


def document(runs: Sequence[Run]) -> str:
    """Return the document of the deviating cases."""
    return sarif([_run(run) for run in runs])


def _run(run: Run) -> dict[str, Any]:
    findings = view(run).findings
    driver = {
        "name": "vinculum conform",
        "version": escaped(run.versions.get("vinculum", "unknown")),
        "rules": [_rule(finding) for finding in findings],
    }
    versions = {escaped(name): escaped(version) for name, version in run.versions.items()}
    properties = {"backend": one_line(run.backend), "date": run.date, "versions": versions}
    places = {id(result): place for place, finding in enumerate(findings) for result in finding.results}
    results = [
        _result(result, findings[places[id(result)]], places[id(result)])
        for result in run.results
        if id(result) in places
    ]
    return {"tool": {"driver": driver}, "results": results, "properties": properties}


def _rule(finding: Finding) -> dict[str, Any]:
    rule = {
        "id": _id(finding),
        "shortDescription": {"text": one_line(finding.statement)},
        "fullDescription": {"text": f"{counted(finding.total, 'case')} of {finding.where}"},
    }
    document = _DOCUMENTS.get(finding.shown.id.operator)
    return rule if document is None else {**rule, "helpUri": document}


def _id(finding: Finding) -> str:
    return one_line(finding.name or finding.statement)


def _result(result: Result, finding: Finding, place: int) -> dict[str, Any]:
    return {
        "ruleId": _id(finding),
        "ruleIndex": place,
        "level": "note" if result.is_reading else "error",
        "message": {"text": f"{result.verdict.kind.value}: {verdict_sentence(result.verdict)}"},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": escaped(str(result.id)), "kind": "member"}]}],
        "partialFingerprints": {"caseId": escaped(str(result.id))},
    }
