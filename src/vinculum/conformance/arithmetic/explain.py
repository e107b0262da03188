"""Explaining a run's deviations: each deviating case is assigned to a cause that predicts its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vinculum.conformance.arithmetic.answered import (
    ACCEPTED,
    REFUSED,
    UNSUPPORTED,
    VALUES,
    Answered,
    Cause,
    Explained,
    Explanation,
    arithmetic,
    smallest_first,
)
from vinculum.conformance.arithmetic.catalogue import named
from vinculum.conformance.arithmetic.circumstances import properties
from vinculum.conformance.arithmetic.division import Division
from vinculum.conformance.arithmetic.fitting import Fit, gives
from vinculum.conformance.arithmetic.places import EVERYWHERE, PLACES, mask
from vinculum.conformance.arithmetic.rules import (
    ALIGNMENTS,
    WRONG,
    aligned_so,
    alignments,
    misplaced,
    outcomes,
    wrong_places,
)
from vinculum.conformance.run.verdict import Kind
from vinculum.errors import AttributeValueError
from vinculum.sandbox import End
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.text import did_you_mean, quoted

_OUTCOMES = (*ALIGNMENTS, WRONG, REFUSED, ACCEPTED, End.CRASHED.value, End.HUNG.value, End.OUT_OF_MEMORY.value)
"""The outcomes that a rule can predict, besides those that begin with `_MORE`."""
_MORE = (f"{End.CRASHED.value}: ", "gave ")


def explain(answered: Sequence[Answered], known: Sequence[Cause] = ()) -> Explanation:
    """Return the causes of all deviations.

    A cause explains a case only if it predicts every passing case of the same circumstances, too. For the wrong
    quotients of an element type, the way to divide that reproduces the most of them bit for bit comes first; a tie is
    resolved by simplicity. Cases that no arithmetic reproduces are compared with other alignments of the operands, then
    with rules for what is refused, accepted or ends the process.

    Parameters
    ----------
    answered : sequence of Answered
        The cases of a run, in any order. Where answers differ between runs, no new cause is found for the quotients of
        their element type.
    known : sequence of Cause
        Causes that are tried before all others. A few cases may fit several causes; a known cause that fits is
        preferred, and needs less evidence.
    """
    # An answer that is another the next time has no arithmetic, and those that were the same twice may be so by chance.
    unsteady = {one.case.element_type for one in answered if one.verdict.kind is Kind.DIFFERS}
    answered = [one for one in answered if one.verdict.kind is not Kind.DIFFERS]
    left = {id(one): one for one in answered if one.deviates}
    found: list[Explained] = []

    def take(cause: Cause, cases: Sequence[Answered], passing: int) -> None:
        own = [one for one in cases if left.pop(id(one), None) is not None]
        if own:
            earlier = next((one for one in found if one.cause.name == cause.name), None)
            if earlier is not None:
                found.remove(earlier)
                own, passing = [*earlier.cases, *own], max(passing, earlier.passing)
            found.append(Explained(_of(cause, own), smallest_first(own), passing))

    fitted = fits(answered)
    for cause in known:
        if cause.divisions:
            parts = [
                fitted[way.element_type].at("".join(cause.where)).explained(way)
                for way in cause.divisions
                if way.element_type in fitted
            ]
            take(cause, [one for part in parts for one in part.cases], sum(part.passing for part in parts))
        elif not any(contradicts(cause, one) for one in answered):
            own = [one for one in answered if predicts(cause, one, known)]
            take(cause, [one for one in own if one.deviates], sum(not one.deviates for one in own))
    ways: dict[ElementType, list[Division]] = {}
    for way in (way for cause in known for way in cause.divisions):
        ways.setdefault(way.element_type, []).append(way)
    for told in alignments(answered, ways):
        take(*told)
    computed, consistent = dict[str, Explained](), dict[str, Explained]()
    for element_type, fit in fitted.items():
        if element_type in unsteady:
            continue
        causes, refuted = fit.causes(left.values())
        ways.setdefault(element_type, []).extend(way for part in causes for way in part.cause.divisions)
        for by_name, parts in ((computed, causes), (consistent, refuted)):
            for part in parts:
                name = part.cause.name
                by_name[name] = _both(by_name[name], part) if name in by_name else part
    for told in alignments(answered, ways):
        take(*told)
    for one in computed.values():
        take(one.cause, one.cases, one.passing)
    for told in outcomes(answered, list(left.values())):
        take(*told)
    for told in misplaced(answered, [one for one in left.values() if one.case.element_type not in unsteady]):
        take(*told)
    ordered = sorted(found, key=lambda one: -len(one.cases))
    return Explanation(tuple(ordered), smallest_first(left.values()), tuple(_refuted(consistent.values(), left)))


def _both(one: Explained, other: Explained) -> Explained:
    """Return what an arithmetic explains of several element types."""
    cause = replace(one.cause, divisions=one.cause.divisions + other.cause.divisions)
    return Explained(cause, one.cases + other.cases, one.passing + other.passing, one.refuting + other.refuting)


def _refuted(consistent: Iterable[Explained], left: Mapping[int, Answered]) -> Iterator[Explained]:
    for told in consistent:
        if own := [one for one in told.cases if id(one) in left]:
            yield replace(told, cause=_of(told.cause, own), cases=smallest_first(own))


def _of(cause: Cause, own: Sequence[Answered]) -> Cause:
    return replace(
        cause, element_types=tuple(t for t in ELEMENT_TYPES if any(one.case.element_type is t for one in own))
    )


def written(name: str, element_types: Sequence[ElementType]) -> Cause:
    """Return the cause with a name, ``"arithmetic: a * (1/b)"``, for some element types.

    Raises
    ------
    AttributeValueError
        If no cause has that name.
    """
    kind, _, rest = name.partition(": ")
    outcome, _, where = rest.partition(" where ")
    if kind == "arithmetic":
        if where not in (EVERYWHERE, *PLACES):
            raise AttributeValueError(f"{quoted(where)} is not a place of elements{did_you_mean(where, PLACES)}")
        ways = [named(outcome, t) for t in element_types]
        return replace(arithmetic(ways, where), element_types=tuple(element_types))
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
        return one.outcome == VALUES and any(gives(way, one, None, *cause.where) for way in _of_type(one, cause))
    if cause.outcome in ALIGNMENTS:
        ways = {one.case.element_type: [way for other in others for way in _of_type(one, other)]}
        return aligned_so(one, ALIGNMENTS[cause.outcome][1], ways) is True
    if cause.outcome == WRONG:
        wrong = wrong_places(one) if one.deviates and one.outcome == VALUES else np.zeros(0, np.bool_)
        return bool(wrong.any()) and not (wrong & ~mask(cause.where[0], wrong.size)).any()
    return one.outcome == cause.outcome and set(cause.where) <= set(properties(one.case.operation))


def contradicts(cause: Cause, one: Answered) -> bool:
    """Tell whether a case has all properties that a rule names, but another outcome."""
    if cause.divisions or cause.outcome in (*ALIGNMENTS, WRONG) or one.outcome == UNSUPPORTED:
        return False
    about = one.case.element_type in cause.element_types and set(cause.where) <= set(properties(one.case.operation))
    return about and one.outcome != cause.outcome


def _of_type(one: Answered, cause: Cause) -> list[Division]:
    return [way for way in cause.divisions if way.element_type is one.case.element_type]


def fits(answered: Sequence[Answered]) -> dict[ElementType, Fit]:
    """Return, for each element type with deviating quotients, the fit of the ways to divide it."""
    found = {}
    for element_type in ELEMENT_TYPES:
        own = [one for one in answered if one.case.element_type is element_type and one.outcome == VALUES]
        if element_type is not REAL and any(one.deviates for one in own):
            found[element_type] = Fit(element_type, own)
    return found
