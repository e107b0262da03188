"""Rules that predict what becomes of a question: operands aligned otherwise, and outcomes that follow from a property."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from operator import and_

import numpy as np

from vinculum.conformance.arithmetic.answered import ACCEPTED, REFUSED, UNSUPPORTED, VALUES, Answered
from vinculum.conformance.arithmetic.catalogue import catalogue
from vinculum.conformance.arithmetic.circumstances import alignment, properties, rounding_asked, type_properties, why_refused
from vinculum.conformance.arithmetic.division import Division
from vinculum.conformance.arithmetic.fitting import canonical, dividends_and_divisors
from vinculum.conformance.question import Question
from vinculum.sandbox import End
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Broadcasting
from vinculum.tensors.broadcasting import Alignment

Divisions = Mapping[ElementType, Sequence[Division]]
Told = tuple[str, str, list[Answered], int]
"""A rule's name and statement, the deviating cases that it predicts, and how many that pass."""

_MOST_PROPERTIES = 3
_DEATHS = (End.HUNG.value, End.OUT_OF_MEMORY.value)
_CRASHED = f"{End.CRASHED.value}: "


def _as_numpy(question: Question) -> Alignment | None:
    return alignment(question, Broadcasting.MULTIDIRECTIONAL)


def _without_axis(question: Question) -> Alignment | None:
    try:
        rule = question.spec.broadcasting_rule(question.attributes)
    except KeyError:
        return None
    return alignment(question, rule, ignoring_axis=True)


ALIGNMENTS: Mapping[str, tuple[str, Callable[[Question], Alignment | None]]] = {
    "aligned as NumPy aligns": ("operands are aligned as NumPy aligns them, whatever the version says", _as_numpy),
    "axis ignored": ("the axis is ignored: the divisor is laid along the last dimensions", _without_axis),
}


def alignments(answered: Sequence[Answered], divisions: Divisions) -> Iterator[Told]:
    """Yield the alignments that predict what no arithmetic does, of each operator version and element type."""
    for name, (statement, align) in ALIGNMENTS.items():
        groups: dict[object, list[tuple[Answered, bool]]] = {}
        for one in answered:
            predicts = _predicted(one, align, divisions)
            if predicts is not None:
                groups.setdefault((one.case.question.spec, one.case.element_type), []).append((one, predicts))
        kept = [one for group in groups.values() if all(right for _, right in group) for one, _ in group]
        if any(one.deviates for one in kept):
            passing = sum(not one.deviates for one in kept)
            yield f"rule: {name}", statement, [one for one in kept if one.deviates], passing


def _predicted(
    one: Answered, align: Callable[[Question], Alignment | None], divisions: Divisions
) -> bool | None:
    """Tell whether an alignment predicts what became of a question; None if it changes nothing there."""
    question = one.case.question
    if len(question.operands) == 1 or one.outcome == UNSUPPORTED or len({o.dtype for o in question.operands}) > 1:
        return None
    reason, own, other = why_refused(question), alignment(question), align(question)
    if own == other or reason not in (None, "shapes that the version does not join", *_OF_AXIS):
        return None
    if other is None:
        return one.outcome == REFUSED
    value = one.answer.value
    if not isinstance(value, np.ndarray) or value.shape != other.shape or value.dtype != question.operands[0].dtype:
        return False
    if reason is not None:
        return one.outcome == ACCEPTED
    return any(_gives(way, one, other) for way in (catalogue(one.case.element_type)[0], *divisions.get(one.case.element_type, ())))


_OF_AXIS = ("a value that an attribute does not allow",)


def _gives(way: Division, one: Answered, under: Alignment) -> bool:
    a, b = dividends_and_divisors(one.case.question, under)
    given = canonical(way.quotients(a, b, rounding_asked(one.case.question)))
    return bool((given == canonical(np.ascontiguousarray(one.answer.value).reshape(-1))).all())


def outcomes(answered: Sequence[Answered], left: Sequence[Answered]) -> Iterator[Told]:
    """Yield for each outcome the properties of a question from which it always follows, the widest first.

    Parameters
    ----------
    answered : sequence of Answered
        Every case: a rule that one of them contradicts is none.
    left : sequence of Answered
        The deviating cases that nothing explains yet.
    """
    known = [one for one in answered if one.outcome != UNSUPPORTED]
    own = {id(one) for one in left}
    held = _Held(known)
    found: dict[tuple[str, tuple[str, ...]], tuple[list[Answered], int]] = {}
    for outcome in dict.fromkeys(one.outcome for one in left if one.outcome != VALUES):
        happened = _bits(one.outcome == outcome for one in known)
        unexplained = _bits(one.outcome == outcome and id(one) in own for one in known)
        while unexplained and (widest := held.widest(unexplained, happened)) is not None:
            words, covered = widest
            cases, passing = found.get((outcome, words), ([], 0))
            cases = [*cases, *(known[place] for place in _places(covered & unexplained))]
            passing += sum(not known[place].deviates for place in _places(covered))
            found[outcome, words] = cases, passing
            unexplained &= ~covered
        if unexplained and (outcome in _DEATHS or outcome.startswith(_CRASHED)):
            found[outcome, ()] = [known[place] for place in _places(unexplained)], 0
    for (outcome, words), (cases, passing) in found.items():
        where = f" where {' and '.join(words)}" if words else ""
        yield f"rule: {outcome}{where}", _statement(outcome, words, cases), cases, passing


class _Held:
    """Which cases have which property, a bit for each case."""

    def __init__(self, known: Sequence[Answered]) -> None:
        self._properties: dict[str, int] = {}
        self._types: dict[str, int] = {"": (1 << len(known)) - 1}
        for place, one in enumerate(known):
            question = one.case.question
            for held, words in ((self._properties, properties(question)), (self._types, type_properties(question))):
                for word in dict.fromkeys(words):
                    held[word] = held.get(word, 0) | 1 << place

    def widest(self, wanted: int, happened: int) -> tuple[tuple[str, ...], int] | None:
        """Return the fewest properties of some element types that cover most of the cases, and contradict nothing."""
        masks: dict[int, str] = {}
        for words, mask in self._properties.items():
            if mask & wanted:
                masks.setdefault(mask, words)  # Of two that say the same here the first will do.
        types = [mask for mask in dict.fromkeys(self._types.values()) if mask & wanted]
        best: tuple[int, tuple[str, ...], int] | None = None
        for count in range(1, _MOST_PROPERTIES + 1):
            for chosen in combinations(masks, count):
                together = reduce(and_, chosen)
                if (together & wanted).bit_count() <= (best[0] if best else count - 1):
                    continue
                for of_type in types:
                    covered = together & of_type
                    gain = (covered & wanted).bit_count()
                    if gain > (best[0] if best else count - 1) and not covered & ~happened:
                        best = gain, tuple(masks[mask] for mask in chosen), covered
        return None if best is None else best[1:]


def _statement(outcome: str, words: Sequence[str], cases: Sequence[Answered]) -> str:
    said = Counter(one.answer.words for one in cases if one.answer.words).most_common(1)
    message = f": {said[0][0]}" if said and outcome == REFUSED else ""
    return f"{outcome} for {', '.join(words)}{message}" if words else outcome


def _bits(flags: Iterator[bool]) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def _places(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
