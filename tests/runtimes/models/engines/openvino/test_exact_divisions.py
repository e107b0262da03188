"""`vinculum.openvino.exact_divisions`: OpenVINO's own divisions of floats, exact in that runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import openvino
import openvino.opset13 as op
import pytest
from numpy.typing import NDArray

from tests.models.built_models import one_line
from vinculum.errors import DifferenceError
from vinculum.models.engines.openvino import exact_divisions as room
from vinculum.openvino import exact_divisions

Array = NDArray[Any]
F32 = np.float32
RNG = np.random.default_rng(0)
X = RNG.standard_normal((1, 8, 16, 16)).astype(F32)
CHANNELS = RNG.uniform(1, 3, (1, 8, 1, 1)).astype(F32)


def computed(model: Any, *arrays: Array) -> list[Array]:
    """Return what the CPU device computes."""
    results = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(list(arrays))
    return [np.array(results[place]) for place in range(len(results))]


def parameter(shape: Any = (1, 8, 16, 16), dtype: Any = F32) -> Any:
    return op.parameter(list(shape), dtype)


def model_of(parameters: list[Any], *nodes: Any) -> Any:
    return openvino.Model([op.result(node) for node in nodes], parameters, "m")


def convolution(x: Any) -> Any:
    weights = np.random.default_rng(1).standard_normal((8, 8, 3, 3)).astype(F32)
    return op.convolution(x, op.constant(weights), [1, 1], [1, 1], [1, 1], [1, 1])


def product(x: Any) -> Any:
    return op.matmul(x, op.constant(np.random.default_rng(1).standard_normal((16, 16)).astype(F32)), False, False)


def mean(x: Any) -> Any:
    return op.reduce_mean(x, op.constant(np.array([3])), True)


def length(x: Any) -> Any:
    squares = op.reduce_sum(op.power(x, op.constant(F32(2))), op.constant(np.array([1])), True)
    return op.sqrt(op.add(squares, op.constant(F32(1e-6))))


def deviation(x: Any) -> Any:
    return op.sqrt(op.add(mean(op.power(x, op.constant(F32(2)))), op.constant(F32(1e-6))))


class TestQuotients:
    """Quotients are exact where OpenVINO would fuse the Divide or multiply by a reciprocal."""

    @pytest.mark.parametrize("before", [op.relu, convolution, product, mean])
    @pytest.mark.parametrize("divisor", [CHANNELS, F32(3)])
    def test_by_a_constant(self, before: Callable[[Any], Any], divisor: Any) -> None:
        x = parameter()
        dividend = before(x)
        (operand,) = computed(model_of([x], dividend), X)
        model = model_of([x], op.divide(dividend, op.constant(divisor)))
        assert not np.array_equal(computed(model, X)[0], operand / divisor)
        found = exact_divisions(model)
        assert [division.kind for division in found.exact] == [("f32", False, True)]
        assert np.array_equal(computed(model, X)[0], operand / divisor)
        assert found.validate() > 2000

    @pytest.mark.parametrize("divisor", [length, deviation])
    def test_in_what_openvino_knows_as_a_norm(self, divisor: Callable[[Any], Any]) -> None:
        x = parameter()
        below = divisor(x)
        (operand,) = computed(model_of([x], below), X)
        model = model_of([x], op.divide(x, below))
        assert not np.array_equal(computed(model, X)[0], X / operand)
        found = exact_divisions(model)
        assert np.array_equal(computed(model, X)[0], X / operand)
        assert found.validate() > 2000

    @pytest.mark.parametrize("dtype", [F32, np.float16])
    def test_by_what_the_run_gives(self, dtype: Any) -> None:
        a, b = parameter((4096,), dtype), parameter((4096,), dtype)
        model = model_of([a, b], op.divide(a, b))
        x, y = (RNG.uniform(0.1, 10, 4096).astype(dtype) for _ in range(2))
        assert exact_divisions(model).validate() > 2000
        assert np.array_equal(computed(model, x, y)[0], x / y)

    def test_a_reciprocal(self) -> None:
        x = parameter((4096,))
        power = op.power(x, op.constant(F32(-1)))
        power.set_friendly_name("inverse")
        square = op.power(x, op.constant(F32(-2)))
        model = model_of([x], op.multiply(x, power), square)
        found = exact_divisions(model)
        assert [(division.name, division.kind) for division in found.exact] == [("inverse", ("f32", True, False))]
        given = RNG.uniform(0.1, 10, 4096).astype(F32)
        assert np.array_equal(computed(model, given)[0], given * (F32(1) / given))
        assert found.validate() > 2000

    def test_in_a_body(self) -> None:
        x, y, condition = parameter((4096,)), parameter((4096,)), op.parameter([], bool)
        a, b, c = parameter((4096,)), parameter((4096,)), parameter((4096,))
        yes, no = op.result(op.divide(a, b)), op.result(op.abs(c))
        layer = op.if_op(condition.output(0))
        layer.set_then_body(openvino.Model([yes], [a, b], "then"))
        layer.set_else_body(openvino.Model([no], [c], "else"))
        layer.set_input(x.output(0), a, c)
        layer.set_input(y.output(0), b, None)
        model = model_of([x, y, condition], layer.set_output(yes, no))
        given = [RNG.uniform(0.1, 10, 4096).astype(F32) for _ in range(2)]
        assert not np.array_equal(computed(model, *given, np.array(True))[0], given[0] / given[1])
        found = exact_divisions(model)
        assert [division.path for division in found.exact] == ["If:then_branch"]
        assert np.array_equal(computed(model, *given, np.array(True))[0], given[0] / given[1])


class TestInexact:
    """Divisions that cannot be made exact are listed with the reason."""

    @pytest.mark.parametrize(
        ("dtype", "part"),
        [
            (np.float64, "narrows f64 to f32"),
            (np.int32, "divides i32 in its own way"),
            (np.uint8, "divides u8 in its own way"),
            (openvino.Type.bf16, "subnormal numbers of bf16"),
        ],
    )
    def test_element_types(self, dtype: Any, part: str) -> None:
        a, b = parameter((4,), dtype), parameter((4,), dtype)
        found = exact_divisions(model_of([a, b], op.divide(a, b)))
        assert not found.exact
        assert part in found.inexact[0].reason
        assert found.validate() == 0

    def test_subnormal_constants(self) -> None:
        """Subnormal numbers of float16 are normal in float32."""
        normal = np.finfo(F32).smallest_normal
        stored = (normal, F32(0), np.float16(2.0**-24), -normal / F32(2))
        found = []
        for constant in map(op.constant, stored):
            x = parameter((4,))
            divisor = constant if constant.get_element_type() == openvino.Type.f32 else op.convert(constant, "f32")
            found.append(exact_divisions(model_of([x], op.divide(x, divisor))))
        assert [[division.kind for division in one.exact] for one in found] == [[("f32", False, True)]] * 3 + [[]]
        assert "a constant operand holds subnormal numbers" in found[-1].inexact[0].reason

    def test_layers_that_divide_inside(self) -> None:
        x = parameter()
        layers = [op.softmax(x, 1), op.mvn(x, op.constant(np.array([3])), True, 1e-6, "inside_sqrt")]
        reasons = [division.reason for division in exact_divisions(model_of([x], *layers)).inexact]
        assert sorted(reasons) == ["MVN divides inside one layer", "Softmax divides inside one layer"]


def test_validation_a_wrong_quotient(monkeypatch: pytest.MonkeyPatch) -> None:
    """`validate` raises an error for a wrong quotient."""
    a, b = parameter((4,)), parameter((4,))
    found = exact_divisions(model_of([a, b], op.divide(a, b)))
    monkeypatch.setattr(room, "_NO_RECIPROCAL", "another name")
    with one_line(DifferenceError, "a division of f32", "in OpenVINO"):
        found.validate()
