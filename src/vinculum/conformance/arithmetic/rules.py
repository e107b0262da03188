"""Rules that predict the outcome of an operation: other alignments, and outcomes that follow from properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from math import comb, log2
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic.answered import (
    ACCEPTED,
    REFUSED,
    UNSUPPORTED,
    VALUES,
    Answered,
    Explained,
    Predictor,
)
from vinculum.conformance.arithmetic.catalogue import right
from vinculum.conformance.arithmetic.circumstances import (
    FEWER,
    LENGTHS,
    MORE,
    PLACES,
    SEVERAL,
    SURPRISE,
    UNJOINED,
    is_positional,
    laid,
    mask,
    properties,
    size,
    sized,
    why_refused,
)
from vinculum.conformance.arithmetic.division import Division
from vinculum.conformance.arithmetic.fitting import circumstances, gives
from vinculum.conformance.cases.operation import Operation, alignment
from vinculum.sandbox import End
from vinculum.spec.element_types import ELEMENT_TYPES, REAL, ElementType
from vinculum.spec.model import Broadcasting
from vinculum.tensors.broadcasting import Alignment
from vinculum.tensors.comparison import different

Array = NDArray[Any]
Align = Callable[[Operation], Alignment | None]
Divisions = Mapping[ElementType, Sequence[Division]]

_MOST_PROPERTIES = 3
WRONG = "wrong quotients"
"""The outcome where only the places of wrong quotients follow a rule."""
_DEATHS = (End.HUNG.value, End.OUT_OF_MEMORY.value)
_CRASHED = f"{End.CRASHED.value}: "


def _as_numpy(operation: Operation) -> Alignment | None:
    return alignment(operation, Broadcasting.MULTIDIRECTIONAL)


def _rule(operation: Operation) -> Broadcasting | None:
    try:
        return operation.spec.broadcasting_rule(operation.attributes)
    except KeyError:
        return None


def _without_axis(operation: Operation) -> Alignment | None:
    rule = _rule(operation)
    return None if rule is None else alignment(operation, rule)


def _from_axis(operation: Operation) -> Alignment | None:
    """Return NumPy's alignment after the divisor gets trailing dimensions of size 1 so that it starts at the axis."""
    axis = operation.attributes.get("axis")
    return laid(operation, axis) if isinstance(axis, int) else _as_numpy(operation)


def _from_first(operation: Operation) -> Alignment | None:
    """Return the alignment of pdpd if a missing axis means the first dimension, and not the last ones."""
    pdpd = _rule(operation) is Broadcasting.PDPD and "axis" not in operation.attributes
    return laid(operation, 0) if pdpd else alignment(operation)


ALIGNMENTS: Mapping[str, tuple[str, Align]] = {
    "axis ignored": ("the axis is ignored: the divisor is laid along the last dimensions", _without_axis),
    "aligned as NumPy aligns": ("operands are aligned as NumPy aligns them, against the version's rule", _as_numpy),
    "aligned from the axis as NumPy aligns": (
        "the divisor starts at the axis, and from there operands are aligned as NumPy aligns them",
        _from_axis,
    ),
    "aligned from the first dimension": (
        "without an axis, the divisor starts at the first dimension, and not where its last dimension is the last",
        _from_first,
    ),
}


def alignments(answered: Sequence[Answered], divisions: Divisions) -> list[Explained]:
    """Return the alignments that predict deviating cases, the one that predicts the most first.

    A contradiction excludes an alignment only for the operator version and element type of the contradicting case.
    """
    told = []
    for name, (statement, align) in ALIGNMENTS.items():
        groups: dict[object, list[tuple[Answered, bool]]] = {}
        for one in answered:
            right = aligned_so(one, align, divisions)
            if right is not None:
                groups.setdefault((one.case.operation.spec, one.case.element_type), []).append((one, right))
        kept = [one for group in groups.values() if all(right for _, right in group) for one, _ in group]
        # A refusal alone may have any reason.
        if any(one.deviates and one.outcome != REFUSED for one in kept):
            told.append(Explained.of(Predictor(statement, outcome=name), kept))
    return sorted(told, key=lambda one: -len(one.cases))


def aligned_so(one: Answered, align: Align, divisions: Divisions) -> bool | None:
    """Tell whether an alignment predicts the outcome of an operation; None if it does not apply to it."""
    operation = one.case.operation
    if len({o.dtype for o in operation.operands}) > 1 or one.outcome == UNSUPPORTED or len(operation.operands) == 1:
        return None
    if one.case.element_type is REAL:
        return None
    other = align(operation)
    if alignment(operation) == other or (reason := why_refused(operation)) not in (None, UNJOINED, *_OF_ALIGNMENT):
        return None
    if reason is not None and one.outcome == REFUSED:
        return None  # The refusal may have any reason.
    if other is None:
        return one.outcome == REFUSED
    value = one.answer.value
    if not isinstance(value, np.ndarray) or value.shape != other.shape or value.dtype != operation.operands[0].dtype:
        return False
    if reason is not None:
        return one.outcome == ACCEPTED
    return any(
        gives(way, one, other) for way in (right(one.case.element_type), *divisions.get(one.case.element_type, ()))
    )


