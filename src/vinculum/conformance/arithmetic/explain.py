"""Explaining a run's deviations: each deviating case is assigned to a cause that predicts its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vinculum.conformance.arithmetic.answered import (
    ACCEPTED,
    REFUSED,
    UNSUPPORTED,
    VALUES,
    Answered,
    Cause,
    Explained,
    Explanation,
    smallest_first,
)
from vinculum.conformance.arithmetic.catalogue import named
from vinculum.conformance.arithmetic.circumstances import properties
from vinculum.conformance.arithmetic.division import Division, in_words
from vinculum.conformance.arithmetic.fitting import Fit, gives
from vinculum.conformance.arithmetic.rules import ALIGNMENTS, aligned_so, alignments, outcomes
from vinculum.errors import AttributeValueError
from vinculum.sandbox import End
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.text import did_you_mean, quoted

_OUTCOMES = (*ALIGNMENTS, REFUSED, ACCEPTED, End.CRASHED.value, End.HUNG.value, End.OUT_OF_MEMORY.value)
"""The outcomes that a rule can predict, besides those that begin with `_MORE`."""
_MORE = (f"{End.CRASHED.value}: ", "gave ")


def explain(
    answered: Sequence[Answered],
    fitted: Mapping[ElementType, Fit] | None = None,
    known: Sequence[Cause] = (),
) -> Explanation:
    """Return the causes of all deviations.

    For the wrong quotients of an element type, the way to divide that reproduces the most of them bit for bit comes
    first; a tie is resolved by the number of reproduced passing cases in the same circumstances, then by simplicity.
    Cases that no arithmetic reproduces are compared with other alignments of the operands, then with rules for what is
    refused, accepted or ends the process. Rules that any case contradicts are discarded.

    Parameters
    ----------
    answered : sequence of Answered
        The cases of a run, in any order; the runtime is not needed.
    fitted : Mapping of ElementType to Fit, optional
        The result of `fits` for the same cases, if the caller has it.
    known : sequence of Cause
        Causes that are tried before all others. A few cases may fit several causes; a known cause that fits is
        preferred.
    """
    left = {id(one): one for one in answered if one.deviates}
    found: list[Explained] = []

    def take(cause: Cause, cases: Sequence[Answered], passing: int) -> None:
        own = [one for one in cases if left.pop(id(one), None) is not None]
        if own:
            types = tuple(t for t in ELEMENT_TYPES if any(one.case.element_type is t for one in own))
            found.append(Explained(replace(cause, element_types=types), smallest_first(own), passing))

    for cause in known:
        if not any(contradicts(cause, one) for one in answered):
            own = [one for one in answered if predicts(cause, one, known)]
            take(cause, [one for one in own if one.deviates], sum(not one.deviates for one in own))
    ways: dict[ElementType, list[Division]] = {}
    arithmetic: dict[str, list[tuple[Division, list[Answered], int]]] = {}
    for cause in known:
        for way in cause.divisions:
            ways.setdefault(way.element_type, []).append(way)
    for element_type, fit in (fits(answered) if fitted is None else fitted).items():
        if not any(one.case.element_type is element_type and one.outcome == VALUES for one in left.values()):
            continue
        for way, cases, passing in fit.causes():
            ways.setdefault(element_type, []).append(way)
            arithmetic.setdefault(way.form, []).append((way, cases, passing))
    for told in alignments(answered, ways):
        take(*told)
    for parts in arithmetic.values():
        cases = [one for _, own, _ in parts for one in own]
        take(_arithmetic([way for way, *_ in parts]), cases, sum(passing for *_, passing in parts))
    for told in outcomes(answered, list(left.values())):
        take(*told)
    ordered = sorted(found, key=lambda one: -len(one.cases))
    return Explanation(tuple(ordered), smallest_first(left.values()))


def written(name: str, element_types: Sequence[ElementType]) -> Cause:
    """Return the cause with a name, ``"arithmetic: a * (1/b)"``, for some element types.

    Raises
    ------
    AttributeValueError
        If no cause has that name.
    """
    kind, _, rest = name.partition(": ")
    if kind == "arithmetic":
        return replace(_arithmetic([named(rest, t) for t in element_types]), element_types=tuple(element_types))
    outcome, _, where = rest.partition(" where ")
    if kind != "rule" or not outcome:
        raise AttributeValueError(f"{quoted(name)} is not a cause; causes begin with 'arithmetic: ' or 'rule: '")
    if not (outcome in _OUTCOMES or outcome.startswith(_MORE)):
        hint = did_you_mean(outcome, _OUTCOMES) or f"; allowed: {', '.join(_OUTCOMES)}"
        raise AttributeValueError(f"no rule has the outcome {quoted(outcome)}{hint}")
    return Cause(rest, tuple(element_types), outcome=outcome, where=tuple(where.split(" and ")) if where else ())


def predicts(cause: Cause, one: Answered, others: Sequence[Cause] = ()) -> bool:
    """Tell whether a cause predicts the outcome of a case; for an alignment, together with the other causes."""
    if one.case.element_type not in cause.element_types:
        return False
    if cause.divisions:
        return one.outcome == VALUES and any(gives(way, one) for way in _of_type(one, cause))
    if cause.outcome in ALIGNMENTS:
        ways = {one.case.element_type: [way for other in others for way in _of_type(one, other)]}
        return aligned_so(one, ALIGNMENTS[cause.outcome][1], ways) is True
    return one.outcome == cause.outcome and set(cause.where) <= set(properties(one.case.operation))


def contradicts(cause: Cause, one: Answered) -> bool:
    """Tell whether a case has all properties that a rule names, but another outcome."""
    if cause.divisions or cause.outcome in ALIGNMENTS or one.outcome == UNSUPPORTED:
        return False
    about = one.case.element_type in cause.element_types and set(cause.where) <= set(properties(one.case.operation))
    return about and one.outcome != cause.outcome


def _of_type(one: Answered, cause: Cause) -> list[Division]:
    return [way for way in cause.divisions if way.element_type is one.case.element_type]


def _arithmetic(ways: Sequence[Division]) -> Cause:
    return Cause(in_words(ways[0]), divisions=tuple(ways))


def fits(answered: Sequence[Answered]) -> dict[ElementType, Fit]:
    """Return, for each element type with quotients, the fit of the ways to divide it."""
    found = {}
    for element_type in ELEMENT_TYPES:
        own = [one for one in answered if one.case.element_type is element_type and one.outcome == VALUES]
        if own and element_type is not REAL:
            found[element_type] = Fit(element_type, own)
    return found
