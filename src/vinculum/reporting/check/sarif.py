"""Findings as SARIF 2.1.0, which code hosts and editors show: a rule for each hazard, a result for each finding.

Code hosts show alerts in files of the user's repository only: an alert is at the innermost line of the user's program
that is found below its root, else at line 1 of the model. Lines of libraries are related locations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from vinculum.analysis.findings import Finding, Frame, Severity
from vinculum.analysis.hazards import BY_CODE
from vinculum.analysis.triage import FINGERPRINT, Suppression, Triage
from vinculum.reporting.check.words import BOUNDS_FROM, message, sections
from vinculum.reporting.escape import escaped, one_line
from vinculum.reporting.plain import plain, sarif

_ROOT = "%SRCROOT%"
_MOST_RESULTS = 5_000  # Code scanning shows no more of a run, and accepts 25,000.
_MOST_RELATED = 20
_LEVELS = {
    Severity.CERTAIN: "error",
    Severity.WITNESSED: "error",
    Severity.WITNESSED_OUTSIDE: "warning",
    Severity.POSSIBLE: "warning",
    Severity.UNCONFIRMED: "note",
}


def document(triages: Sequence[Triage], root: Path, version: str) -> str:
    """Return the document of one run on several models; its paths are relative to `root`, the repository's folder."""
    return sarif([_Run(triages, root.resolve()).content(version)])


class _Run:
    def __init__(self, triages: Sequence[Triage], root: Path) -> None:
        self._root = root
        self._below_root = cache(self._found_below_root)  # Thousands of findings may have the same few lines.
        self._triages = triages
        self._rules = [code for code in BY_CODE if any(code == f.rule for t in triages for f in t.report.findings)]
        self._with_baseline = any(triage.has_baseline for triage in triages)

    def content(self, version: str) -> dict[str, Any]:
        results = list(self._results())
        order = {"error": 0, "warning": 1, "note": 2}
        results.sort(key=lambda result: order[result["level"]])  # The least certain ones are cut off.
        driver = {"name": "vinculum check", "semanticVersion": version, "rules": [*map(_rule, self._rules)]}
        return {
            "tool": {"driver": driver},
            "automationDetails": {"id": "vinculum-check/"},
            "invocations": [{"executionSuccessful": True}],
            "results": results[:_MOST_RESULTS],
            "properties": {
                "leftOut": max(0, len(results) - _MOST_RESULTS),
                "unknownOperators": sorted({name for t in self._triages for name in t.report.unknown_operators}),
            },
        }

    def _results(self) -> Iterator[dict[str, Any]]:
        for triage in self._triages:
            for finding in triage.open:
                yield self._result(finding, triage.model, "new")
            for finding in triage.known:
                yield self._result(finding, triage.model, "unchanged")
            for finding, suppression in triage.suppressed:
                yield self._result(finding, triage.model, "new", suppression)

    def _result(
        self, finding: Finding, model: str, state: str, suppression: Suppression | None = None
    ) -> dict[str, Any]:
        location, related = self._places(finding, model)
        name = f"{PurePath(model).name}#{finding.scope}{'/' if finding.scope else ''}{finding.node}"
        location["logicalLocations"] = [{"fullyQualifiedName": escaped(name), "kind": "object"}]
        result = {
            "ruleId": finding.rule,
            "ruleIndex": self._rules.index(finding.rule),
            "level": _LEVELS[finding.severity],
            "message": {"text": _text(finding)},
            "locations": [location],
            "relatedLocations": related,
            "partialFingerprints": {FINGERPRINT: finding.fingerprint},
            # The standard requires them for all results of a run or for none.
            "suppressions": [] if suppression is None else [_suppression(suppression)],
            "properties": {
                "severity": finding.severity.value,
                "range": [plain(finding.low), plain(finding.high)],
                "boundsFrom": BOUNDS_FROM[finding.bounds_from],
                "model": escaped(model),
            },
        }
        return {**result, "baselineState": state} if self._with_baseline else result

    def _places(self, finding: Finding, model: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        found = next(
            ((f, p) for f in reversed(finding.frames) if not f.in_library and (p := self._below_root(f)) is not None),
            None,
        )
        alert = _physical(self._model_uri(model), 1) if found is None else _physical(_relative(found[1]), found[0].line)
        told = [frame for frame in reversed(finding.frames) if found is None or frame is not found[0]][:_MOST_RELATED]
        related = [
            {
                "id": place,
                "message": {"text": one_line(f.code) or f"in {one_line(f.function)}"},
                **_physical(self._frame_uri(f), f.line),
            }
            for place, f in enumerate(told, 1)
        ]
        return alert, related

    def _found_below_root(self, frame: Frame) -> PurePath | None:
        """Return the path below the root with the end of a path on the exporter's machine; None if there is none."""
        parts = PurePath(frame.file.replace("\\", "/")).parts
        tails = (PurePath(*parts[start:]) for start in range(len(parts)) if parts[start] not in ("/", "..", "."))
        return next((t for t in tails if not t.is_absolute() and (self._root / t).is_file()), None)

    def _frame_uri(self, frame: Frame) -> dict[str, str]:
        below = None if frame.in_library else self._below_root(frame)
        return {"uri": quote(frame.file.replace("\\", "/"))} if below is None else _relative(below)

    def _model_uri(self, model: str) -> dict[str, str]:
        absolute = Path(model).absolute()
        for path in (absolute, absolute.resolve()):
            if path.is_relative_to(self._root):
                return _relative(path.relative_to(self._root))
        return {"uri": absolute.as_uri()}


def _rule(code: str) -> dict[str, Any]:
    hazard = BY_CODE[code]
    return {
        "id": code,
        "name": type(hazard).__name__,
        "shortDescription": {"text": hazard.message()},
        "fullDescription": {"text": hazard.message()},
        "help": {"text": f"{hazard.message()} Fix: {hazard.fix}."},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["division"], "precision": "high"},
    }


def _text(finding: Finding) -> str:
    said = f"{finding.operator} node {one_line(repr(finding.node))}: {message(finding)}"
    return " ".join((said, *(f"{heading}: {words}." for heading, words in sections(finding).items())))


def _suppression(suppression: Suppression) -> dict[str, Any]:
    return {
        "kind": "external",
        "status": "accepted",
        "justification": one_line(suppression.reason),
        "properties": {"expires": suppression.expires.isoformat()},
    }


def _relative(path: PurePath) -> dict[str, str]:
    return {"uri": quote(path.as_posix()), "uriBaseId": _ROOT}


def _physical(artifact: dict[str, str], line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(1, line)}}}
