"""Boxes of elementwise operators are exact: runs attain their ends and NaN, and zero where it is inside of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from tests.analysis.containment import complaint, enclosing, looked_at
from tests.analysis.trying import Engine

Points = Sequence[float]
_MOST, _LEAST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).smallest_subnormal)
FLOATS: Sequence[Points] = (
    (0.0,),
    (1.0, 1.5, 2.0),
    (-2.0, -1.0),
    (-1.0, -_LEAST, -0.0, 0.0, _LEAST, 2.0),
    (0.0, 1.0, np.inf),
    (-_MOST, -1.0, -0.0, 0.0, _MOST),
    (1e-30, 1.0, 1e30, np.nan),
)
INTEGERS: Sequence[Points] = ((0,), (1, 2, 3), (-7, -2), (-1, 0, 5), (-(2**31), -1, 0, 1, 2**31 - 1))
"""Numbers of operands, whose ends are among them."""
_OF_TWO = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "GreaterOrEqual")
_OF_ONE = (
    *("Abs", "Ceil", "Erf", "Exp", "Floor", "IsInf", "IsNaN", "Log", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid"),
    *("Sign", "Sqrt", "Tanh"),
)
_DROP_NAN = ("Max", "Min", "Sign")
"""Operators that are no NaN of one in some runtimes."""
_WRAP = ("Add", "Mul", "Neg", "Sub")
"""Operators of integers that may be anything where they leave the type."""


def _model(operator: str, element_type: str, operands: int, exponent: float | None = None) -> ModelProto:
    names, code = [f"x{place}" for place in range(operands)], helper.np_dtype_to_tensor_dtype(np.dtype(element_type))
    constants = [] if exponent is None else [numpy_helper.from_array(np.array(exponent, np.float32), "e")]
    node = helper.make_node(operator, [*names, *(one.name for one in constants)], ["y"])
    inputs = [helper.make_tensor_value_info(name, code, ["n"]) for name in names]
    graph = helper.make_graph([node], "one", inputs, [helper.make_empty_tensor_value_info("y")], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _differing(model: ModelProto, engine: Engine, points: Sequence[Points], element_type: str) -> str:
    """Return in what a box is other than what is computed of every choice of points; empty if in nothing."""
    columns = np.array(list(product(*points))).T.astype(element_type)
    inputs: Mapping[str, NDArray[Any]] = {f"x{place}": column for place, column in enumerate(columns)}
    known = {name: one for name, column in inputs.items() if (one := enclosing(column)) is not None}
    _, scope = looked_at(model, known, infer=False)
    found, results = scope.values["y"], np.asarray(engine.run(None, inputs)[0]).astype(np.float64)
    numbers = results[~np.isnan(results)]
    (low, high), ends = found.box.hull(), (numbers.min(initial=np.inf), numbers.max(initial=-np.inf))
    if found.may_nan != (numbers.size < results.size):
        return f"NaN: {found.may_nan}"
    if not numbers.size:
        return "" if low - high < 1e-30 else f"{low!r} to {high!r}"
    with np.errstate(over="ignore"):  # Past the largest number is an infinity.
        if not np.allclose(np.array((low, high), np.float32), ends, rtol=1e-4, atol=1e-5):
            return f"{low!r} to {high!r}, computed {ends}"
    return f"zero: {found.may_zero}" if found.may_zero != bool((numbers == 0).any()) and not low < 0 < high else ""


@pytest.mark.parametrize("operator", [*_OF_TWO, *_OF_ONE])
def test_floats(operator: str) -> None:
    count = 2 if operator in _OF_TWO else 1
    model = _model(operator, "float32", count)
    engine, chosen = Engine(model), FLOATS[:-1] if operator in _DROP_NAN else FLOATS
    for points in product(chosen, repeat=count):
        assert _differing(model, engine, points, "float32") == "", points


@pytest.mark.parametrize("exponent", [-2.0, -1.0, 0.5, 1.0, 2.0, 3.0, 4.0])
def test_powers(exponent: float) -> None:
    model = _model("Pow", "float32", 1, exponent)
    engine = Engine(model)
    for points in FLOATS:
        assert _differing(model, engine, [points], "float32") == "", points


@pytest.mark.parametrize("operator", ["Abs", "Add", "Div", "Max", "Min", "Mul", "Neg", "Sub"])
def test_integers(operator: str) -> None:
    count = 1 if operator in ("Abs", "Neg") else 2
    model = _model(operator, "int32", count)
    engine = Engine(model)
    for points in product(INTEGERS[:-1] if operator in _WRAP else INTEGERS, repeat=count):
        if operator != "Div" or 0 not in points[1]:
            assert _differing(model, engine, points, "int32") == "", points


@pytest.mark.parametrize("operator", ["Add", "Sub"])
@pytest.mark.parametrize("element_type", ["int8", "uint8"])
def test_sums_that_wrap_to_zero(operator: str, element_type: str) -> None:
    """All values of intervals, at either end of the type too."""
    info, model = np.iinfo(element_type), _model(operator, element_type, 2)
    engine = Engine(model)
    ends = sorted({int(info.min), int(info.min) + 3, max(int(info.min), -3), 0, 2, int(info.max) - 2, int(info.max)})
    intervals = [range(low, high + 1) for low, high in combinations_with_replacement(ends, 2) if high - low < 6]
    for points in product(intervals, repeat=2):
        columns = np.array(list(product(*points))).T.astype(element_type)
        inputs = {f"x{place}": column for place, column in enumerate(columns)}
        known = {name: one for name, column in inputs.items() if (one := enclosing(column)) is not None}
        found = looked_at(model, known, infer=False)[1].values["y"]
        result = np.asarray(engine.run(None, inputs)[0])
        assert complaint(found, result) == "", points
        if operator == "Sub" or (element_type == "int8" and points[1][0] != info.min):
            assert found.may_zero == bool((result == 0).any()), points
