"""Page and JSON of ``vinculum check``: for every finding its place, reason, witness and remedy, and the fixes made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType, group
from rich.padding import Padding
from rich.text import Text

from vinculum.analysis.accuracy import Accuracy, Bound
from vinculum.analysis.assumptions import MARGIN
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.facts import Fact, Kind
from vinculum.analysis.findings import Blocked, Finding, Report, Severity, by_cause
from vinculum.analysis.places import Step, alert_frame
from vinculum.analysis.triage import Triage, sorted_out
from vinculum.repair.fixing import Comparison, Fix, Fixed
from vinculum.reporting.check.words import BOUNDS_FROM, block_lists, message, sections, witness_words
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.models.run import seconds_text
from vinculum.reporting.plain import part, plain
from vinculum.reporting.terminal import cell, counted, section, some, table

_FIXED_NAMED = 3
_MOST_NAMED = 5
"""The most nodes of one cause that are named besides the first; --json and --sarif have all."""
_STYLES = {
    Severity.CERTAIN: "bold red",
    Severity.WITNESSED: "bold red",
    Severity.WITNESSED_OUTSIDE: "yellow",
    Severity.POSSIBLE: "yellow",
}


@group()
def page(
    triage: Triage, calibrated: Sequence[str] = (), accuracy: Accuracy | None = None, fixed: Fixed | None = None
) -> Iterator[RenderableType]:
    """Return a report as a page: findings, unknown operators and weights, counts, bounds of errors, and fixes.

    - `calibrated`: the inputs whose ranges come from data.
    """
    report = triage.report
    groups = by_cause(triage.open)
    for finding, *alike in groups:
        yield _heading(finding)
        for line in (*_lines(finding), *_alike(alike)):
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
    of_severities = f" ({found})" if found else ""
    yield Text(f"{short(triage.model)}: {findings}{of_severities} in {nodes}, {time}.{_hidden(triage)}")
    if accuracy is not None:
        yield from _accuracy(accuracy)
    if fixed is not None:
        yield fix_page(fixed)


def report_page(report: Report) -> RenderableType:
    """Return the report of `vinculum.check` as a page."""
    return page(sorted_out(report, report.model))


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
    for heading, words in sections(finding).items():
        yield Text(f"{heading}: {words}{'.' * (heading != 'Path')}")


def _alike(others: Sequence[Finding]) -> Iterator[Text]:
    if others:
        names = [short(other.node) for other in others[:_MOST_NAMED]]
        more = [f"{len(others) - len(names):,} more"] if len(others) > len(names) else []
        yield Text(f"Alike ({len(others):,} more): {', '.join((*names, *more))}.")


def _accuracy(accuracy: Accuracy) -> Iterator[RenderableType]:
    if accuracy.divisions:
        yield from section("Errors of divisions", _bounds(accuracy.divisions, ("carried in", "own", "in all")))
    if accuracy.outputs:
        yield from section("Errors of outputs", _bounds(accuracy.outputs, ("in all",)))
    reasons = dict.fromkeys(bound.reason for bound in (*accuracy.divisions, *accuracy.outputs) if bound.reason)
    yield from [Text("")] * bool(reasons)
    for reason in reasons:
        yield Text(f"No bound: {one_line(reason)}.", "yellow")


def _bounds(bounds: Sequence[Bound], headings: Sequence[str]) -> RenderableType:
    rows = table(("output" if len(headings) == 1 else "node",), right=headings)
    for bound in bounds:
        numbers = (bound.propagated, bound.introduced, bound.total)[-len(headings) :]
        rows.add_row(cell(bound.name), *("no bound" if bound.reason else f"{n:.3g}" for n in numbers))
    return rows


@group()
def fix_page(fixed: Fixed) -> Iterator[RenderableType]:
    """Return the fixes as a page: a line for all findings with the same fix, lines for those left, and the runs."""
    groups: dict[tuple[bool, str, str], list[Fix]] = {}
    for one in fixed.fixes:
        groups.setdefault((one.is_fixed, one.finding.rule, _action(one)), []).append(one)
    for (is_fixed, rule, what), alike in sorted(groups.items(), key=lambda pair: not pair[0][0]):
        nodes = some([short(one.finding.node) for one in alike], _FIXED_NAMED)
        line = Text("fixed" if is_fixed else "left", "bold green" if is_fixed else "yellow")
        yield line.append(f"  {rule}", "bold").append(f"  {nodes}: {what}.")
    if fixed.fixes:
        yield Text(_fix_summary(fixed))


def _action(one: Fix) -> str:
    if one.remedy is None:
        return one_line(one.why)
    if not one.remedy.equal:
        return f"{one.remedy.what}; which results change is shown by runs alone"
    return f"{one.remedy.what}; by relation, results are the same bits wherever {one.remedy.equal}"


def _fix_summary(fixed: Fixed) -> str:
    done = sum(one.is_fixed for one in fixed.fixes)
    left = counted(len(fixed.report.findings), "finding") if fixed.report.findings else "no findings"
    return f"{done:,} of {counted(len(fixed.fixes), 'finding')} fixed; checked again: {left}. {_runs(fixed.comparison)}"


def _runs(comparison: Comparison) -> str:
    if not comparison.runs:
        return f"Outputs were not compared: {one_line(comparison.reason)}."
    differing = comparison.runs - comparison.equal - comparison.mended - comparison.guarded
    parts = [f"all outputs the same bits on {comparison.equal:,}"]
    if comparison.mended:
        parts.append(f"only NaN and infinities replaced on {comparison.mended:,}")
    if comparison.guarded:
        parts.append(f"a guard at work on {comparison.guarded:,}")
    if differing:
        parts.append(f"other outputs on {differing:,} (first: {one_line(comparison.worst)})")
    told = f"Of {counted(comparison.runs, 'run')} of both models, {', '.join(parts)}."
    if comparison.witnesses:
        shown = comparison.still_shown
        told += f" On {counted(comparison.witnesses, 'witness run')}, " + (
            f"{shown:,} still with NaN or infinities." if shown else "every output is finite now."
        )
    return told


@group()
def explanation(node: str, steps: Sequence[Step]) -> Iterator[RenderableType]:
    """Return the derivation of the bounds at a node: each value on the way to it, and what is known of it."""
    yield from section(f"How the bounds of {one_line(node)} come about", Text())
    for step in steps:
        made = f" = {one_line(step.operator)}({', '.join(map(one_line, step.operands))})" if step.operator else ""
        yield Padding.indent(Text.assemble((one_line(step.name), "bold"), made), 2)
        for words in _known(step.known):
            yield Padding.indent(Text(words), 4)


def _known(known: AbstractTensor) -> Iterator[str]:
    """Yield what is known of a value: its type and bounds first."""
    low, high = known.box.hull()
    shape = "any shape" if known.shape is None else f"({', '.join(map(str, known.shape))})"
    whole = "whole numbers " if known.integral else ""
    kind, by = known.element_type or "any type", BOUNDS_FROM[known.bounds_from]
    yield f"{kind} {shape}: {whole}in [{low:.6g}, {high:.6g}], by {by}"
    least = float(known.mag.min())
    yield f"never zero, at least {least:.3g} in magnitude" if not known.may_zero else "can be zero"
    if known.may_nan:
        yield "can be NaN"
    yield from map(_fact, known.facts)
    if known.low.size > 1:
        yield f"bounds of {known.low.size} parts differ"


def _fact(fact: Fact) -> str:
    if fact.kind is Kind.SUM:
        return f"the sum along axis {fact.axis} lies in [{fact.low:.6g}, {fact.high:.6g}]"
    return f"along axis {fact.axis} some element is at least {fact.low:.6g}"


def as_json(
    triage: Triage, calibrated: Sequence[str] = (), accuracy: Accuracy | None = None, fixed: Fixed | None = None
) -> dict[str, Any]:
    """Return a report as an object for JSON.

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
                {"node": d.name, "operator": d.operator, **_bound(d, "propagated", "introduced", "total")}
                for d in accuracy.divisions
            ],
            "outputs": [{"name": one.name, **_bound(one, "total")} for one in accuracy.outputs],
        }
    if fixed is not None:
        told["fixed"] = _fixes_as_json(fixed)
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


def _fixes_as_json(fixed: Fixed) -> dict[str, Any]:
    return {
        "fixes": [
            {
                **part(one.finding, "rule", "scope", "node", "fingerprint"),
                **part(one, "is_fixed", "why"),
                "what": None if one.remedy is None else one.remedy.what,
                "same_bits_where": None if one.remedy is None else one.remedy.equal or None,
            }
            for one in fixed.fixes
        ],
        "findings_left": len(fixed.report.findings),
        "comparison": plain(fixed.comparison),
    }
