"""Operators for the reference evaluator: Div, Reciprocal, Loop and Scan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

import vinculum
from tests.models.built_models import one_line, text_model
from vinculum.errors import BroadcastError, DivisionByZeroError, ElementTypeError
from vinculum.models import load


@pytest.mark.parametrize(
    ("operands", "limit", "going", "iterations"),
    [
        ("limit, going, a", 2, True, 2),
        ("limit, going, a", 9, True, 4),
        ("limit, going, a", 9, False, 0),
        ("limit, , a", 3, True, 3),
        (" , going, a", 0, True, 4),
        (" , , a", 0, True, 4),
        ("limit, , a", 0, True, 0),
    ],
)
@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_loop_iterations(operands: str, limit: int, going: bool, iterations: int, shape: tuple[int, ...]) -> None:
    """It divides by 2 while the quotient's largest element is above 1, and stacks it."""
    floats = f"float[{','.join(map(str, shape))}]" if shape else "float"
    nodes = f"""c, s, n = Loop <body = body (int64 i, bool g, {floats} v)
        => (bool h, {floats} w, {floats} s, int64 n) {{
            w = Div(v, two) top = ReduceMax <keepdims = 0> (w) h = Greater(top, one)
            s = Identity(w) n = Identity(i)
        }}> ({operands})"""
    inputs, outputs = f"int64 limit, bool going, {floats} a", f"{floats} c, float[] s, int64[] n"
    model = load(text_model(nodes, inputs, outputs, constants="float two = {2}, float one = {1}"))
    dividend = np.full(shape, 16, np.float32)
    found: dict[str, Any] = model.run({"limit": np.array(limit), "going": np.array(going), "a": dividend})
    assert found["c"].tolist() == (dividend / 2**iterations).tolist()
    assert found["s"].shape == (iterations, *shape)
    assert found["s"].dtype == np.float32
    assert [np.unique(step).tolist() for step in found["s"]] == [[8], [4], [2], [1]][:iterations]
    assert found["n"].tolist() == list(range(iterations))


@pytest.mark.parametrize("steps", [3, 0])
@pytest.mark.parametrize(
    ("attributes", "x_axis", "y_axis", "x_step", "y_step", "axis", "step"),
    [
        ("", 0, 0, 1, 1, 0, 1),
        ("scan_input_directions = [1, 0], scan_output_directions = [1],", 0, 0, -1, 1, 0, -1),
        ("scan_input_axes = [1, -1], scan_output_axes = [-1],", 1, 1, 1, 1, 1, 1),
        ("scan_input_axes = [0, 1], scan_input_directions = [0, 1], scan_output_axes = [1],", 0, 1, 1, -1, 1, 1),
    ],
)
def test_scan_axes_and_directions(
    attributes: str, x_axis: int, y_axis: int, x_step: int, y_step: int, axis: int, step: int, steps: int
) -> None:
    nodes = f"""c, q = Scan <num_scan_inputs = 2, {attributes} body = b (int64[2] s, int64[2] x, int64[2] y)
        => (int64[2] t, int64[2] r) {{ r = Div(x, y) u = Add(s, r) t = Mul(u, around) }}> (s0, xs, ys)"""
    inputs = "int64[2] s0, int64[?, ?] xs, int64[?, ?] ys, int64 around"
    model = load(text_model(nodes, inputs, "int64[2] c, int64[?, ?] q"))
    xs, ys = np.arange(2 * steps).reshape(steps, 2) * 7 - 9, np.arange(2 * steps).reshape(steps, 2) + 1
    state, quotients = np.array([1, 2]), np.empty((steps, 2), np.int64)
    for number, (x, y) in enumerate(zip(xs[::x_step], ys[::y_step], strict=True)):
        quotients[number] = np.trunc(x / y)
        state = (state + quotients[number]) * 3
    given = {"s0": np.array([1, 2]), "around": np.array(3)}
    found = model.run(given | {"xs": np.moveaxis(xs, 0, x_axis), "ys": np.moveaxis(ys, 0, y_axis)})
    assert found["c"].tolist() == state.tolist()
    assert found["q"].dtype == np.int64
    assert found["q"].tolist() == np.moveaxis(quotients[::step], 0, axis).tolist()
    assert found["q"].shape == np.moveaxis(quotients, 0, axis).shape


