"""What ``vinculum check`` tells: of every finding where it is, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.analysis.assumptions import MARGIN
from vinculum.analysis.domain.abstract_tensor import BoundsFrom
from vinculum.analysis.findings import Finding, Frame, Report, Severity
from vinculum.analysis.hazards.registry import BY_CODE
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.models.run import seconds_text
from vinculum.reporting.tables import counted

_STYLES = {Severity.CERTAIN: "bold red", Severity.WITNESSED: "bold red", Severity.POSSIBLE: "yellow"}
_BOUNDS_FROM = {
    BoundsFrom.MODEL: "the model alone",
    BoundsFrom.DECLARED: "declared ranges",
    BoundsFrom.TYPE: "the element type",
}


def page(report: Report, model: str, calibrated: Sequence[str] = ()) -> RenderableType:
    """Return a report as a page: findings, then what is not known, then how many there are.

    - `calibrated`: the inputs whose ranges come from data.
    """
    return Group(*_parts(report, model, calibrated))


def _parts(report: Report, model: str, calibrated: Sequence[str]) -> Iterator[RenderableType]:
    for finding in report.findings:
        yield _heading(finding)
        for line in _lines(finding):
            yield Padding(Text(line), (0, 0, 0, 2), expand=False)
        yield Text("")
    if report.unknown_operators:
        names = ", ".join(f"{one_line(name)} ({count:,})" for name, count in report.unknown_operators.items())
        yield Text(f"Nothing is known of these operators, whose results may be anything: {names}.", "yellow")
    if calibrated:
        names = ", ".join(map(one_line, calibrated))
        yield Text(f"Ranges of {names} come from data: floats may lie {MARGIN:.0%} of their spread beyond it.", "dim")
    counts = {severity: sum(f.severity is severity for f in report.findings) for severity in Severity}
    found = ", ".join(f"{count:,} {severity.value}" for severity, count in counts.items() if count)
    nodes, time = counted(report.nodes, "node"), seconds_text(report.seconds)
    findings = counted(len(report.findings), "finding") if report.findings else "no findings"
    yield Text(f"{short(model)}: {findings}{f' ({found})' if found else ''} in {nodes}, {time}.")


def _heading(finding: Finding) -> Text:
    line = Text(finding.severity.value, _STYLES.get(finding.severity, ""))
    where = f" in {one_line(finding.scope)}" if finding.scope else ""
    line.append(f"  {finding.rule}", "bold").append(f"  {one_line(finding.node)}{where}")
    frame = alert_frame(finding)
    return line if frame is None else line.append(f"  {one_line(frame.file)}:{frame.line}", "cyan")


def alert_frame(finding: Finding) -> Frame | None:
    """Return the line that an alert belongs to: the innermost of the user's own program, else the innermost."""
    own = [frame for frame in finding.frames if not frame.in_library]
    return next(reversed(own or finding.frames), None)


def _lines(finding: Finding) -> Iterator[str]:
    frame = finding.frames[-1] if finding.frames else None
    if frame is not None and frame.code:
        yield one_line(frame.code)
    yield message(finding)
    if len(finding.path) > 1:
        yield f"Path: {' -> '.join(one_line(name) for name in shortened(finding.path))} -> {one_line(finding.node)}"
    yield f"Fix: {finding.fix}."


def message(finding: Finding) -> str:
    """Return what is wrong, in a line: the value, its bounds, what they rest on, and the hazard's own message."""
    bounds = f"[{finding.low:.6g}, {finding.high:.6g}]"
    rest = _BOUNDS_FROM[finding.bounds_from]
    detail = "".join(f" {name.replace('_', ' ').capitalize()}: {value}." for name, value in finding.detail.items())
    said = BY_CODE[finding.rule].message()
    return f"{one_line(repr(finding.divisor))} lies in {bounds}, by {rest}. {said}{detail}"


def shortened(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path with its middle left out if it is long."""
    return path if len(path) <= 8 else (*path[:3], "...", *path[-4:])


def as_json(report: Report, model: str, calibrated: Sequence[str] = ()) -> dict[str, Any]:
    """Return the same as JSON knows it; infinities are strings, because JSON has none."""
    return {
        "model": model,
        "calibrated": {"inputs": list(calibrated), "margin": MARGIN},
        "findings": [_as_json(finding) for finding in report.findings],
        "unknown_operators": dict(report.unknown_operators),
        "nodes": report.nodes,
        "seconds": report.seconds,
    }


def _as_json(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "node": finding.node,
        "operator": finding.operator,
        "scope": finding.scope,
        "divisor": finding.divisor,
        "range": [_number(finding.low), _number(finding.high)],
        "element_type": finding.element_type,
        "bounds_from": _BOUNDS_FROM[finding.bounds_from],
        "message": message(finding),
        "path": list(finding.path),
        "frames": [
            {"file": f.file, "line": f.line, "function": f.function, "code": f.code, "in_library": f.in_library}
            for f in finding.frames
        ],
        "fingerprint": finding.fingerprint,
        "fix": finding.fix,
        "detail": dict(finding.detail),
    }


def _number(value: float) -> float | str:
    return value if abs(value) < float("inf") else str(value)
