"""Issue 19, point 8: no error of a run exceeds its bound, and the bounds are tight enough to be useful."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, numpy_helper

from tests.analysis.hazardous import parsed
from tests.cases import case
from vinculum.analysis.accuracy import Accuracy, accuracy
from vinculum.errors import AttributeValueError
from vinculum.models.source import source_of
from vinculum.ops.sonnx import accuracy as accuracy_of_elements

Exact = NDArray[Any]
"""An object array of Fractions."""
SIZE = 3


def fractions(array: NDArray[Any]) -> Exact:
    """Return floats as exact fractions."""
    made = np.empty(array.shape, object)
    for index, value in np.ndenumerate(array):
        made[index] = Fraction(float(value))
    return made


def root(value: Fraction) -> Fraction:
    """Return a square root, to 200 bits."""
    scale = 1 << 400
    return Fraction(isqrt(int(value * scale * scale)), scale) if value >= 0 else Fraction(-1)


def each(f: Any, *operands: Exact) -> Exact:
    """Return what a function gives of the elements of operands, broadcast."""
    return np.asarray(np.frompyfunc(f, len(operands), 1)(*operands), dtype=object)


EXACT: dict[str, Any] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Neg": lambda a: -a,
    "Abs": lambda a: each(abs, a),
    "Relu": lambda a: each(lambda x: max(x, Fraction(0)), a),
    "Sqrt": lambda a: each(root, a),
    "Reciprocal": lambda a: Fraction(1) / a,
    "Max": lambda a, b: each(max, a, b),
    "MatMul": lambda a, b: a.dot(b),
    "Gemm": lambda a, b, c: 2 * a.T.dot(b) + c,
    "ReduceSum": lambda a: a.sum(axis=-1, keepdims=True),
    "ReduceMean": lambda a: a.sum(axis=-1, keepdims=True) / Fraction(a.shape[-1]),
    "Transpose": lambda a: a.T,
    "Reshape": lambda a: a.reshape(-1)[: SIZE * SIZE].reshape(SIZE, SIZE) if a.size == SIZE * SIZE else a,
}
ARITY = {"Gemm": 3, **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Max", "MatMul"), 2)}


class RandomGraph:
    """A graph of a few operators of (3, 3) tensors, and the same in rationals."""

    def __init__(self, generator: np.random.Generator, element_type: str) -> None:
        self.inputs = ["x", "y"]
        self.steps: list[tuple[str, list[str], str]] = []
        # Reshape of a column is left out by the choice of squares alone.
        names, square = ["x", "y", "c"], {"x", "y", "c"}
        for number in range(int(generator.integers(2, 8))):
            operator = str(generator.choice(list(EXACT)))
            wanted = sorted(square) if operator in ("MatMul", "Gemm", "Reshape", "Transpose") else names
            chosen = [str(generator.choice(wanted)) for _ in range(ARITY.get(operator, 1))]
            result = f"v{number}"
            self.steps.append((operator, chosen, result))
            names.append(result)
            if not operator.startswith("Reduce") and (operator in ("MatMul", "Gemm") or set(chosen) & square):
                square.add(result)
        self.constant = generator.uniform(0.5, 2, (SIZE, SIZE)).astype(element_type)
        extra = {"ReduceSum": ", axis", "Reshape": ", shape"}
        attributes = {"ReduceMean": " <axes = [-1]> ", "Gemm": " <transA = 1, alpha = 2.0> "}
        nodes = "\n".join(
            f"{result} = {operator}{attributes.get(operator, '')}({', '.join(operands)}{extra.get(operator, '')})"
            for operator, operands, result in self.steps
        )
        kind = element_type.replace("float32", "float")
        inputs = ", ".join(f"{kind}[{SIZE}, {SIZE}] {name}" for name in self.inputs)
        outputs = ", ".join(f"{kind} {result}" for _, _, result in self.steps)
        self.model = parsed(nodes, inputs, outputs, f"int64[1] axis = {{-1}}, int64[2] shape = {{{SIZE}, {SIZE}}}")
        self.model.graph.initializer.append(numpy_helper.from_array(self.constant, "c"))

    def exact(self, inputs: dict[str, Exact]) -> dict[str, Exact]:
        """Return every value in rationals, as far as there is one."""
        values = {**inputs, "c": fractions(self.constant)}
        for operator, operands, result in self.steps:
            if any(name not in values for name in operands):
                continue
            try:
                values[result] = EXACT[operator](*(values[name] for name in operands))
            except ZeroDivisionError:
                continue
        return values


def bounded(proto: ModelProto, ranges: Sequence[str], errors: dict[str, float] | None = None) -> Accuracy:
    return accuracy(proto, assume=ranges, input_errors=errors)


class TestSound:
    """Random small graphs, compared with rationals: no error exceeds its bound."""

    @pytest.mark.parametrize("element_type", ["float32", "float16"])
    def test_random_graphs(self, element_type: str) -> None:
        compared = 0
        for seed in range(60):
            generator = np.random.default_rng(seed)
            graph = RandomGraph(generator, element_type)
            error = float(generator.choice([0.0, 1e-4, 1e-2]))
            low, high = (0.5, 3.0) if seed % 2 else (-2.0, 2.0)
            found = bounded(graph.model, [f"x={low}:{high}", f"y={low}:{high}"], {"x": error})
            totals = {bound.name: bound.total for bound in found.outputs if not bound.reason}
            runnable = source_of(graph.model).model()
            for _ in range(4):
                dtype = graph.constant.dtype
                given = {name: generator.uniform(low, high, (SIZE, SIZE)).astype(dtype) for name in graph.inputs}
                exact = {name: fractions(array) for name, array in given.items()}
                exact["x"] = exact["x"] + fractions(generator.choice([-error, error, 0.0], (SIZE, SIZE)))
                values, results = graph.exact(exact), runnable.run(given)
                for name, total in totals.items():
                    with case(seed, name, graph.steps):
                        assert name in values
                        off = each(abs, fractions(results[name]) - values[name])
                        assert max(off.reshape(-1)) <= Fraction(total)
                        compared += 1
        assert compared > 300

    def test_the_reference_is_no_tighter_at_points(self) -> None:
        """At single operands a division's bound is that of `vinculum.sonnx.accuracy`, but for a few roundings."""
        a, b = np.array([5.0], np.float32), np.array([3.0], np.float32)
        proto = parsed("q = Div(a, b)", "float[1] a, float[1] b", "float q")
        (division,) = bounded(proto, ["a=5:5", "b=3:3"]).divisions
        ours = accuracy_of_elements(a, b, 0.0, 0.0)
        assert division.introduced >= float(ours.introduced[0])
        assert division.introduced == pytest.approx(float(ours.introduced[0]), rel=1e-6)
        (division,) = bounded(proto, ["a=5:5", "b=3:3"], {"a": 0.1, "b": 0.1}).divisions
        assert division.propagated == pytest.approx(float(accuracy_of_elements(a, b, 0.1, 0.1).propagated[0]), rel=0.2)


