"""What a conformance run found, in few words: the cases that deviate by verdict and by what they try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vinculum.conformance.run import Result, Run
from vinculum.conformance.verdict import Kind, Verdict
from vinculum.reporting.conformance.matrix import WORST_FIRST, in_order
from vinculum.reporting.harmless import short

_NAMED = 8  # More names than that say less than their number.


@dataclass(frozen=True)
class Finding:
    """Cases that deviate in the same way, on the same sort of values or in the same words; there is at least one."""

    kind: Kind
    value_classes: tuple[str, ...]
    results: tuple[Result, ...]

    @property
    def tried(self) -> str:
        """What its cases try; how many different things, where they are many."""
        first, *others = self.value_classes
        if len(others) < 2:
            return " and ".join(self.value_classes)
        return f"{first} and {len(others)} other kinds of operands"

    @property
    def where(self) -> str:
        """On which element types and in which operator versions; how many, where they are many."""
        types, operators = self.element_types, self.operators
        names = ", ".join(types) if len(types) <= _NAMED else f"{len(types)} element types"
        versions = ", ".join(operators) if len(operators) <= _NAMED else f"{len(operators)} operator versions"
        return short(f"{names}; {versions}")

    @property
    def operators(self) -> tuple[str, ...]:
        """Their operator versions, in the suite's order."""
        return tuple(dict.fromkeys(result.id.row for result in self.results))

    @property
    def element_types(self) -> tuple[str, ...]:
        """Their element types, in the specification's order."""
        return in_order(result.id.element_type for result in self.results)

    @property
    def shown(self) -> Result:
        """The case to show: the one with the largest error among those with an example, else the first."""
        return max(self.results, key=lambda r: (r.verdict.example is not None, r.verdict.largest or 0))


def findings(run: Run) -> tuple[Finding, ...]:
    """Return every finding, the worst kind first and within it the one with the most cases."""
    found: dict[tuple[Kind, str], list[Result]] = {}
    for result in run.results:
        kind = result.verdict.kind
        if kind.deviates:
            # A runtime refuses for one reason, whatever the operands are.
            same = result.verdict.said if kind is Kind.REFUSED else ""
            found.setdefault((kind, same or result.id.scenario), []).append(result)
    made = [
        Finding(kind, tuple(dict.fromkeys(result.id.scenario for result in results)), tuple(results))
        for (kind, _), results in found.items()
    ]
    return tuple(sorted(made, key=lambda finding: (WORST_FIRST.index(finding.kind), -len(finding.results))))


def foremost(found: Sequence[Finding], count: int) -> tuple[Finding, ...]:
    """Return at most so many findings, in their order: the first of each kind, and of the others the worst."""
    firsts = {finding.kind: finding for finding in reversed(found)}
    ranked = sorted(found, key=lambda finding: firsts[finding.kind] is not finding)[:count]
    return tuple(finding for finding in found if any(finding is one for one in ranked))


def ulp_bars(verdicts: Sequence[Verdict]) -> tuple[tuple[str, int], ...]:
    """Return the histogram of several verdicts, the smallest errors first: ``("4 to 7 ulps", 12)``; no bar is empty."""
    bins: dict[int, int] = {}
    for verdict in verdicts:
        for power, count in verdict.ulps.items():
            bins[power] = bins.get(power, 0) + count
    return tuple((ulps_text(power), bins[power]) for power in sorted(bins))


def ulps_text(power: int) -> str:
    """Return what the bar for errors from 2**power to below 2**(power + 1) ulps is called."""
    if power == 0:
        return "1 ulp"
    if power < 14:
        return f"{2**power:,} to {2 ** (power + 1) - 1:,} ulps"
    return f"2^{power} ulps or more"
