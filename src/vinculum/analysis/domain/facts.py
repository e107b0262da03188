"""Facts on the rows of a tensor, each of which holds, or the row has a NaN."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum


class Kind(Enum):
    """What is known of every row along an axis."""

    SOME_AT_LEAST = "some>="  # One element is at least `low`.
    SUM = "sum"  # The exact sum lies between `low` and `high`.


@dataclass(frozen=True, slots=True)
class Fact:
    """What every row along an axis keeps that holds no NaN.

    Attributes
    ----------
    kind : Kind
        Which fact.
    axis : int
        Never negative.
    low, high : float
        Its bounds; `high` counts for sums alone.
    """

    kind: Kind
    axis: int
    low: float
    high: float = float("inf")


Facts = tuple[Fact, ...]


def find(facts: Facts, kind: Kind, axis: int) -> Fact | None:
    """Return the fact of a kind along an axis."""
    return next((fact for fact in facts if fact.kind is kind and fact.axis == axis), None)


def moved_facts(facts: Facts, axes: Iterable[int | None]) -> Facts:
    """Return facts whose axes have gone elsewhere: the new axis of each, None where it is gone."""
    places = dict(enumerate(axes))
    kept = ((fact, places.get(fact.axis)) for fact in facts)
    return tuple(replace(fact, axis=axis) for fact, axis in kept if axis is not None)
