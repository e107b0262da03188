"""What is known of a tensor beside bounds: facts on its rows, and of itself as a sum of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from math import inf, isfinite, nextafter

import numpy as np

from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.formats import HIGHEST, LOWEST, Bounds


class Kind(Enum):
    """What is known of every row along an axis."""

    SOME_AT_LEAST = "some>="  # One element is at least `low`.
    SOME_AT_MOST = "some<="  # One element is at most `high`: a condition is false somewhere.
    SUM = "sum"  # The exact sum lies between `low` and `high`.


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of every row along an axis that holds no NaN."""

    kind: Kind  # Which fact.
    axis: int  # Never negative.
    low: float = -inf  # Its bounds, as far as the kind has them.
    high: float = inf
    fills: bool = False  # Whether a row that holds a NaN holds nothing else.


Facts = tuple[Fact, ...]


def find(facts: Facts, kind: Kind, axis: int) -> Fact | None:
    """Return the fact of a kind along an axis."""
    return next((fact for fact in facts if fact.kind is kind and fact.axis == axis), None)


def carried(facts: Facts, f: Callable[[float], float]) -> Facts:
    """Return the facts that a non-decreasing function keeps: some element at least v becomes one at least f(v)."""
    return tuple(replace(fact, low=f(fact.low)) for fact in facts if fact.kind is Kind.SOME_AT_LEAST)


def moved_facts(facts: Facts, axes: Iterable[int | None]) -> Facts:
    """Return facts whose axes have gone elsewhere: the new axis of each, None where it is gone."""
    places = dict(enumerate(axes))
    kept = ((fact, places.get(fact.axis)) for fact in facts)
    return tuple(replace(fact, axis=axis) for fact, axis in kept if axis is not None)


_MOST_TERMS = 4


@dataclass(frozen=True, slots=True)
class Affine:
    """A value is the sum of coefficients times values of its own shape, by value number, and of a rest."""

    terms: tuple[tuple[int, float], ...]  # Value numbers in order, and their coefficients.
    low: float  # Bounds of the rest, in which the roundings of all nodes are.
    high: float

    def bounds(self, box_of: Callable[[int], Box]) -> tuple[Bounds, Bounds]:
        """Return bounds of the value, from the boxes of its terms."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        for number, coefficient in self.terms:
            box = box_of(number)
            ends = (coefficient * box.low, coefficient * box.high)
            low = np.nextafter(low + np.nextafter(np.minimum(*ends), LOWEST), LOWEST)
            high = np.nextafter(high + np.nextafter(np.maximum(*ends), HIGHEST), HIGHEST)
        return low, high


def combined(a: Affine, b: Affine, factor: float, error: float) -> Affine | None:
    """Return a + factor * b, its rounding bounded by an error; None if it is too long to keep."""
    terms = dict(a.terms)
    for number, coefficient in b.terms:
        terms[number] = terms.get(number, 0.0) + factor * coefficient
    left = tuple(sorted((number, coefficient) for number, coefficient in terms.items() if coefficient))
    ends = (factor * b.low, factor * b.high)
    low, high = a.low + min(ends) - error, a.high + max(ends) + error
    if len(left) > _MOST_TERMS or not all(map(isfinite, (low, high, *(c for _, c in left)))):
        return None
    if low == high == 0.0 and not error:
        return Affine(left, 0.0, 0.0)
    return Affine(left, nextafter(low, -inf), nextafter(high, inf))
