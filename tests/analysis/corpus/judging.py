"""Checks the corpus and runs its models to confirm the labels; ``make hazards`` prints the result."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
from onnx import ModelProto

import vinculum
from tests.analysis.corpus.architectures import ENTRIES as ARCHITECTURES
from tests.analysis.corpus.architectures import load
from tests.analysis.corpus.entry import Entry
from tests.analysis.corpus.exported import ENTRIES as EXPORTED
from tests.analysis.corpus.grist import ENTRIES as GRIST
from tests.analysis.corpus.handmade import ENTRIES as HANDMADE
from vinculum.analysis import Report, Severity
from vinculum.models.source import SourceFile, source_of
from vinculum.repair.fixing import Fix, fixed

ENTRIES: tuple[Entry, ...] = (*HANDMADE, *GRIST, *EXPORTED, *ARCHITECTURES)
SAMPLE: tuple[Entry, ...] = (*HANDMADE, *GRIST, *EXPORTED, *ARCHITECTURES[::6])
"""The models that `make test` checks; `make hazards` checks all, and tests/runtimes/analysis runs all."""
_SHOWN = frozenset(
    ("integer-zero-divisor", "min-over-minus-one", "quotient-overflow", "zero-divisor", "zero-over-zero")
)
"""The rules that a run can show."""
_WANTED = 0.95
"""The share of these findings that must have evidence."""
_HERE = Path(__file__).parent


def model_of(entry: Entry) -> ModelProto:
    """Return an entry's model."""
    return _model(entry.model)


@cache
def _model(name: str) -> ModelProto:
    if name.endswith(".gz"):
        return load(_HERE / "models" / name)
    if name.endswith(".onnx"):
        return onnx.load(_HERE / "models" / name)
    return onnx.parser.parse_model(name)


@cache
def _source(name: str) -> SourceFile:
    """Return a model as the check reads it; entries that differ in what is assumed share it."""
    return source_of(_model(name))


@cache
def reported(entry: Entry) -> Report:
    """Return what the check finds in an entry's model, which is checked once."""
    return checked(entry)


def checked(entry: Entry, model: ModelProto | None = None) -> Report:
    """Return what the check finds in an entry's model, or in another that is checked as that is."""
    given = _source(entry.model) if model is None else model
    return vinculum.check(given, assume=entry.assume, as_type=entry.as_type, profile=entry.profile, runs=0)


@dataclass(frozen=True)
class Score:
    """How often a rule was rightly found, wrongly found, and missed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of what was found that is there."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of what is there that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def scores(entries: Iterable[Entry]) -> Mapping[str, Score]:
    """Return the score of every rule, an entry counting once for each rule."""
    counts: dict[str, Counter[str]] = {}
    for entry in entries:
        found = {finding.rule for finding in reported(entry).findings}
        for rule in found | set(entry.rules):
            kind = "missed" if rule not in found else "right" if rule in entry.rules else "wrong"
            counts.setdefault(rule, Counter())[kind] += 1
    return {rule: Score(c["right"], c["wrong"], c["missed"]) for rule, c in sorted(counts.items())}


def _lines() -> Iterator[str]:
    controls = sum(not entry.rules for entry in ENTRIES)
    yield f"{len(ENTRIES)} models, {controls} of them controls"
    for source in sorted({entry.source for entry in ENTRIES}):
        yield f"\n{source}"
        yield f"{'rule':24} {'right':>6} {'wrong':>6} {'missed':>6} {'precision':>10} {'recall':>7}"
        chosen = [entry for entry in ENTRIES if entry.source == source]
        for rule, score in scores(chosen).items():
            numbers = f"{score.right:6} {score.wrong:6} {score.missed:6} {score.precision:10.2f} {score.recall:7.2f}"
            yield f"{rule:24} {numbers}"
    yield from filter(None, map(differing, ENTRIES))


def differing(entry: Entry) -> str:
    """Return how an entry's findings differ from its label; empty if they do not."""
    found = {finding.rule for finding in reported(entry).findings}
    expected = {*entry.rules, *entry.wrongly}
    surplus, missing = found - expected, expected - found
    unknown = dict(reported(entry).unknown_operators) if "transformers" in entry.source else {}
    if not (surplus or missing or unknown):
        return ""
    return f"{entry.name}: surplus {sorted(surplus)}, missing {sorted(missing)}, unknown operators {sorted(unknown)}"


def is_control(entry: Entry) -> bool:
    """Tell whether an entry is a control that can be run in its own element type."""
    return not entry.rules and entry.as_type is None


def arrays(entry: Entry) -> dict[str, Any]:
    """Return the inputs of a witness."""
    return {name: np.asarray(array) for name, array in entry.witness.items()}


def _evidence() -> tuple[Counter[Severity], list[str]]:
    """Return the severities of the findings that labels name and a run can show, and what has no evidence."""
    counts: Counter[Severity] = Counter()
    without = []
    for entry in ENTRIES:
        if entry.as_type is not None or not _SHOWN & set(entry.rules):
            continue
        for one in vinculum.check(model_of(entry), assume=entry.assume, profile=entry.profile).findings:
            if one.rule in _SHOWN and one.rule in entry.rules:
                counts[one.severity] += 1
                if one.severity is Severity.UNCONFIRMED:
                    without.append(f"{entry.name}: {one.rule} at {one.node}, {one.search}")
    return counts, without


def _fixes() -> Iterator[Fix]:
    """Yield how each finding is fixed; fixed models are checked again."""
    for entry in ENTRIES:
        report = reported(entry)
        if report.findings:
            yield from fixed(source_of(model_of(entry)), report, report.findings, partial(checked, entry)).fixes


def main() -> int:
    """Print scores, evidence and fixes; return 1 if a label or evidence is missing, or a fix did not help."""
    print("\n".join(_lines()))
    counts, without = _evidence()
    share = 1 - counts[Severity.UNCONFIRMED] / counts.total()
    told = ", ".join(f"{counts[severity]} {severity.value}" for severity in Severity if counts[severity])
    print(f"\n{counts.total()} findings that runs can show: {told}; {share:.3f} with evidence", *without, sep="\n")
    fixes = list(_fixes())
    by_rule = Counter((one.finding.rule, one.is_fixed) for one in fixes)
    print(f"\n{sum(one.is_fixed for one in fixes)} of {len(fixes)} findings fixed, each model checked again")
    for rule in sorted({rule for rule, _ in by_rule}):
        print(f"{rule:24} {by_rule[rule, True]:5} fixed {by_rule[rule, False]:5} left")
    left = Counter(one.why for one in fixes if not one.is_fixed)
    print("\n".join(f"{count} left: {why}" for why, count in left.items()))
    return any(map(differing, ENTRIES)) or share < _WANTED or any("does not remove it" in why for why in left)


if __name__ == "__main__":
    sys.exit(main())
