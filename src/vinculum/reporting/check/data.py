"""What ``vinculum check --json`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from vinculum.analysis.assumptions import MARGIN
from vinculum.analysis.findings import Finding, Search, Witness
from vinculum.analysis.triage import Triage
from vinculum.reporting.check.words import BOUNDS_FROM, message, witness_words


def as_json(triage: Triage, calibrated: Sequence[str] = ()) -> dict[str, Any]:
    """Return a report as JSON knows it; infinities and NaN are strings, because JSON has none.

    - `calibrated`: the inputs whose ranges come from data.
    """
    report = triage.report
    return {
        "model": triage.model,
        "calibrated": {"inputs": list(calibrated), "margin": MARGIN},
        "findings": [_finding(finding) for finding in triage.open],
        "suppressed": [
            {**_finding(finding), "reason": one.reason, "expires": one.expires.isoformat()}
            for finding, one in triage.suppressed
        ],
        "in_baseline": [_finding(finding) for finding in triage.known],
        "unknown_operators": dict(report.unknown_operators),
        "divisions": {"all": report.divisions, "resting_on_unknown_operators": report.resting},
        "nodes": report.nodes,
        "seconds": report.seconds,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "node": finding.node,
        "operator": finding.operator,
        "scope": finding.scope,
        "divisor": finding.divisor,
        "range": [number(finding.low), number(finding.high)],
        "element_type": finding.element_type,
        "bounds_from": BOUNDS_FROM[finding.bounds_from],
        "message": message(finding),
        "path": list(finding.path),
        "frames": [asdict(frame) for frame in finding.frames],
        "fingerprint": finding.fingerprint,
        "fix": finding.fix,
        "detail": dict(finding.detail),
        "witness": None if finding.witness is None else _witness(finding.witness, witness_words(finding)),
        "search": None if finding.search is None else _search(finding.search),
    }


def _witness(witness: Witness, words: str) -> dict[str, Any]:
    return {
        "kind": witness.kind,
        "tensor": witness.tensor,
        "how": witness.how,
        "confirmed_by": list(witness.confirmed_by),
        "effects": [asdict(effect) for effect in witness.effects],
        "message": words,
    }


def _search(search: Search) -> dict[str, Any]:
    return {"runs": search.runs, "smallest": number(search.smallest), "stopped": search.stopped}


def number(value: float) -> float | str:
    """Return a number as JSON can hold it."""
    return value if isfinite(value) else str(value)
