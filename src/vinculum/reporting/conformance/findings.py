"""What a conformance run found, in few words: why cases deviate, each cause with its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vinculum.conformance.execute.run import Result, Run
from vinculum.conformance.expect import KnownDeviations
from vinculum.conformance.oracle.verdict import Kind, Verdict
from vinculum.reporting.conformance.matrix import WORST_FIRST, in_order, worst
from vinculum.reporting.escape import short

_NAMED = 8  # More names than that say less than their number.
UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Finding:
    """Cases that deviate for one cause, or unexplained ones of one verdict; there is at least one.

    Attributes
    ----------
    name : str
        The cause's; empty of what is unexplained.
    statement : str
        The cause in English.
    results : tuple of Result
        The cases.
    passing : int
        How many cases that pass the cause predicts too.
    """

    name: str
    statement: str
    results: tuple[Result, ...]
    passing: int = 0

    @property
    def kind(self) -> Kind:
        """The worst of the verdicts."""
        return worst(result.verdict.kind for result in self.results)

    @property
    def where(self) -> str:
        """On which element types and in which operator versions; how many, where they are many."""
        types = in_order(result.id.element_type for result in self.results)
        operators = tuple(dict.fromkeys(result.id.row for result in self.results))
        names = ", ".join(types) if len(types) <= _NAMED else f"{len(types)} element types"
        versions = ", ".join(operators) if len(operators) <= _NAMED else f"{len(operators)} operator versions"
        return short(f"{names}; {versions}")

    @property
    def shown(self) -> Result:
        """The smallest case, of those with the worst verdict; with an example if there is one."""
        worst_of_all = [result for result in self.results if result.verdict.kind is self.kind]
        return min(worst_of_all, key=lambda result: (result.verdict.example is None, result.verdict.elements))

    def reasons(self, known: KnownDeviations | None) -> tuple[tuple[str, str, int], ...]:
        """Return what a file knows of its cases: each reason, its link, and of how many cases, the commonest first."""
        told = [why for result in self.results if (why := reason(result, known)) is not None]
        return tuple((*why, count) for why, count in Counter(told).most_common())


def reason(result: Result, known: KnownDeviations | None) -> tuple[str, str] | None:
    """Return the reason and the link of what a file knows of a case, None if it knows nothing."""
    if known is None or not result.verdict.kind.deviates:
        return None
    return known.reason(result)


def findings(run: Run) -> tuple[Finding, ...]:
    """Return every finding, the worst first and within a verdict the one with the most cases; unexplained ones last."""
    cases: dict[str, list[Result]] = {}
    for result in run.results:
        if result.cause:
            cases.setdefault(result.cause, []).append(result)
    explained = [
        Finding(cause.name, cause.statement, tuple(cases[cause.name]), cause.passing)
        for cause in run.causes
        if cause.name in cases
    ]
    others: dict[Kind, list[Result]] = {}
    for result in run.unexplained:
        others.setdefault(result.verdict.kind, []).append(result)
    unexplained = [Finding("", f"{UNEXPLAINED}: {kind.value}", tuple(results)) for kind, results in others.items()]
    return (*sorted(explained, key=_rank), *sorted(unexplained, key=_rank))


def _rank(finding: Finding) -> tuple[int, int]:
    return WORST_FIRST.index(finding.kind), -len(finding.results)


def foremost(found: Sequence[Finding], count: int) -> tuple[Finding, ...]:
    """Return at most so many findings, in their order: the first of each verdict, and of the others those of most."""
    firsts = {finding.kind: finding for finding in reversed(found)}
    ranked = sorted(found, key=lambda finding: (firsts[finding.kind] is not finding, -len(finding.results)))[:count]
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
