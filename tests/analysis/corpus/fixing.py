"""How many findings of the corpus a guard removes, as ``make hazards`` prints it; fixed models are checked again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial

from tests.analysis.corpus.judging import ENTRIES, checked, model_of, reported
from vinculum.models.source import source_of
from vinculum.repair.fixing import Fix, fixed


def fixes() -> Iterator[Fix]:
    """Yield what was done about each finding."""
    for entry in ENTRIES:
        report = reported(entry)
        if report.findings:
            source = source_of(model_of(entry))
            yield from fixed(source, report, report.findings, partial(checked, entry)).fixes


def main() -> int:
    """Print counts by rule, and why findings are left; return 1 if a guard was taken back."""
    counts: dict[str, Counter[bool]] = {}
    reasons: Counter[str] = Counter()
    for one in fixes():
        counts.setdefault(one.finding.rule, Counter())[one.is_fixed] += 1
        reasons[one.why] += not one.is_fixed
    total = sum(map(Counter.total, counts.values()))
    print(f"\n{sum(count[True] for count in counts.values())} of {total} findings fixed, each model checked again")
    for rule, count in sorted(counts.items()):
        print(f"{rule:24} {count[True]:5} fixed {count[False]:5} left")
    print("\n".join(f"{count} left: {why}" for why, count in reasons.items() if count))
    return any("does not remove it" in why for why, count in reasons.items() if count)


if __name__ == "__main__":
    sys.exit(main())
