"""Declared functions are monotone between their turns, and stay within their limits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
from onnx import ModelProto

from tests.analysis.operators import Trial
from tests.analysis.trying import Engine, single
from tests.cases import case
from vinculum.analysis.accuracy import accuracy
from vinculum.analysis.transfer.declarations import Unary
from vinculum.analysis.transfer.operators.activations import GELU, GELU_BY_TANH, TABLE

_MAGNITUDES = np.concatenate([np.geomspace(1e-6, 80, 400), np.linspace(0, 8, 401)])
_POINTS = np.unique(np.concatenate([-_MAGNITUDES, _MAGNITUDES]))
TRANSFERS = {name: operator.transfer for name, operator in TABLE.items()}
TRANSFERS |= {"Gelu": GELU, "Gelu by tanh": GELU_BY_TANH}
DECLARED = {name: transfer for name, transfer in TRANSFERS.items() if isinstance(transfer, Unary) and transfer.f}


def _bounded(name: str, low: float, high: float, error: float) -> tuple[ModelProto, float] | None:
    """Return a model of a function of operands that are hardly off, and the bound of its error; None if it has none."""
    attributes = {"approximate": "tanh"} if name.endswith("tanh") else {}
    opset = {"Gelu": 20, "Gelu by tanh": 20, "Swish": 24, "Mish": 18}.get(name, 18)
    proto = single(Trial(name.split()[0], ((500,),), attributes, opset=opset), "float32")
    (output,) = accuracy(proto, assume=[f"x0={low}:{high}"], input_errors={"x0": error}).outputs
    return None if output.reason else (proto, output.total)


def _values(declared: Unary, points: np.ndarray, given: list[float]) -> np.ndarray:
    assert declared.f is not None
    with np.errstate(all="ignore"):
        return np.asarray(declared.f(points, *given))


def _given(declared: Unary, *factors: float) -> Iterator[list[float]]:
    """Yield attributes, as they are by default and times some factors."""
    for factor in (1.0, *factors) if declared.attributes else (1.0,):
        yield [factor * default for default in declared.attributes.values()]


def test_between_its_turns_it_is_monotone() -> None:
    for name, declared in DECLARED.items():
        for given in _given(declared, 0.3, -2.0):
            turns = declared.turns(*given) if callable(declared.turns) else declared.turns
            start, end = (turns[0], turns[0] + declared.period) if declared.period else declared.domain
            for low, high in pairwise((start, *sorted(turns), end)):
                with case(name, given, low, high):
                    points = _POINTS[(low < _POINTS) & (high > _POINTS)]
                    values = _values(declared, points, given)
                    steps = np.diff(values)
                    slack = 1e-12 * np.abs(values[1:]) + 1e-15 * np.abs(points[1:]) * declared.gates
                    assert (steps >= -slack).all() or (steps <= slack).all()
                    assert not declared.rising or (steps >= -slack).all()


def test_it_stays_within_its_limits_and_says_where_its_values_are_whole_numbers() -> None:
    for name, declared in DECLARED.items():
        with case(name):
            start, end = declared.domain
            values = _values(declared, _POINTS, list(declared.attributes.values()))
            inside = values[(start <= _POINTS) & (end >= _POINTS)]
            assert declared.least <= inside.min()
            assert inside.max() <= declared.greatest
            assert declared.integral == bool((values == np.rint(values)).all())


def test_no_slope_is_steeper_than_it_says() -> None:
    for name, declared in DECLARED.items():
        points = _POINTS[(declared.domain[0] < _POINTS) & (declared.domain[1] > _POINTS)]
        for given, (low, high) in product(_given(declared, 0.3, 2.5), ((-80, 80), (-1, 1), (0.25, 3), (-7, -2))):
            some, slope = points[(points >= low) & (points <= high)], declared.slope
            with np.errstate(all="ignore"):
                slope = float(slope(np.asarray(low), np.asarray(high), *given) if callable(slope) else slope)
            if some.size > 1 and np.isfinite(slope):
                with case(name, given, low, high):
                    steps = np.abs(np.diff(_values(declared, some, given)))
                    assert (steps <= slope * np.diff(some) * (1 + 1e-6) + 1e-15).all()


def test_what_is_computed_is_within_the_error_of_the_exact_value() -> None:
    """The function in float64 at exact operands, and in float32 at operands that are off by an error."""
    rng, compared = np.random.default_rng(0), 0
    for name, declared in DECLARED.items():
        given = list(declared.attributes.values())
        for low, high, error in ((-3.0, 3.0, 1e-3), (0.5, 0.9, 1e-2), (-9.0, -4.0, 0.0), (1.5, 40.0, 1e-4)):
            if (model := _bounded(name, low, high, error)) is None:
                continue
            proto, bound = model
            exact = rng.uniform(low, high, 500).astype(np.float32).astype(np.float64)
            off = np.clip(exact + rng.uniform(-error, error, exact.size), low, high).astype(np.float32)
            (y,) = Engine(proto).run(None, {"x0": off})
            with case(name, low, high, error):
                assert np.abs(y - _values(declared, exact, given)).max() <= bound
                compared += 1
    assert compared > 50
