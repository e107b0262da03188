"""Finding the ways to divide that reproduce answers bit by bit: candidates from a few elements, verified on all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb, lgamma, log, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic.answered import VALUES, Answered, Explained, arithmetic
from vinculum.conformance.arithmetic.catalogue import catalogue, right
from vinculum.conformance.arithmetic.circumstances import EVERYWHERE, LENGTHS, PLACES, SURPRISE, mask, placement
from vinculum.conformance.arithmetic.division import Division, Shared
from vinculum.conformance.cases.operation import Operation, aligned, alignment, rounding_asked
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.broadcasting import Alignment
from vinculum.tensors.comparison import different, encodings
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]
Circumstances = tuple[object, ...]

_FEW = 32  # Elements of each kind, on which candidates are selected.
_FEWER = 8  # Wrong elements of each answer, by which ways are excluded.
_PLENTY = 64  # Wrong quotients, more of which need not be counted.


@dataclass(eq=False)
class Pairs:
    """Operands and rounding that several cases share, with the answers of these cases."""

    a: Array
    b: Array
    rounding: IntegerRounding
    right: Array
    members: list[tuple[int, Array, Array]] = field(default_factory=list)  # Number, answer, which elements count.


def dividends_and_divisors(operation: Operation, under: Alignment | None = None) -> tuple[Array, Array]:
    """Return the operands of every quotient in one dimension; the dividends of a Reciprocal are 1."""
    a, b = (np.ascontiguousarray(operand).reshape(-1) for operand in aligned(operation, under))
    return a, b


def circumstances(operation: Operation) -> Circumstances:
    """Return what may select a way to divide: version, rounding, constants, and how the divisor lies."""
    spec = operation.spec
    rounding = spec.attribute(spec.integer_rounding_attribute) if spec.integer_rounding_attribute else None
    spelled = [name for name in operation.attributes if rounding and name in (rounding.name, *rounding.aliases)]
    return spec.title, rounding_asked(operation), *spelled, placement(operation), _lying(operation)


def _lying(operation: Operation) -> str:
    a, b = operation.operands[0], operation.operands[-1]
    if a.size == b.size == 1:  # Nothing is repeated, whatever the shapes.
        return "one element" if a.ndim or b.ndim else "a scalar by a scalar"
    if not b.ndim:
        return "a scalar divisor"
    if a.shape == b.shape:
        return "equal shapes"
    together = alignment(operation)
    repeated = together is not None and b.size < prod(together.shape)
    return "one divisor" if b.size == 1 else "repeated" if repeated else "as they are"


def _canonical(array: Array) -> Array:
    """Return integers or encodings that are equal where `different` finds no difference: all NaN become one."""
    element_type = element_type_of(array)
    if element_type.is_integer:
        return array.astype(np.int8) if element_type.bits == 4 else array
    bits = encodings(array, element_type)
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of signalling NaN.
        return np.where(np.isnan(array), ~np.zeros_like(bits), bits)


def gives(way: Division, one: Answered, under: Alignment | None = None, places: str = EVERYWHERE) -> bool:
    """Tell whether a way to divide gives every specified quotient of a case at some places, and the others are right.

    Without an alignment the operation's own is used.
    """
    a, b = dividends_and_divisors(one.case.operation, under)
    given, rounding = np.ascontiguousarray(one.answer.value, a.dtype).reshape(-1), rounding_asked(one.case.operation)
    quotients = way.quotients(a, b, rounding)
    if places:
        exact = right(way.element_type).quotients(a, b, rounding)
        quotients = np.where(mask(places, a.size), quotients, exact)
    differ = different(quotients, given, way.element_type)
    unspecified = one.case.expectation.unspecified
    return not (differ if unspecified is None or under is not None else differ & ~unspecified.reshape(-1)).any()


class Fit:
    """The divided cases of one element type, and the ways to divide it: all elements, or those at some places.

    A way explains cases only in circumstances in which it predicts every right quotient, those of other deviating cases
    among them, and only if the wrong quotients that it gives are too many to be given by accident.
    """

    def __init__(
        self,
        element_type: ElementType,
        answered: Sequence[Answered],
        places: str = EVERYWHERE,
        among: tuple[Division, ...] | None = None,
    ) -> None:
        divided = [one for one in answered if one.outcome == VALUES]
        cells: dict[Circumstances, list[Answered]] = {}
        for one in divided:
            cells.setdefault(circumstances(one.case.operation), []).append(one)
        # Circumstances without deviations decide nothing. The cases of one cell lie side by side.
        kept = [cell for cell in cells.values() if any(one.deviates for one in cell)]
        self._answered = [one for cell in kept for one in cell]
        self._sizes = np.array([len(cell) for cell in kept], np.intp)
        self._starts = np.cumsum([0, *self._sizes])[:-1]
        self._element_type, self._places, self._among = element_type, places, among
        self._pairs = _pairs(self._answered)
        self._possible = np.ones(len(self._answered), np.bool_)
        for pairs in self._pairs if places else ():
            meant = mask(places, pairs.a.size)
            for number, answer, counts in pairs.members:
                self._possible[number] = not ((answer != pairs.right) & counts & ~meant).any()
            pairs.members = [(number, answer, counts & meant) for number, answer, counts in pairs.members]
        self.deviating = np.array([one.deviates for one in self._answered], np.bool_)
        self._verified: dict[Division, tuple[Array, Array]] = {}  # What `_given_by` has returned.

    @property
    def ways(self) -> tuple[Division, ...]:
        """The ways to divide that can explain any case, the simplest first."""
        return self._giving[0] if self._among is None else self._among

    @cached_property
    def _giving(self) -> tuple[tuple[Division, ...], Array]:
        """The ways that give a few wrong quotients of a case, wherever they lie, and which give those of which case."""
        every, sampled = catalogue(self._element_type), list[tuple[Pairs, Array]]()
        for pairs in self._pairs:
            for member in (one for one in pairs.members if self.deviating[one[0]]):
                _, answer, counts = member
                at = np.flatnonzero((answer != pairs.right) & counts)
                sampled.append((replace(pairs, members=[member]), at[:: max(1, at.size // _FEWER)]))
        given = np.tile(self.deviating, (len(every), 1))
        _look(every, given, sampled)
        kept = np.flatnonzero(given.any(1))
        return tuple(every[at] for at in kept), given[kept]

    def at(self, places: str = EVERYWHERE, among: tuple[Division, ...] | None = None) -> Fit:
        """Return the fit of the ways, of all or of some, to divide the elements at some places only."""
        return Fit(self._element_type, self._answered, places, among) if places else self

    def explained(self, way: Division) -> Explained:
        """Return what a way explains, wherever no passing case refutes it."""
        whole, right_ones = self._given_by(way)
        return self._fitted(way, whole & self.deviating & self._spread(self._unrefuted(whole, right_ones)))

    def causes(self, unexplained: Iterable[Answered]) -> tuple[list[Explained], list[Explained]]:
        """Return the ways that explain deviating cases, and those that some cases are consistent with.

        Ways that give every quotient in some circumstances come first, then those that give most of the rest.

        - `unexplained`: The deviating cases, of any element types, that need an explanation.
        """
        wanted = {id(one) for one in unexplained}
        left = np.array([id(one) in wanted for one in self._answered], np.bool_)
        found: dict[Division, Array] = {}
        for cells in (self._whole, self._unrefuted):
            for way, own in self._greedy(left.copy(), cells):
                together = found.get(way, np.zeros_like(own)) | own
                if self._proves(together):
                    found[way] = together
                    left &= ~own
        placed = self._placed(left, found)
        for fitted in placed:
            placed_cases = {id(one) for one in fitted.cases}
            left &= np.array([id(one) not in placed_cases for one in self._answered], np.bool_)
        # Where most is unexplained, or what a way explains is refuted elsewhere, it is part of something unknown.
        doubted = [
            way for way, own in found.items() if own.sum() <= left.sum() or (self._given_by(way)[0] & left).any()
        ]
        while doubted:  # What they explained is unexplained now.
            for way in doubted:
                left |= found.pop(way)
            doubted = [way for way, own in found.items() if own.sum() <= left.sum()]
        consistent = []
        for way, own in self._greedy(left.copy(), lambda given, _: np.ones_like(self._whole(given))):  # everywhere
            fitted = self._fitted(way, own)
            if self._proves(own) or (not fitted.refuting and own.sum() == left.sum()):
                consistent.append(fitted)
        return [*(self._fitted(way, own) for way, own in found.items()), *placed], consistent

    def _placed(self, left: Array, found: dict[Division, Array]) -> list[Explained]:
        """Return the ways that explain most of the remaining cases at some places alone, if there are any.

        What was found everywhere, but only in circumstances in which these places are all, is taken for the same.
        """
        best, most, chosen = list[tuple[Division, Array]](), int(left.sum()) // 2, self
        wrong = [
            (answer.size, np.flatnonzero((answer != pairs.right) & counts))
            for pairs in self._pairs
            for number, answer, counts in pairs.members
            if left[number]
        ]
        given = self._giving[1][:, left]
        among = tuple(self.ways[at] for at in np.flatnonzero(given.any(1)))
        for places in PLACES if given.any(0).sum() > most else ():
            if sum(bool(mask(places, size)[at].all()) for size, at in wrong) <= most:
                continue
            there = self.at(places, among)
            parts = [(way, own) for way, own in there._greedy(left.copy(), there._whole) if there._proves(own)]
            if (count := sum(int(own.sum()) for _, own in parts)) > most:
                best, most, chosen = parts, count, there
        fitted = []
        for way, own in best:
            predicted = chosen._spread(chosen._whole(chosen._given_by(way)[0]))
            for other in list(found):
                own, found[other] = own | (found[other] & predicted), found[other] & ~predicted
                if not found[other].any():
                    del found[other]
            fitted.append(chosen._fitted(way, own))
        return fitted

    def _greedy(self, left: Array, cells: Callable[[Array, Array], Array]) -> Iterator[tuple[Division, Array]]:
        """Yield the ways that predict most remaining cases where they may, each with these cases."""
        while left.any() and self.ways:
            places = np.flatnonzero(left)
            few, spared = self._few
            scores = (few[:, places] & self._spread(cells(few, spared))[:, places]).sum(1)
            best = int(np.argmax(scores))
            if not scores[best]:
                return
            way = self.ways[best]
            whole, right_ones = self._given_by(way)
            own = whole & left & self._spread(cells(whole, right_ones))
            if own.sum() < scores[best]:
                self._look_where_wrong(best)
                continue
            yield way, own
            left &= ~own

    def _whole(self, predicted: Array, _: Array | None = None) -> Array:
        """Return the circumstances in which every case is predicted."""
        return np.asarray(np.logical_and.reduceat(predicted, self._starts, axis=-1))

    def _unrefuted(self, predicted: Array, spared: Array) -> Array:
        """Return the circumstances in which every right quotient is predicted."""
        return self._whole(predicted | (self.deviating & spared))

    def _spread(self, cells: Array) -> Array:
        """Return for each case the value of its circumstances."""
        return np.repeat(cells, self._sizes, axis=-1)

    def _fitted(self, way: Division, own: Array) -> Explained:
        whole, right_ones = self._given_by(way)
        alike = self._spread(np.logical_or.reduceat(own, self._starts))
        refuting = alike & ~np.where(self.deviating, right_ones, whole)
        cases = tuple(self._answered[place] for place in np.flatnonzero(own))
        cause = arithmetic([way], self._places)
        return Explained(cause, cases, int((alike & whole & ~self.deviating).sum()), int(refuting.sum()))

    def _proves(self, own: Array) -> bool:
        """Tell whether the wrong quotients of some cases are too many to be given by accident.

        That a way is wrong at exactly these pairs of numbers, among all that were divided in the same circumstances,
        must carry twice the information that it takes to choose one of the ways. That only tensors of some lengths are
        divided so needs as many lengths: cases of one length may have more in common than that.
        """
        if self._places.startswith(LENGTHS):
            sizes = np.array([one.answer.value.size for one in self._answered])
            among = set(sizes[self._spread(np.logical_or.reduceat(own, self._starts))])
            if log2(comb(len(among), len(set(sizes[own])))) < SURPRISE:
                return False
        alike, wrong, divided = self._spread(np.logical_or.reduceat(own, self._starts)), set[bytes](), 0
        for pairs in self._pairs:
            divided += max((int(counts.sum()) for number, _, counts in pairs.members if alike[number]), default=0)
            for number, answer, counts in pairs.members:
                if own[number] and len(wrong) < _PLENTY:
                    at = np.flatnonzero((answer != pairs.right) & counts)[:_PLENTY]
                    wrong.update(a.tobytes() + b.tobytes() for a, b in zip(pairs.a[at], pairs.b[at], strict=True))
        choices = lgamma(divided + 1) - lgamma(len(wrong) + 1) - lgamma(divided - len(wrong) + 1)
        return len(wrong) + choices / log(2) >= 2 * log2(len(catalogue(self._element_type)))

    def _given_by(self, way: Division) -> tuple[Array, Array]:
        """Return the cases of which a way gives every element, and those of which it gives every right quotient."""
        if way not in self._verified:
            predicted, spared = np.zeros_like(self._possible), np.zeros_like(self._possible)
            self._verified[way] = predicted, spared
            for pairs in self._pairs:
                given = _canonical(way.quotients(pairs.a, pairs.b, pairs.rounding))
                for number, answer, counts in pairs.members:
                    wrong = (given != answer) & counts
                    spared[number] = not (wrong & (answer == pairs.right)).any()
                    predicted[number] = self._possible[number] and not wrong.any()
        return self._verified[way]

    @cached_property
    def _few(self) -> tuple[Array, Array]:
        """Return, for each way and case, whether it predicts a few elements of the case, and a few right ones."""
        predicted = np.tile(self._possible, (len(self.ways), 1))  # Every way predicts empty quotients.
        _look(self.ways, predicted, [(pairs, _places(pairs)) for pairs in self._pairs])
        return predicted, np.ones_like(predicted)

    def _look_where_wrong(self, place: int) -> None:
        """Look at elements that a way does not predict, of which it predicted the few looked at so far."""
        way = self.ways[place]
        for few, exact, right_alone in zip(self._few, self._given_by(way), (False, True), strict=True):
            sampled = []
            for pairs in self._pairs:
                chosen = [member for member in pairs.members if few[place, member[0]]]
                if all(exact[number] for number, *_ in chosen):
                    continue
                if right_alone:
                    chosen = [(number, answer, counts & (answer == pairs.right)) for number, answer, counts in chosen]
                given = _canonical(way.quotients(pairs.a, pairs.b, pairs.rounding))
                wrong = [np.flatnonzero((given != answer) & counts)[:_FEW] for _, answer, counts in chosen]
                sampled.append((replace(pairs, members=chosen), np.unique(np.concatenate(wrong))))
            _look(self.ways, few, sampled)


def _look(ways: Sequence[Division], predicted: Array, sampled: Sequence[tuple[Pairs, Array]]) -> None:
    """Remove from what ways predict, by way and case, what they do not predict at some places of some pairs."""
    for rounding in {pairs.rounding for pairs, _ in sampled}:
        chosen = [(pairs, at) for pairs, at in sampled if pairs.rounding is rounding and at.size]
        if not chosen:
            continue
        a, b = (np.concatenate([getattr(pairs, x)[at] for pairs, at in chosen]) for x in "ab")
        starts = np.cumsum([0, *(len(at) for _, at in chosen)])
        numbers, gather, answers, ignored, bounds = [], [], [], [], [0]
        for (pairs, at), start in zip(chosen, starts, strict=False):
            for number, answer, counts in pairs.members:
                numbers.append(number)
                gather.append(np.arange(start, start + len(at)))
                answers.append(answer[at])
                ignored.append(~counts[at])
                bounds.append(bounds[-1] + len(at))
        where, answer, open_ = np.concatenate(gather), np.concatenate(answers), np.concatenate(ignored)
        shared, matching = Shared(), dict[int, Array]()
        for place, way in enumerate(ways):
            if not predicted[place, numbers].any():
                continue
            given = way.quotients(a, b, rounding, shared)
            if id(given) not in matching:  # Many ways give the same quotients of a few elements.
                same = _canonical(given)[where] == answer
                matching[id(given)] = np.logical_and.reduceat(same | open_, bounds[:-1])
            predicted[place, numbers] &= matching[id(given)]


def _pairs(answered: Iterable[Answered]) -> list[Pairs]:
    found: dict[Any, Pairs] = {}
    kept: list[Any] = []  # Keeps operands alive, as keys contain their ids.
    for number, one in enumerate(answered):
        operation, expected = one.case.operation, one.case.expectation
        rounding = rounding_asked(operation)
        lying = alignment(operation)
        key = (*map(id, operation.operands), lying, rounding)
        if key not in found:
            kept.append(operation.operands)
            a, b = dividends_and_divisors(operation, lying)
            found[key] = Pairs(a, b, rounding, _canonical(np.ascontiguousarray(expected.quotient).reshape(-1)))
        answer = _canonical(np.ascontiguousarray(one.answer.value, found[key].a.dtype).reshape(-1))
        open_ = expected.unspecified
        counts = np.ones(answer.shape, np.bool_) if open_ is None else ~np.broadcast_to(open_, one.answer.value.shape)
        found[key].members.append((number, answer, counts.reshape(-1)))
    return list(found.values())


def _places(pairs: Pairs) -> Array:
    """Return the positions of a few elements: some of all elements, and some wrong ones of each answer."""
    size = pairs.right.size
    places = [np.linspace(0, size - 1, min(size, _FEW)).astype(np.intp)]
    for wrong in {np.flatnonzero((answer != pairs.right) & counts).tobytes() for _, answer, counts in pairs.members}:
        at = np.frombuffer(wrong, np.intp)
        places.append(at[:: max(1, at.size // _FEW)])
    return np.unique(np.concatenate(places))
