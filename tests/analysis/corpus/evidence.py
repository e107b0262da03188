"""What shows the findings of the corpus, as ``make hazards`` prints it: how many have a witness that was confirmed.

Only findings that a label names count, and of those the rules that a run can show. A model that is checked as if it
were of another type is not run.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import vinculum
from tests.analysis.corpus.judging import ENTRIES, model_of
from vinculum.analysis import Finding, Severity

SHOWN = frozenset(("integer-zero-divisor", "min-over-minus-one", "quotient-overflow", "zero-divisor", "zero-over-zero"))
"""The rules that a run can show."""
WANTED = 0.95
"""The share that is to have evidence."""
_RUNS = 100


def findings() -> Iterator[tuple[str, Finding]]:
    """Yield the findings that labels name, with the names of their entries."""
    for entry in ENTRIES:
        if entry.as_type is None and SHOWN & set(entry.rules):
            report = vinculum.check(model_of(entry), assume=entry.assume, profile=entry.profile, runs=_RUNS)
            yield from ((entry.name, f) for f in report.findings if f.rule in SHOWN and f.rule in entry.rules)


def main() -> int:
    """Print counts by severity and what has no evidence; return 1 if that is too much."""
    counts: Counter[Severity] = Counter()
    without = []
    for name, finding in findings():
        counts[finding.severity] += 1
        if finding.severity is Severity.UNCONFIRMED:
            without.append(f"{name}: {finding.rule} at {finding.node}, {finding.search}")
    total = counts.total()
    share = 1 - counts[Severity.UNCONFIRMED] / total if total else 0.0
    told = ", ".join(f"{counts[severity]} {severity.value}" for severity in Severity if counts[severity])
    print(f"\n{total} findings that runs can show: {told}; {share:.3f} with evidence")
    print("\n".join(without))
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
