"""Explaining a run's deviations: each deviating case is assigned to a cause that predicts its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vinculum.conformance.arithmetic.answered import (
    ACCEPTED,
    REFUSED,
    UNSUPPORTED,
    VALUES,
    Answered,
    Explained,
    Explanation,
    Predictor,
    arithmetic,
    smallest_first,
)
from vinculum.conformance.arithmetic.catalogue import named
from vinculum.conformance.arithmetic.circumstances import EVERYWHERE, PLACES, has, mask
from vinculum.conformance.arithmetic.division import Division
from vinculum.conformance.arithmetic.fitting import Fit, gives
from vinculum.conformance.arithmetic.rules import (
    ALIGNMENTS,
    WRONG,
    aligned_so,
    alignments,
    misplaced,
    outcomes,
    wrong_places,
)
from vinculum.conformance.run.record import Kind
from vinculum.errors import AttributeValueError
from vinculum.sandbox import End
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.text import did_you_mean, quoted

_OUTCOMES = (*ALIGNMENTS, WRONG, REFUSED, ACCEPTED, End.CRASHED.value, End.HUNG.value, End.OUT_OF_MEMORY.value)
"""The outcomes that a rule can predict, besides those that begin with `_MORE`."""
_MORE = (f"{End.CRASHED.value}: ", "gave ")


def explain(answered: Sequence[Answered], known: Sequence[Predictor] = ()) -> Explanation:
    """Return the causes of all deviations.

    A cause explains a case only if it predicts every passing case of the same circumstances, too. For the wrong
    quotients of an element type, the way to divide that reproduces the most of them bit for bit comes first; a tie is
    resolved by simplicity. Cases that no arithmetic reproduces are compared with other alignments of the operands, then
    with rules for what is refused, accepted or ends the process.

    - `answered`: The cases of a run, in any order. Where answers differ between runs, no new cause is found for the
      quotients of their element type.
    - `known`: Causes that are tried before all others. A few cases may fit several causes; a known cause that fits is
      preferred, and needs less evidence.
    """
    # An answer that is another the next time has no arithmetic, and those that were the same twice may be so by chance.
    unsteady = {one.case.element_type for one in answered if one.verdict.kind is Kind.DIFFERS}
    answered = [one for one in answered if one.verdict.kind is not Kind.DIFFERS]
    ledger, fitted = _Ledger(answered), fits(answered)
    for cause in known:
        ledger.take([_told(cause, known, answered, fitted)])
    ways: dict[ElementType, list[Division]] = {}
    for way in (way for cause in known for way in cause.divisions):
        ways.setdefault(way.element_type, []).append(way)
    ledger.take(alignments(answered, ways))
    computed, consistent = dict[str, Explained](), dict[str, Explained]()
    for element_type in (one for one in fitted if one not in unsteady):
        causes, refuted = fitted[element_type].causes(ledger.left.values())
        ways.setdefault(element_type, []).extend(way for part in causes for way in part.cause.divisions)
        _add(computed, causes)
        _add(consistent, refuted)
    ledger.take([*alignments(answered, ways), *computed.values()])
    ledger.take(outcomes(answered, list(ledger.left.values())))
    steady = [one for one in ledger.left.values() if one.case.element_type not in unsteady]
    ledger.take(misplaced(answered, steady))
    consistent_with = tuple(
        replace(told, cause=_of(told.cause, own), cases=smallest_first(own))
        for told in consistent.values()
        if (own := [one for one in told.cases if id(one) in ledger.left])
    )
    return Explanation(ledger.explained, smallest_first(ledger.left.values()), consistent_with)


class _Ledger:
    """The deviating cases that are left, by their identity, and what explains the others."""

    def __init__(self, answered: Iterable[Answered]) -> None:
        self.left = {id(one): one for one in answered if one.deviates}
        self._found: dict[str, Explained] = {}

    def take(self, told: Iterable[Explained]) -> None:
        """Give each cause those of its cases that are left, one after the other."""
        for each in told:
            own, passing = [one for one in each.cases if self.left.pop(id(one), None) is not None], each.passing
            if own:
                earlier = self._found.pop(each.cause.name, None)
                if earlier is not None:
                    own, passing = [*earlier.cases, *own], max(passing, earlier.passing)
                self._found[each.cause.name] = Explained(_of(each.cause, own), smallest_first(own), passing)

    @property
    def explained(self) -> tuple[Explained, ...]:
        """The causes, ordered by decreasing number of cases."""
        return tuple(sorted(self._found.values(), key=lambda one: -len(one.cases)))


def _told(
    cause: Predictor, known: Sequence[Predictor], answered: Sequence[Answered], fitted: Mapping[ElementType, Fit]
) -> Explained:
    """Return what a known cause explains."""
    if cause.divisions:
        at, ways = "".join(cause.where), [way for way in cause.divisions if way.element_type in fitted]
        parts = [fitted[way.element_type].at(at).explained(way) for way in ways]
        return Explained(cause, tuple(one for part in parts for one in part.cases), sum(part.passing for part in parts))
    contradicted = any(contradicts(cause, one) for one in answered)
    return Explained.of(cause, [] if contradicted else [one for one in answered if predicts(cause, one, known)])


def _add(found: dict[str, Explained], parts: Iterable[Explained]) -> None:
    """Add what ways of an element type explain to what those of the same form explain of others."""
    for part in parts:
        if (one := found.get(part.cause.name)) is not None:
            cause = replace(one.cause, divisions=one.cause.divisions + part.cause.divisions)
            both = one.passing + part.passing, one.refuting + part.refuting
            part = Explained(cause, one.cases + part.cases, *both)
        found[part.cause.name] = part


def _of(cause: Predictor, own: Sequence[Answered]) -> Predictor:
    types = {one.case.element_type for one in own}
    return replace(cause, element_types=tuple(t for t in ELEMENT_TYPES if t in types))


def written(name: str, element_types: Sequence[ElementType]) -> Predictor:
    """Return the cause with a name, ``"arithmetic: a * (1/b)"``, for some element types.

    AttributeValueError if no cause has that name.
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
    return Predictor(rest, tuple(element_types), outcome=outcome, where=tuple(where.split(" and ")) if where else ())


def predicts(cause: Predictor, one: Answered, others: Sequence[Predictor] = ()) -> bool:
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
    return one.outcome == cause.outcome and has(one.case.operation, cause.where) is True


def contradicts(cause: Predictor, one: Answered) -> bool:
    """Tell whether a case has all properties that a rule names, but another outcome."""
    if cause.divisions or cause.outcome in (*ALIGNMENTS, WRONG) or one.outcome == UNSUPPORTED:
        return False
    about = one.case.element_type in cause.element_types and has(one.case.operation, cause.where)
    return about is True and one.outcome != cause.outcome


def _of_type(one: Answered, cause: Predictor) -> list[Division]:
    return [way for way in cause.divisions if way.element_type is one.case.element_type]


def fits(answered: Sequence[Answered]) -> dict[ElementType, Fit]:
    """Return, for each element type with deviating quotients, the fit of the ways to divide it."""
    found = {}
    for element_type in ELEMENT_TYPES:
        own = [one for one in answered if one.case.element_type is element_type and one.outcome == VALUES]
        if element_type is not REAL and any(one.deviates for one in own):
            found[element_type] = Fit(element_type, own)
    return found
