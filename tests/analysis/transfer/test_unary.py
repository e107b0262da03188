"""What each declared function owes: between its turns it is monotone, and it stays within its limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.cases import case
from vinculum.analysis.domain.abstract_tensor import tensor
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.operators.activations import TABLE
from vinculum.analysis.transfer.unary import Unary

_MAGNITUDES = np.concatenate([np.geomspace(1e-6, 80, 400), np.linspace(0, 8, 401)])
_POINTS = np.unique(np.concatenate([-_MAGNITUDES, _MAGNITUDES]))
DECLARED = {name: transfer for name, transfer in TABLE.items() if isinstance(transfer, Unary) and transfer.f}


def _values(declared: Unary, points: np.ndarray, given: list[float]) -> np.ndarray:
    assert declared.f is not None
    with np.errstate(all="ignore"):
        return np.asarray(declared.f(points, *given))


def test_between_its_turns_it_is_monotone() -> None:
    for name, declared in DECLARED.items():
        for factor in (1.0, 0.3, -2.0) if declared.attributes else (1.0,):
            given = [factor * default for default in declared.attributes.values()]
            turns = declared.turns(*given) if callable(declared.turns) else declared.turns
            start, end = declared.domain
            for low, high in pairwise((start, *sorted(turns), end)):
                with case(name, given, low, high):
                    values = _values(declared, _POINTS[(low < _POINTS) & (high > _POINTS)], given)
                    steps = np.diff(values)
                    slack = 1e-12 * np.abs(values[1:])
                    assert (steps >= -slack).all() or (steps <= slack).all()
                    assert not declared.rising or (steps >= -slack).all()


def test_it_stays_within_its_limits() -> None:
    for name, declared in DECLARED.items():
        with case(name):
            points = _POINTS[(declared.domain[0] <= _POINTS) & (declared.domain[1] >= _POINTS)]
            values = _values(declared, points, list(declared.attributes.values()))
            assert declared.least <= values.min()
            assert values.max() <= declared.greatest


def test_bounds_may_have_different_shapes() -> None:
    operand = tensor("float32", (3,), 0.0, [1.0, 2.0, 3.0])
    call = Call("Exp", 18, {}, (), Numbering())
    result = DECLARED["Exp"](call, operand)
    assert (result.low <= 1).all()
    assert (result.high >= np.exp([1.0, 2.0, 3.0])).all()


def test_most_activations_are_declared() -> None:
    assert len(DECLARED) >= 22
