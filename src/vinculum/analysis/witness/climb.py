"""A search from inputs that have been tried: equations solved along a line, halving, and hill climbing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.witness.structured import Candidate, Inputs, Space, base

_ROOTS = 3
_HALVINGS = 64


@dataclass(frozen=True, eq=False)
class Tried:
    """Inputs that were run, and the divisor in question."""

    inputs: Inputs  # By name.
    distance: float  # The distance from the value wanted.
    divisor: NDArray[np.float64] | None  # All of it, if it is small.


Try = Callable[[Candidate], Tried | None]
"""Runs inputs; None if they cannot be run. Raises `EndOfSearch` when the divisor was zero, or runs are used up."""


class EndOfSearch(Exception):  # noqa: N818  it is no error
    """There is nothing more to be tried."""


def search(space: Space, tried: list[Tried], attempt: Try) -> None:
    """Spend runs on a divisor, the most promising methods first, until `attempt` ends it."""
    _solve_fills(space, attempt)
    _halve(space, tried, attempt)
    best = min(tried, key=lambda one: one.distance, default=None)
    if best is not None:
        _climb(space, best, attempt)


def _solve_fills(space: Space, attempt: Try) -> None:
    """Solve, for each input filled with one number, the equation divisor = 0 by secants."""
    for tensor in space.tensors:
        low, high = space.limits(tensor)
        ordinary = base(space, space.size)

        def run(value: float, tensor: Any = tensor, ordinary: Inputs = ordinary) -> Tried | None:
            array = space.clipped(tensor, np.full(ordinary[tensor.name].shape, value))
            return attempt(Candidate(f"{tensor.name} = {value:.9g} everywhere", {**ordinary, tensor.name: array}))

        step = (high - low) / 4 or 1.0 if space.is_float(tensor) else 1.0
        ends = [low, min(high, low + step)]
        first, second = run(ends[0]), run(ends[1])
        for _ in range(6):
            if first is None or second is None or first.divisor is None or second.divisor is None:
                break
            root = next(_roots(ends, first.divisor, second.divisor, low, high, space.is_float(tensor)), None)
            if root is None:
                break
            ends, first, second = [ends[1], root], second, run(root)


def _roots(
    ends: list[float], first: NDArray[np.float64], second: NDArray[np.float64], low: float, high: float, floats: bool
) -> Iterator[float]:
    if first.shape != second.shape:
        return
    with np.errstate(all="ignore"):
        roots = ends[1] - second * (ends[1] - ends[0]) / (second - first)
    found = roots[np.isfinite(roots) & (roots >= low) & (roots <= high)]
    for root in np.unique(found)[:_ROOTS]:
        value = float(root) if floats else float(round(float(root)))
        if value not in ends:
            yield value


def _halve(space: Space, tried: list[Tried], attempt: Try) -> None:
    """Bisect between two inputs at which an element of the divisor has different signs."""
    floats = [tensor for tensor in space.tensors if space.is_float(tensor)]
    pair = _signs_differ(tried) if floats else None
    if pair is None:
        return
    below, above, place = pair
    for _ in range(_HALVINGS):
        middle = dict(below.inputs)
        for tensor in floats:
            ends = (below.inputs[tensor.name].astype(np.float64), above.inputs[tensor.name].astype(np.float64))
            middle[tensor.name] = space.clipped(tensor, ends[0] / 2 + ends[1] / 2)
        found = attempt(Candidate("halving between two inputs of other signs", middle))
        if found is None or found.divisor is None or any(_equal(middle, one.inputs) for one in (below, above)):
            return
        value = found.divisor.reshape(-1)[place]
        if np.isnan(value):
            return
        below, above = (found, above) if value < 0 else (below, found)


def _equal(one: Inputs, other: Inputs) -> bool:
    return all(np.array_equal(array, other[name]) for name, array in one.items())


def _signs_differ(tried: list[Tried]) -> tuple[Tried, Tried, int] | None:
    for one, other in product(tried, repeat=2):
        if one.divisor is None or other.divisor is None or one.divisor.shape != other.divisor.shape:
            continue
        differ = (one.divisor < 0) & (other.divisor > 0)
        if differ.any() and all(array.shape == other.inputs[name].shape for name, array in one.inputs.items()):
            return one, other, int(np.argmax(differ))
    return None


def _climb(space: Space, best: Tried, attempt: Try) -> None:
    """Change single elements, and keep what makes the divisor no larger."""
    generator = space.generator
    tensors = [tensor for tensor in space.tensors if best.inputs[tensor.name].size]
    while tensors:
        tensor = tensors[int(generator.integers(len(tensors)))]
        array = best.inputs[tensor.name].astype(np.float64)
        place = int(generator.integers(array.size))
        low, high = space.limits(tensor)
        old = float(array.reshape(-1)[place])
        if not space.is_float(tensor):
            new = float(generator.integers(int(low), int(high), endpoint=True))
        else:
            other = float(array.reshape(-1)[int(generator.integers(array.size))])
            new = (0.0, other, old * 0.5, old + float(generator.normal()))[int(generator.integers(4))]
        array.reshape(-1)[place] = new
        found = attempt(Candidate("hill climbing", {**best.inputs, tensor.name: space.clipped(tensor, array)}))
        if found is not None and found.distance <= best.distance:
            best = found
