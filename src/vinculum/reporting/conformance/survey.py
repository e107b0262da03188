"""What a survey tells beside verdicts: what runtimes give where the specification is silent, and errors in ulps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vinculum.conformance.execute.run import Result, Run
from vinculum.conformance.oracle.verdict import Kind
from vinculum.reporting.conformance.matrix import in_order, worst
from vinculum.reporting.conformance.words import message
from vinculum.reporting.escape import short

# What cases try, and the question that a survey asks; those beside ordinary numbers ask the same again.
_QUESTIONS = {"zero divisors": "x / 0", "a zero divisor": "x / 0", "MIN divided by -1": "MIN / -1"}
_CONSTANT = "constant operands"
_BINS = ((0, "1"), (1, "2 to 3"), (2, "4 to 7"), (3, "8 to 255"), (8, "256 or more"))


@dataclass(frozen=True)
class Given:
    """What a runtime gave, in a word or two, and the worst verdict on it; empty words if it was not asked."""

    words: str
    kind: Kind | None


@dataclass(frozen=True)
class SilentRow:
    """A question that the specification leaves open, an element type, and what each runtime gave."""

    question: str
    element_type: str
    given: tuple[Given, ...]


def silence(runs: Sequence[Run]) -> tuple[SilentRow, ...]:
    """Return what every runtime gives for x / 0 and MIN / -1, by element type; nothing if no such case was run."""
    found: dict[tuple[str, str], dict[int, list[Result]]] = {}
    for number, run in enumerate(runs):
        for result in run.results:
            question = _QUESTIONS.get(result.id.scenario)
            # A case of a shape that must be refused tells nothing of the quotient.
            if question is not None and result.verdict.kind is not Kind.REFUSED_AS_REQUIRED:
                found.setdefault((question, result.id.element_type), {}).setdefault(number, []).append(result)
    order = in_order({element_type for _, element_type in found})
    numbers = range(len(runs))
    return tuple(
        SilentRow(question, name, tuple(_given(found[question, name].get(number, [])) for number in numbers))
        for question in dict.fromkeys(_QUESTIONS.values())
        for name in order
        if (question, name) in found
    )


def _given(results: Sequence[Result]) -> Given:
    if not results:
        return Given("", None)
    # Versions that it lacks tell nothing beside one that it has.
    results = [one for one in results if one.verdict.kind is not Kind.UNSUPPORTED] or results
    folded, at_run_time = (
        _either(_did(one) for one in results if (one.id.placement == _CONSTANT) is constant)
        for constant in (True, False)
    )
    words = f"{at_run_time}; folded: {folded}" if folded and at_run_time not in ("", folded) else at_run_time or folded
    return Given(short(words), worst(result.verdict.kind for result in results))


def _either(words: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(words))


def _did(result: Result) -> str:
    """Return what a runtime did in a case: ``"MIN"``, ``"refused"``, ``"SIGFPE"``."""
    verdict = result.verdict
    if verdict.kind is not Kind.UNSPECIFIED:
        return verdict.said if verdict.kind is Kind.CRASHED and verdict.said else verdict.kind.value
    if not verdict.unspecified:
        return "refused"
    first, *others = verdict.unspecified
    plain = not others and not first.where and first.quotients in ("x/0", "MIN/-1")
    return first.quotient if plain else message(verdict)


@dataclass(frozen=True)
class UlpRow:
    """An element type: how many quotients were compared, how many of them are off, and how many by how much."""

    element_type: str
    compared: int
    off: int
    bins: tuple[int, ...]


def ulp_bins() -> tuple[str, ...]:
    """Return what the bins of a `UlpRow` are called, in ulps."""
    return tuple(name for _, name in _BINS)


def errors_in_ulps(run: Run) -> tuple[UlpRow, ...]:
    """Return the element types of which any quotient is off by ulps, in the specification's order."""
    verdicts: dict[str, list[Result]] = {}
    for result in run.results:
        if result.verdict.kind in (Kind.ULPS, Kind.EXACT):
            verdicts.setdefault(result.id.element_type, []).append(result)
    rows = []
    for name in in_order(verdicts):
        own = [result.verdict for result in verdicts[name]]
        counts = [0] * len(_BINS)
        for verdict in own:
            for power, count in verdict.ulps.items():
                counts[max(k for k, (least, _) in enumerate(_BINS) if least <= power)] += count
        if any(counts):
            compared = sum(verdict.elements for verdict in own)
            rows.append(UlpRow(name, compared, sum(counts), tuple(counts)))
    return tuple(rows)
