"""The triage of findings: suppressed ones, with a reason, and those of an earlier report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePath
from typing import Any

import msgspec

from vinculum.analysis.findings import Finding, Report
from vinculum.errors import ModelError
from vinculum.files import read_text
from vinculum.text import one_line, quoted

_LARGEST = 64 << 20  # Bytes of a file of suppressions or of a baseline.
FINGERPRINT = "vinculumStructure/v1"
"""The key of our fingerprints in SARIF."""


class Suppression(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table ``[[suppress]]``: which findings to suppress, why, and until when."""

    reason: str  # Why they are accepted.
    expires: date  # The first day on which they are reported again.
    # What a finding must match, unless empty.
    fingerprint: str = ""
    rule: str = ""
    node: str = ""
    model: str = ""  # The name of a file.

    def meets(self, finding: Finding, model: str) -> bool:
        """Tell whether it matches a finding of a model."""
        pairs = (
            (self.fingerprint, finding.fingerprint),
            (self.rule, finding.rule),
            (self.node, finding.node),
            (self.model, PurePath(model).name),
        )
        return all(not wanted or wanted == found for wanted, found in pairs)


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    suppress: tuple[Suppression, ...] = ()


Baseline = frozenset[tuple[str, str]]
"""The findings of an earlier report: the name of the model's file, and the fingerprint."""


@dataclass(frozen=True, eq=False)
class Triage:
    """The findings of a model, sorted."""

    model: str  # The model's file.
    report: Report  # All that was found.
    open: tuple[Finding, ...]  # The findings to report.
    suppressed: tuple[tuple[Finding, Suppression], ...] = ()  # The accepted findings.
    known: tuple[Finding, ...] = ()  # The findings in the baseline.
    expired: tuple[Suppression, ...] = ()  # Expired suppressions that match a finding.
    has_baseline: bool = False  # Whether there was one.

    def fails(self, severity: str) -> bool:
        """Tell whether ``--fail-on`` of a severity fails."""
        open_ = {id(finding) for finding in self.open}
        return any(id(finding) in open_ for finding in self.report.at_least(severity))


def sorted_out(
    report: Report,
    model: str,
    suppressions: Sequence[Suppression] = (),
    baseline: Baseline | None = None,
    today: date | None = None,
) -> Triage:
    """Return the findings of a model, those apart that are suppressed today or that the baseline has."""
    day = date.today() if today is None else today
    open_: list[Finding] = []
    known: list[Finding] = []
    suppressed: list[tuple[Finding, Suppression]] = []
    expired: list[Suppression] = []
    for finding in report.findings:
        about = [one for one in suppressions if one.meets(finding, model)]
        valid = next((one for one in about if day < one.expires), None)
        if valid is not None:
            suppressed.append((finding, valid))
            continue
        expired += [one for one in about if one not in expired]
        is_known = baseline is not None and (PurePath(model).name, finding.fingerprint) in baseline
        (known if is_known else open_).append(finding)
    return Triage(
        model, report, tuple(open_), tuple(suppressed), tuple(known), tuple(expired), baseline is not None
    )  # fmt: skip


def unused(suppressions: Sequence[Suppression], triages: Sequence[Triage]) -> list[Suppression]:
    """Return the suppressions that match no finding of any model any more."""
    found = [(finding, triage.model) for triage in triages for finding in triage.report.findings]
    return [one for one in suppressions if not any(one.meets(*each) for each in found)]


def read_suppressions(file: Path) -> tuple[Suppression, ...]:
    """Return what a TOML file suppresses; ModelError if it cannot be read, or an entry is invalid."""
    try:
        read = msgspec.toml.decode(_text(file, "--suppress", "a TOML file of [[suppress]] tables"), type=_Content)
    except msgspec.DecodeError as error:
        fields = Suppression if "$.suppress[" in str(error) else _Content
        allowed = f"; allowed: {', '.join(fields.__struct_fields__)}" if "unknown field" in str(error) else ""
        raise ModelError(f"--suppress {str(file)!r} is not a suppression file: {one_line(error)}{allowed}") from None
    for number, entry in enumerate(read.suppress, 1):
        where = f"[[suppress]] {number} of {str(file)!r}"
        if not entry.reason.strip():
            raise ModelError(f"{where} has an empty reason; say why these findings are accepted")
        if not (entry.fingerprint or entry.rule or entry.node):
            raise ModelError(f"{where} matches every finding; give a fingerprint, a rule or a node")
    return read.suppress


def read_baseline(file: Path) -> Baseline:
    """Return the findings of an earlier report, from ``--json`` or ``--sarif``; ModelError if it cannot be read."""
    try:
        read = msgspec.json.decode(_text(file, "--baseline", "a report of vinculum check"))
    except msgspec.DecodeError as error:
        raise ModelError(f"--baseline {str(file)!r} is not JSON: {one_line(error)}") from None
    try:
        return frozenset(_of_sarif(read["runs"]) if "runs" in read else _of_json(read))
    except (KeyError, TypeError, IndexError, AttributeError):
        raise ModelError(
            f"--baseline {str(file)!r} is not a report of vinculum check; give one from --json or --sarif"
        ) from None


def _of_json(read: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return [(PurePath(read["model"]).name, str(one["fingerprint"])) for one in read["findings"]]


def _of_sarif(runs: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    """Return the findings that were open or known; suppressed findings still need their suppression."""
    return [
        (PurePath(str(result["properties"]["model"])).name, str(result["partialFingerprints"][FINGERPRINT]))
        for run in runs
        for result in run["results"]
        if not result.get("suppressions")
    ]


def _text(file: Path, option: str, wanted: str) -> str:
    try:
        return read_text(file, _LARGEST, wanted)
    except OSError as error:
        raise ModelError(f"{option} {quoted(str(file))} cannot be read: {error.strerror or one_line(error)}") from None
