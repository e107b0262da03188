"""Why a run's answers deviate: every deviating case is given to a cause that predicts what happened there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vinculum.conformance.arithmetic.answered import (
    VALUES,
    Answered,
    Cause,
    Explained,
    Explanation,
    smallest_first,
)
from vinculum.conformance.arithmetic.division import Division
from vinculum.conformance.arithmetic.fitting import Fit
from vinculum.conformance.arithmetic.rules import Told, alignments, outcomes
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType


def explain(answered: Sequence[Answered]) -> Explanation:
    """Return the causes of all that deviates.

    Of each element type's wrong quotients the way to divide that gives the most of them bit for bit comes first; of
    several that give as many, the one that gives most of what passes in the same circumstances, then the simplest.
    What no arithmetic gives is held against other alignments of the operands, and then against rules of what is
    refused, accepted or ends the process. A rule that any case contradicts is none.

    Parameters
    ----------
    answered : sequence of Answered
        What a run asked, in any order; the runtime is not needed.
    """
    left = {id(one): one for one in answered if one.deviates}
    found: list[Explained] = []

    def take(told: Told, divisions: Sequence[Division] = ()) -> None:
        name, statement, cases, passing = told
        own = [one for one in cases if left.pop(id(one), None) is not None]
        if own:
            types = tuple(t for t in ELEMENT_TYPES if any(one.case.element_type is t for one in own))
            found.append(Explained(Cause(name, statement, types, tuple(divisions)), smallest_first(own), passing))

    ways: dict[ElementType, list[Division]] = {}
    arithmetic: dict[str, list[tuple[Division, list[Answered], int]]] = {}
    for element_type, own in _by_type(answered):
        for way, cases, passing in Fit(element_type, own).causes():
            ways.setdefault(element_type, []).append(way)
            arithmetic.setdefault(way.form, []).append((way, cases, passing))
    for told in alignments(answered, ways):
        take(told)
    for form, parts in arithmetic.items():
        statement = "; ".join(text for text in (parts[0][0].statement, parts[0][0].detail) if text)
        cases = [one for _, own, _ in parts for one in own]
        take((f"arithmetic: {form}", statement, cases, sum(passing for *_, passing in parts)), [w for w, *_ in parts])
    for told in outcomes(answered, list(left.values())):
        take(told)
    ordered = sorted(found, key=lambda one: -len(one.cases))
    return Explanation(tuple(ordered), smallest_first(list(left.values())))


def _by_type(answered: Sequence[Answered]) -> Iterator[tuple[ElementType, list[Answered]]]:
    for element_type in ELEMENT_TYPES:
        own = [one for one in answered if one.case.element_type is element_type and one.outcome == VALUES]
        if own and element_type is not REAL:
            yield element_type, own
