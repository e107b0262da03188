"""What ``vinculum check --fix`` tells: what was written for each finding, where results stay, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from vinculum.repair.fixing import Comparison, Fix, Fixed
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.plain import part, plain
from vinculum.reporting.terminal import counted

_NAMED = 3


def lines(fixed: Fixed) -> Iterator[RenderableType]:
    """Yield a line for all findings with the same fix, one for what is left, and what was checked and run."""
    groups: dict[tuple[bool, str, str], list[Fix]] = {}
    for one in fixed.fixes:
        groups.setdefault((one.is_fixed, one.finding.rule, action(one)), []).append(one)
    for (is_fixed, rule, what), alike in sorted(groups.items(), key=lambda pair: not pair[0][0]):
        nodes = ", ".join(short(one.finding.node) for one in alike[:_NAMED])
        more = f" and {len(alike) - _NAMED:,} more" if len(alike) > _NAMED else ""
        line = Text("fixed" if is_fixed else "left", "bold green" if is_fixed else "yellow")
        yield line.append(f"  {rule}", "bold").append(f"  {nodes}{more}: {what}.")
    if fixed.fixes:
        yield Text(summary(fixed))


def action(one: Fix) -> str:
    """Return what was done about a finding, or why nothing was."""
    if one.remedy is None:
        return one_line(one.why)
    if not one.remedy.equal:
        return f"{one.remedy.what}; which results change is shown by runs alone"
    return f"{one.remedy.what}; by relation, results are the same bits wherever {one.remedy.equal}"


def summary(fixed: Fixed) -> str:
    """Return how many findings are fixed, and what runs showed."""
    done = sum(one.is_fixed for one in fixed.fixes)
    left = counted(len(fixed.report.findings), "finding") if fixed.report.findings else "no findings"
    return f"{done:,} of {counted(len(fixed.fixes), 'finding')} fixed; checked again: {left}. {runs(fixed.comparison)}"


def runs(comparison: Comparison) -> str:
    """Return what runs of both models showed."""
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


def as_json(fixed: Fixed) -> dict[str, Any]:
    """Return the same as JSON knows it."""
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