def _evaluator(model: ModelProto) -> Any:
    return ReferenceEvaluator(model, new_ops=vinculum.reference_ops())


class TestReferenceOps:
    """`vinculum.reference_ops()`: Div and Reciprocal in any reference evaluator, with `vinculum.div`'s defaults."""

    def test_the_classes(self) -> None:
        assert [cls.__name__ for cls in vinculum.reference_ops()] == ["Div", "Reciprocal"]
        assert vinculum.reference_ops() is not vinculum.reference_ops()

    def test_integers_truncate_and_wrap(self) -> None:
        evaluator = _evaluator(text_model("c = Div(a, b)", "int64[] a, int64[] b", "int64[] c"))
        dividend, divisor = np.array([-11, 2**63 - 1, -(2**63)]), np.array([3, 1, -1])
        assert evaluator.run(None, {"a": dividend, "b": divisor})[0].tolist() == [-3, 2**63 - 1, -(2**63)]

    @pytest.mark.parametrize("opset", [1, 6])
    def test_the_legacy_attributes_of_the_operator_set(self, opset: int) -> None:
        evaluator = _evaluator(text_model("c = Div <broadcast = 1, axis = 0> (a, b)", opset=opset))
        dividend, divisor = np.ones((2, 3), np.float32), np.array([2, 3], np.float32)
        assert evaluator.run(None, {"a": dividend, "b": divisor})[0].tolist() == (dividend / divisor[:, None]).tolist()

    @pytest.mark.parametrize(
        ("node", "code", "opset", "operands", "kind", "parts"),
        [
            ("Div(a, b)", TensorProto.INT8, 14, [[1, 2], [1, 0]], DivisionByZeroError, ("node 'n' (Div-14): 1 of 2",)),
            ("Div(a, b)", TensorProto.INT8, 13, [[1], [1]], ElementTypeError, ("'n' (Div-13)", "does not take int8")),
            ("Div(a, b)", TensorProto.FLOAT, 6, [[1, 2], [1]], BroadcastError, ("'n' (Div-6)", "must be equal")),
            ("Reciprocal(b)", TensorProto.INT32, 13, [[1], [1]], ElementTypeError, ("node 'n' (Reciprocal-13)",)),
        ],
    )
    def test_errors_are_ours(
        self, node: str, code: int, opset: int, operands: Any, kind: type[Exception], parts: Any
    ) -> None:
        dtype = helper.tensor_dtype_to_np_dtype(code)
        given = {name: np.array(x, dtype) for name, x in zip("ab", operands, strict=True)}
        with one_line(kind, *parts):
            _evaluator(text_model(f"[n] c = {node}", opset=opset)).run(None, given)

    def test_in_subgraphs(self) -> None:
        branch = "() => (t) { t = Div(a, b) }"
        nodes = f"c = If(k) <then_branch = t {branch}, else_branch = e {branch}> x = Neg(a) y = Neg(b)"
        evaluator = _evaluator(text_model(nodes, constants="bool k = {1}"))
        ones = np.ones(2, np.float32)
        assert evaluator.run(None, {"a": ones, "b": ones * 4})[0].tolist() == [0.25, 0.25]
        with pytest.raises(TypeError) as caught:
            evaluator.run(None, {"a": ones, "b": np.ones(2)})
        # The evaluator rewrites a TypeError that leaves a subgraph, and keeps ours as the cause.
        assert isinstance(caught.value.__cause__, ElementTypeError)

    def test_an_operator_by_itself(self) -> None:
        division: Any = vinculum.reference_ops()[0]
        assert division.eval(np.array([-7]), np.array([2])).tolist() == [-3]