class TestRules:
    """The bounds of single operators, and the reasons for missing ones."""

    def test_a_norm(self) -> None:
        nodes = """
            m = ReduceMean <axes = [-1]> (x) c = Sub(x, m) s = Mul(c, c) v = ReduceMean <axes = [-1]> (s)
            g = Add(v, epsilon) d = Sqrt(g) y = Div(c, d)
        """
        proto = parsed(nodes, "float[2, 8] x", constants="float epsilon = {0.1}")
        (division,) = bounded(proto, ["x=-3:3"]).divisions
        assert not division.reason
        assert 0 < division.introduced < division.total < 0.01

    @pytest.mark.parametrize(
        ("low", "error", "reason"), [(0.0, 0.0, "the divisor can be zero"), (1e-3, 1e-2, "the divisor can be zero")]
    )
    def test_no_bound_of_a_division(self, low: float, error: float, reason: str) -> None:
        found = bounded(parsed("y = Reciprocal(x)"), [f"x={low}:3"], {"x": error})
        assert reason in found.divisions[0].reason or "infinite or NaN" in found.divisions[0].reason
        assert found.outputs[0].total == float("inf")

    def test_no_rule(self) -> None:
        proto = parsed("[sign] s = Sign(x) y = Neg(s)")
        assert bounded(proto, ["x=0:1"]).outputs[0].reason == "node 'sign' (Sign): Sign has no rule"

    def test_a_condition_that_may_differ(self) -> None:
        proto = parsed("c = Greater(x, y) z = Where(c, x, y)", "float[2] x, float[2] y", "float z")
        assert bounded(proto, ["x=0:1", "y=0:1"]).outputs[0].total == 0
        assert "Greater has no rule" in bounded(proto, ["x=0:1", "y=0:1"], {"x": 1e-3}).outputs[0].reason


def test_no_error_is_negative_or_infinite() -> None:
    for error in (-1.0, float("inf")):
        with case(error), pytest.raises(AttributeValueError, match="give a number of at least 0"):
            bounded(parsed("y = Neg(x)"), [], {"x": error})
