"""What ``vinculum check`` tells: of every finding where it is, why, what shows it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.analysis.accuracy import Accuracy, Bound
from vinculum.analysis.assumptions import MARGIN
from vinculum.analysis.findings import Blocked, Finding, Report, Severity, by_cause
from vinculum.analysis.places import alert_frame
from vinculum.analysis.triage import Triage
from vinculum.repair.fixing import Fixed
from vinculum.reporting.check.fixes import lines
from vinculum.reporting.check.words import block_lists, fix_words, message, path_words, witness_words
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.models.run import seconds_text
from vinculum.reporting.terminal import cell, counted, section, table

_MOST_NAMED = 5
"""Nodes of one cause that are named beside the first; --json and --sarif have all."""
_STYLES = {
    Severity.CERTAIN: "bold red",
    Severity.WITNESSED: "bold red",
    Severity.WITNESSED_OUTSIDE: "yellow",
    Severity.POSSIBLE: "yellow",
}


def page(
    triage: Triage,
    calibrated: Sequence[str] = (),
    accuracy: Accuracy | None = None,
    fixed: Fixed | None = None,
) -> RenderableType:
    """Return a report as a page: findings, what is not known, how many there are, bounds of errors, what was fixed.

    - `calibrated`: the inputs whose ranges come from data.
    """
    bounds = () if accuracy is None else _accuracy(accuracy)
    fixes = () if fixed is None else lines(fixed)
    return Group(*_parts(triage, calibrated), *bounds, *fixes)


def _parts(triage: Triage, calibrated: Sequence[str]) -> Iterator[RenderableType]:
    report = triage.report
    groups = by_cause(triage.open)
    for group in groups:
        yield _heading(group[0])
        for line in (*_lines(group[0]), *_alike(group[1:])):
            yield Padding.indent(line, 2)
        yield Text("")
    for one in triage.expired:
        what = one.fingerprint or one.rule or one.node
        yield Text(f"Suppressed until {one.expires}, reported again: {short(what)} ({short(one.reason)}).", "yellow")
    if report.unknown_operators:
        names = ", ".join(f"{short(name)} ({count:,})" for name, count in report.unknown_operators.items())
        yield Text(f"Unknown operators, whose results may be anything: {names}.{_resting(report)}", "yellow")
    if report.unknown_weights:
        count = counted(len(report.unknown_weights), "initializer")
        yield Text(f"The weights of {count} are taken for any finite numbers; the model was not run.", "dim")
    if calibrated:
        names = ", ".join(map(short, calibrated))
        yield Text(f"Ranges of {names} come from data: floats may lie {MARGIN:.0%} of their spread beyond it.", "dim")
    yield from _block_list(report.block_list)
    counts = {severity: sum(f.severity is severity for f in triage.open) for severity in Severity}
    found = ", ".join(f"{count:,} {severity.value}" for severity, count in counts.items() if count)
    nodes, time = counted(report.nodes, "node"), seconds_text(report.seconds)
    findings = counted(len(triage.open), "finding") if triage.open else "no findings"
    findings += f" of {counted(len(groups), 'cause')}" if len(groups) < len(triage.open) else ""
    yield Text(
        f"{short(triage.model)}: {findings}{f' ({found})' if found else ''} in {nodes}, {time}.{_hidden(triage)}"
    )


def _block_list(blocked: Sequence[Blocked]) -> Iterator[RenderableType]:
    """Yield the nodes that have to stay in float32, and the lists that converters take."""
    if not blocked:
        return
    yield Text(f"{counted(len(blocked), 'node')} must stay in float32:", "yellow")
    for one in blocked[:_MOST_NAMED]:
        yield Padding.indent(Text(f"{short(one.node)} ({one_line(one.operator)}): {one_line(one.why)}"), 2)
    if len(blocked) > _MOST_NAMED:
        yield Padding.indent(Text(f"and {len(blocked) - _MOST_NAMED:,} more"), 2)
    for name, values in block_lists(blocked).items():
        yield Text(f"{name} = {list(map(one_line, values))}")
    yield Text("")


def _resting(report: Report) -> str:
    if not report.divisions:
        return ""
    return f" {report.resting:,} of {counted(report.divisions, 'division')} rest{'s' * (report.resting == 1)} on them."


def _hidden(triage: Triage) -> str:
    suppressed = f" {len(triage.suppressed):,} suppressed." if triage.suppressed else ""
    return suppressed + (f" {len(triage.known):,} in the baseline." if triage.has_baseline else "")


def _heading(finding: Finding) -> Text:
    line = Text(finding.severity.value, _STYLES.get(finding.severity, ""))
    where = f" in {short(finding.scope)}" if finding.scope else ""
    line.append(f"  {finding.rule}", "bold").append(f"  {short(finding.node)}{where}")
    frame = alert_frame(finding.frames)
    return line if frame is None else line.append(f"  {one_line(frame.file)}:{frame.line}", "cyan")


def _lines(finding: Finding) -> Iterator[Text]:
    frame = finding.frames[-1] if finding.frames else None
    if frame is not None and frame.code:
        yield Text(one_line(frame.code), "italic")
    yield Text(message(finding))
    path, witness = path_words(finding), witness_words(finding)
    if path:
        yield Text(f"Path: {path}")
    if witness:
        yield Text(f"{'Witness' if finding.witness else 'Search'}: {witness}.")
    yield Text(f"Fix: {fix_words(finding)}.")


def _alike(others: Sequence[Finding]) -> Iterator[Text]:
    """Yield a line on the findings of the same cause."""
    if others:
        names = [short(other.node) for other in others[:_MOST_NAMED]]
        more = [f"{len(others) - len(names):,} more"] if len(others) > len(names) else []
        yield Text(f"Alike ({len(others):,} more): {', '.join((*names, *more))}.")


def _accuracy(accuracy: Accuracy) -> Iterator[RenderableType]:
    """Yield bounds of absolute errors, and why there are none."""
    if accuracy.divisions:
        yield from section("Errors of divisions", _bounds(accuracy.divisions, ("carried in", "own", "in all")))
    if accuracy.outputs:
        yield from section("Errors of outputs", _bounds(accuracy.outputs, ("in all",)))
    reasons = dict.fromkeys(bound.reason for bound in (*accuracy.divisions, *accuracy.outputs) if bound.reason)
    yield from [Text("")] * bool(reasons)
    for reason in reasons:
        yield Text(f"No bound: {one_line(reason)}.", "yellow")


def _bounds(bounds: Sequence[Bound], headings: Sequence[str]) -> RenderableType:
    rows = table("output" if len(headings) == 1 else "node", right=headings)
    for bound in bounds:
        numbers = (bound.propagated, bound.introduced, bound.total)[-len(headings) :]
        rows.add_row(cell(bound.name), *("no bound" if bound.reason else f"{n:.3g}" for n in numbers))
    return rows