_OF_ALIGNMENT = ("a value that axis may not have", "a value that broadcast may not have")


def outcomes(answered: Sequence[Answered], left: Sequence[Answered]) -> Iterator[Explained]:
    """Yield, for each outcome, the properties of an operation from which it always follows, the widest rule first.

    - `answered`: All cases; a rule that one of them contradicts is discarded.
    - `left`: The deviating cases without an explanation so far.
    """
    wanted = dict.fromkeys(one.outcome for one in left if one.outcome != VALUES)
    if not wanted:
        return
    known = [one for one in answered if one.outcome != UNSUPPORTED]
    own = {id(one) for one in left}
    properties_held = _Properties(known)
    found: dict[tuple[str, tuple[str, ...]], tuple[list[Answered], int]] = {}
    for outcome in wanted:
        happened = _bits(one.outcome == outcome for one in known)
        unexplained = _bits(one.outcome == outcome and id(one) in own for one in known)
        while unexplained and (widest := properties_held.widest(outcome, unexplained, happened)) is not None:
            words, covered = widest
            cases, passing = found.get((outcome, words), ([], 0))
            cases = [*cases, *(known[place] for place in _places(covered & unexplained))]
            passing += sum(not known[place].deviates for place in _places(covered))
            found[outcome, words] = cases, passing
            unexplained &= ~covered
        rules = [key for key in found if key[0] == outcome]
        # Where most is unexplained, or a position is one of several that decide, the cause is something unknown.
        unknown = sum(len(found[key][0]) for key in rules) <= unexplained.bit_count()
        for key in rules:
            if unknown or properties_held.are_part(key[1], found[key][0], unexplained):
                del found[key]
    for (outcome, words), (cases, passing) in found.items():
        said = Counter(one.answer.words for one in cases if one.answer.words and outcome == REFUSED).most_common(1)
        statement = f"{outcome} for {', '.join(words)}" + "".join(f": {message}" for message, _ in said)
        yield Explained(Predictor(statement, outcome=outcome, where=words), tuple(cases), passing)


def misplaced(answered: Sequence[Answered], left: Sequence[Answered]) -> Iterator[Explained]:
    """Yield the places at which all unexplained wrong quotients lie, if every case with such places has some."""
    wanted = {id(one): wrong_places(one) for one in left if one.outcome == VALUES}
    types = {one.case.element_type for one in left if id(one) in wanted}
    for element_type in (one for one in ELEMENT_TYPES if one in types):
        cells: dict[object, list[Answered]] = {}
        for one in answered:
            if one.case.element_type is element_type and one.outcome == VALUES:
                cells.setdefault(circumstances(one.case.operation), []).append(one)
        chosen = [cell for cell in cells.values() if any(id(one) in wanted for one in cell)]
        count = sum(id(one) in wanted for cell in chosen for one in cell)
        best: tuple[float, str, list[Answered], int] = 0.0, "", [], 0
        for name in PLACES:
            held = [cell for cell in chosen if all(_as_placed(name, one, wanted.get(id(one))) for one in cell)]
            own = [one for cell in held for one in cell if id(one) in wanted]
            patterns = {(wanted[id(one)].size, wanted[id(one)].tobytes()) for one in own}
            lengths = {one.answer.value.size for cell in held for one in cell}
            # Cases of one length may share what is divided, so only lengths and patterns are counted.
            surprise = log2(comb(len(lengths), len({size for size, _ in patterns})))
            surprise += sum(log2(size / mask(name, size).sum()) for size, _ in patterns)
            if surprise > max(best[0], SURPRISE) and 2 * len(own) > count:
                best = surprise, name, own, sum(map(len, held)) - len(own)
        if best[2]:
            _, name, own, passing = best
            cause = Predictor(f"{WRONG} in {name}, and in no others", outcome=WRONG, where=(name,))
            yield Explained(cause, tuple(own), passing)


def wrong_places(one: Answered) -> Array:
    """Return which specified quotients of a divided case are wrong."""
    expected = np.ascontiguousarray(one.case.expectation.quotient)
    given = np.ascontiguousarray(one.answer.value, expected.dtype)
    wrong, unspecified = different(given, expected, one.case.element_type), one.case.expectation.unspecified
    return (wrong if unspecified is None else wrong & ~unspecified).reshape(-1)


def _as_placed(name: str, one: Answered, wrong: Array | None) -> bool:
    """Tell whether a case has wrong quotients at some places and nowhere else, or passes without having such places."""
    meant = mask(name, one.answer.value.size)
    return bool(not meant.any() if wrong is None else meant.any() and not (wrong & ~meant).any())


