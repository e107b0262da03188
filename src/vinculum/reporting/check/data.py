"""What ``vinculum check --json`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vinculum.analysis.accuracy import Accuracy, Bound
from vinculum.analysis.assumptions import MARGIN
from vinculum.analysis.findings import Finding
from vinculum.analysis.triage import Triage
from vinculum.repair.fixing import Fixed
from vinculum.reporting.check import fixes
from vinculum.reporting.check.words import BOUNDS_FROM, block_lists, message, witness_words
from vinculum.reporting.plain import part, plain

_NUMBERS = ("propagated", "introduced", "total")


def as_json(
    triage: Triage,
    calibrated: Sequence[str] = (),
    accuracy: Accuracy | None = None,
    fixed: Fixed | None = None,
) -> dict[str, Any]:
    """Return a report as JSON knows it.

    - `calibrated`: the inputs whose ranges come from data.
    - `accuracy`: the bounds of --accuracy; a bound that does not exist is null.
    - `fixed`: what --fix wrote.
    """
    told = {
        "model": triage.model,
        "calibrated": {"inputs": list(calibrated), "margin": MARGIN},
        "findings": [_finding(finding) for finding in triage.open],
        "suppressed": [
            {**_finding(finding), "reason": one.reason, "expires": one.expires.isoformat()}
            for finding, one in triage.suppressed
        ],
        "in_baseline": [_finding(finding) for finding in triage.known],
        "divisions": {"all": triage.report.divisions, "resting_on_unknown_operators": triage.report.resting},
        **part(triage.report, "unknown_operators", "unknown_weights", "nodes", "seconds"),
    }
    if triage.report.block_list:
        told |= {"must_stay_float32": plain(triage.report.block_list), **block_lists(triage.report.block_list)}
    if accuracy is not None:
        told["accuracy"] = {
            "divisions": [
                {"node": one.name, **part(one, "operator"), **_bound(one, *_NUMBERS)} for one in accuracy.divisions
            ],
            "outputs": [{"name": one.name, **_bound(one, "total")} for one in accuracy.outputs],
        }
    if fixed is not None:
        told["fixed"] = fixes.as_json(fixed)
    return told


def _bound(bound: Bound, *names: str) -> dict[str, Any]:
    numbers = dict.fromkeys(names) if bound.reason else part(bound, *names)
    return {"element_type": bound.element_type, **numbers, "reason": bound.reason}


def _finding(finding: Finding) -> dict[str, Any]:
    witness = finding.witness
    shown = None if witness is None else part(witness, "kind", "tensor", "how", "confirmed_by", "effects")
    return {
        **part(finding, "rule", "severity", "node", "operator", "scope", "divisor"),
        "range": [plain(finding.low), plain(finding.high)],
        "element_type": finding.element_type,
        "bounds_from": BOUNDS_FROM[finding.bounds_from],
        "message": message(finding),
        **part(finding, "path", "frames", "fingerprint", "cause", "fix", "detail"),
        "witness": None if shown is None else {**shown, "message": witness_words(finding)},
        "search": plain(finding.search),
    }
