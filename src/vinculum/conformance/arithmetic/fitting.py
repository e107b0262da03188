"""Finding the ways to divide that reproduce answers bit by bit: candidates from a few elements, verified on all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic.answered import VALUES, Answered
from vinculum.conformance.arithmetic.catalogue import catalogue, right
from vinculum.conformance.arithmetic.circumstances import placement
from vinculum.conformance.arithmetic.division import Division, Shared
from vinculum.conformance.cases.operation import Operation, aligned, alignment, rounding_asked
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.broadcasting import Alignment
from vinculum.tensors.comparison import different, encodings
from vinculum.tensors.storage import element_type_of

Array = NDArray[Any]
Circumstances = tuple[str, str, bool]

_FEW = 32  # Elements of each kind, on which candidates are selected.


@dataclass(eq=False)
class Pairs:
    """Operands and rounding that several cases share, with the answers of these cases."""

    a: Array
    b: Array
    rounding: IntegerRounding
    right: Array
    members: list[tuple[int, Array, Array]] = field(default_factory=list)  # number, answer, which elements count


def dividends_and_divisors(operation: Operation, under: Alignment | None = None) -> tuple[Array, Array]:
    """Return the operands of every quotient in one dimension; the dividends of a Reciprocal are 1."""
    a, b = (np.ascontiguousarray(operand).reshape(-1) for operand in aligned(operation, under))
    return a, b


def circumstances(operation: Operation) -> Circumstances:
    """Return what may select a way to divide: constants, how the divisor is broadcast, and the operator."""
    shapes = [operand.shape for operand in operation.operands]
    one_divisor, alike = operation.operands[-1].size == 1, len(set(shapes)) == 1
    lying = "one divisor" if one_divisor else "equal shapes" if alike else "broadcast"
    return placement(operation), lying, len(shapes) == 1


def _canonical(array: Array) -> Array:
    """Return integers or encodings that are equal where `different` finds no difference: all NaN become one."""
    element_type = element_type_of(array)
    if element_type.is_integer:
        return array.astype(np.int8) if element_type.bits == 4 else array
    bits = encodings(array, element_type)
    with np.errstate(invalid="ignore"):  # ml_dtypes warns of signalling NaN.
        return np.where(np.isnan(array), ~np.zeros_like(bits), bits)


def gives(way: Division, one: Answered, under: Alignment | None = None) -> bool:
    """Tell whether a way to divide gives every specified quotient of a case, by default in its own alignment."""
    a, b = dividends_and_divisors(one.case.operation, under)
    given = np.ascontiguousarray(one.answer.value, a.dtype).reshape(-1)
    differ = different(way.quotients(a, b, rounding_asked(one.case.operation)), given, way.element_type)
    unspecified = one.case.expectation.unspecified
    return not (differ if unspecified is None or under is not None else differ & ~unspecified.reshape(-1)).any()


class Fit:
    """The divided cases of one element type, and the ways to divide it."""

    def __init__(self, element_type: ElementType, answered: Sequence[Answered]) -> None:
        self._answered = [one for one in answered if one.outcome == VALUES]
        self._element_type = element_type
        self.deviating = np.array([one.deviates for one in self._answered], np.bool_)
        self._circumstances = [circumstances(one.case.operation) for one in self._answered]
        self._known: dict[int, Array] = {}  # The predictions of the ways that were verified on every element.
        self._everywhere = np.ones(len(self._answered), np.bool_)

    @cached_property
    def ways(self) -> tuple[Division, ...]:
        """The ways to divide, the simplest first."""
        return catalogue(self._element_type)

    @cached_property
    def _pairs(self) -> list[Pairs]:
        return _pairs(self._answered)

    def causes(self, group: Iterable[Answered] | None = None) -> list[tuple[Division, list[Answered], int]]:
        """Return ways to divide, the deviating cases that each explains, and how many passing cases it predicts.

        Ways that give every quotient in some circumstances come first, then those that give most of the rest.

        Parameters
        ----------
        group : iterable of Answered, optional
            The cases; all if None.
        """
        among = self._everywhere if group is None else self._mask(group)
        left, found = self.deviating & among, dict[int, Array]()
        for step in (self._whole, self._greedy):
            for way, own in step(among, left) if left.any() else ():
                found[way] = found.get(way, ~self._everywhere) | own
                left &= ~own
        return [(self.ways[way], self._cases(own), self._passing(way, own)) for way, own in found.items()]

    def _whole(self, among: Array, left: Array) -> Iterator[tuple[int, Array]]:
        """Yield ways that give every quotient in some circumstances, with the cases in these circumstances."""
        masks = [self._alike(np.arange(len(left)) == i) & among for i in self._first_of_each(left)]
        whole = np.array([self._on_a_few[:, mask].all(1) for mask in masks])
        while masks:
            scores = whole.T @ np.array([(mask & left).sum() for mask in masks])
            way = int(np.argmax(scores))
            if not scores[way]:
                return
            held = np.flatnonzero(whole[:, way])
            proved = self._proved(way)
            whole[:, way] = [proved[mask].all() and own for mask, own in zip(masks, whole[:, way], strict=True)]
            if whole[held, way].all():
                yield way, reduce(np.logical_or, (masks[place] for place in held)) & left

    def _greedy(self, among: Array, left: Array) -> Iterator[tuple[int, Array]]:
        """Yield the ways that explain most remaining cases, each with these cases."""
        predicted = self._on_a_few.copy()
        while left.any():
            scores = predicted[:, left].sum(1)
            best = int(scores.max())
            if not best:
                return
            way = self._best(predicted, left, np.flatnonzero(scores == best))
            predicted[way] = self._proved(way)
            if predicted[way][left].sum() == best:
                yield way, predicted[way] & left

    def whole(self, group: Iterable[Answered]) -> Division | None:
        """Return the simplest way to divide that gives every quotient of a group of cases; None if none does."""
        among = self._mask(group)
        if not self.deviating[among].any():
            return right(self._element_type)
        possible = map(int, np.flatnonzero(self._on_a_few[:, among].all(1)))
        return next((self.ways[way] for way in possible if self._proved(way)[among].all()), None)

    def _mask(self, group: Iterable[Answered]) -> Array:
        chosen = {id(one) for one in group}
        return np.array([id(one) in chosen for one in self._answered], np.bool_)

    def _best(self, predicted: Array, left: Array, tied: Array) -> int:
        """Return the tied way that predicts the most passing cases in the same circumstances."""
        passing: dict[bytes, int] = {}
        for way in tied:
            row = predicted[way]
            if row.tobytes() not in passing:  # Many ways predict the same.
                passing[row.tobytes()] = int((row & ~self.deviating & self._alike(row & left)).sum())
        return int(max(tied, key=lambda way: passing[predicted[way].tobytes()]))

    def _first_of_each(self, chosen: Array) -> list[int]:
        """Return one case for each of the circumstances of the chosen cases."""
        return list({self._circumstances[i]: int(i) for i in np.flatnonzero(chosen)}.values())

    def _cases(self, chosen: Array) -> list[Answered]:
        return [self._answered[i] for i in np.flatnonzero(chosen)]

    def _passing(self, way: int, own: Array) -> int:
        """Return how many passing cases a way predicts, in the circumstances of the cases that it explains."""
        return int((self._proved(way) & ~self.deviating & self._alike(own)).sum())

    def _alike(self, chosen: Array) -> Array:
        """Return which cases have the same circumstances as a chosen case."""
        wanted = {self._circumstances[i] for i in np.flatnonzero(chosen)}
        return np.array([one in wanted for one in self._circumstances], np.bool_)

    def _proved(self, way: int) -> Array:
        """Return which cases a way predicts in every element."""
        if way not in self._known:
            predicted = self._known[way] = np.zeros(len(self._answered), np.bool_)
            for pairs in self._pairs:
                given = _canonical(self.ways[way].quotients(pairs.a, pairs.b, pairs.rounding))
                for number, answer, counts in pairs.members:
                    predicted[number] = bool(((given == answer) | ~counts).all())
        return self._known[way]

    @cached_property
    def _on_a_few(self) -> Array:
        """Return, for each way and each case, whether the way predicts a few elements of the case."""
        predicted = np.ones((len(self.ways), len(self._answered)), np.bool_)  # Every way predicts empty quotients.
        for rounding in {pairs.rounding for pairs in self._pairs}:
            chosen = [pairs for pairs in self._pairs if pairs.rounding is rounding and pairs.a.size]
            if not chosen:
                continue
            places = [_places(pairs) for pairs in chosen]
            a, b = (np.concatenate([getattr(p, x)[at] for p, at in zip(chosen, places, strict=True)]) for x in "ab")
            starts = np.cumsum([0, *map(len, places)])
            numbers, gather, answers, ignored, bounds = [], [], [], [], [0]
            for pairs, at, start in zip(chosen, places, starts, strict=False):
                for number, answer, counts in pairs.members:
                    numbers.append(number)
                    gather.append(np.arange(start, start + len(at)))
                    answers.append(answer[at])
                    ignored.append(~counts[at])
                    bounds.append(bounds[-1] + len(at))
            where, answer, open_ = np.concatenate(gather), np.concatenate(answers), np.concatenate(ignored)
            shared, matching = Shared(), dict[int, Array]()
            for place, way in enumerate(self.ways):
                given = way.quotients(a, b, rounding, shared)
                if id(given) not in matching:  # Many ways give the same quotients of a few elements.
                    same = _canonical(given)[where] == answer
                    matching[id(given)] = np.logical_and.reduceat(same | open_, bounds[:-1])
                predicted[place, numbers] = matching[id(given)]
        return predicted


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