class _Properties:
    """The cases that have each property, as integers with one bit per case."""

    def __init__(self, known: Sequence[Answered]) -> None:
        self._properties: dict[str, int] = {}
        self._types: dict[ElementType, int] = {}
        self._count, self._all = len(known), (1 << len(known)) - 1
        self._sizes = [size(one.case.operation) for one in known]
        self._deviating = _bits(one.deviates for one in known)
        for place, one in enumerate(known):
            self._types[one.case.element_type] = self._types.get(one.case.element_type, 0) | 1 << place
            for words in dict.fromkeys(properties(one.case.operation)):
                self._properties[words] = self._properties.get(words, 0) | 1 << place

    def widest(self, outcome: str, wanted: int, happened: int) -> tuple[tuple[str, ...], int] | None:
        """Return the fewest properties that cover the most wanted cases, without contradicted element types."""
        # The positions of numbers may decide on the end of a process.
        positions = outcome in _DEATHS or outcome.startswith(_CRASHED)
        certain = outcome == ACCEPTED or happened.bit_count() == self._count
        masks: dict[int, str] = {}
        chosen_from = [
            words for words in self._properties if words != SEVERAL and (positions or not is_positional(words))
        ]
        # Of properties that fit alike, those without positions come first.
        for words in sorted(chosen_from, key=lambda one: (is_positional(one), self._properties[one].bit_count())):
            if self._properties[words] & wanted:
                masks.setdefault(self._properties[words], words)  # Properties with the same cases are equivalent here.
        limits = self._limits(self._of(wanted))
        best: tuple[int, tuple[str, ...], int] | None = None
        for *chosen, limit in self._combined(masks, limits):
            if sum(is_positional(masks[mask]) for mask in chosen) > (limit == self._all):
                continue  # Two of them fit too much.
            others = reduce(and_, chosen, self._all)
            together = others & limit
            if (together & wanted).bit_count() <= (best[0] if best else 0):
                continue
            types = [mask & together for mask in self._types.values() if mask & together]
            kept = [mask for mask in types if not mask & ~happened]
            covered, names = reduce(or_, kept, 0), tuple(masks[mask] for mask in chosen)
            gain = (covered & wanted).bit_count()
            if gain <= (best[0] if best else 0) or not all(self._tells(name, covered) for name in names):
                continue
            # Of so many combinations of properties and of element types, one fits a few cases by accident.
            ways = comb(len(masks), len(chosen)) * comb(len(types), len(kept)) * (len(limits) if limit in limits else 1)
            if not certain and comb(self._count, gain) < ways**2 * comb(happened.bit_count(), gain):
                continue
            if limit in limits:
                if (limited := self._sized(limits[limit], others, covered, happened)) is None:
                    continue
                names = (*names, limited)
            best = gain, names, covered
        return None if best is None else best[1:]

    def _limits(self, sizes: Iterable[int]) -> dict[int, str]:
        """Return the cases of at least or of at most so many elements, and which of both."""
        found: dict[int, str] = {}
        for own in sizes:
            found[_bits(each >= own for each in self._sizes)] = MORE
            found[_bits(each <= own for each in self._sizes)] = FEWER
        found.pop(self._all, None)
        return found

    def _combined(self, masks: Iterable[int], limits: Iterable[int]) -> Iterator[tuple[int, ...]]:
        """Yield some of the masks and one more: that of all cases, or one of the limits."""
        for count in range(1, _MOST_PROPERTIES + 1):
            yield from ((*chosen, self._all) for chosen in combinations(masks, count))
            yield from ((*chosen, limit) for limit in limits for chosen in combinations(masks, count - 1))

    def _sized(self, words: str, others: int, covered: int, happened: int) -> str | None:
        """Return up to or from which size an outcome follows, as far as cases tell; None if others have it too."""
        beyond = others & reduce(or_, (mask for mask in self._types.values() if mask & covered)) & ~covered
        beyond &= self._deviating | ~happened  # What must be refused says nothing of other refusals.
        if not beyond or beyond & happened:
            return None
        smaller, larger = (beyond, covered) if words == MORE else (covered, beyond)
        return sized(words, max(self._of(smaller)), min(self._of(larger)) - 1)

    def _of(self, bits: int) -> set[int]:
        """Return the sizes of cases."""
        return {self._sizes[place] for place in _places(bits)}

    def are_part(self, names: Sequence[str], cases: Sequence[Answered], unexplained: int) -> bool:
        """Tell whether an outcome that follows from a position has no explanation for the same numbers elsewhere."""
        numbers = reduce(or_, (self._numbers(name) for name in names if is_positional(name)), 0)
        alike = reduce(or_, (self._types[t] for t in {one.case.element_type for one in cases}), 0)
        return bool(unexplained & numbers & alike)

    def _numbers(self, words: str) -> int:
        """Return the cases that have the numbers of which words tell a position."""
        return self._properties.get(words.partition(" in ")[0], self._all)

    def _tells(self, words: str, covered: int) -> bool:
        """Tell whether a position distinguishes enough cases from others that have the same numbers elsewhere.

        Cases of one length may have more in common, so that of places that are whole tensors only lengths are counted.
        """
        if not is_positional(words):
            return True
        alike = reduce(or_, (mask for mask in self._types.values() if mask & covered), 0)
        alike &= self._numbers(words)
        among, own = alike.bit_count(), covered.bit_count()
        if words.startswith(LENGTHS):
            among, own = len(self._of(alike)), len(self._of(covered))
        return log2(comb(among, own)) >= SURPRISE


def _bits(flags: Iterator[bool]) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def _places(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
