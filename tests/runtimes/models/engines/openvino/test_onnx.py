"""`Model.run(engine="openvino")` of ONNX models: our divisions, everything else in OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from tests.models.built_models import one_line, text_model
from vinculum.errors import DivisionByZeroError, ModelError
from vinculum.models import load

A, B = np.array([6, -9, 1], np.float32), np.array([2, 3, 7], np.float32)
AB = "float[n] a, float[n] b"


class TestParts:
    """Values cross from part to part; types and ranks decide which part is compiled."""

    def test_a_chain(self) -> None:
        model = load(text_model("n = Neg(a) q = Div(n, b) y = Abs(q)", AB, "float[n] y"))
        for a, b in ((A, B), (A[:2], B[:2]), (A, B)):
            assert model.run({"a": a, "b": b}, engine="openvino")["y"].tolist() == np.abs(-a / b).tolist()

    def test_integers_truncate_and_policies_hold(self) -> None:
        nodes = "[node_q] q = Div(a, b) y = Neg(q)"
        model = load(text_model(nodes, "int64[n] a, int64[n] b", "int64[n] y"))
        given = {"a": np.array([-7, 7, 5]), "b": np.array([2, -2, 0])}
        assert model.run(given, zero_divisor="zero", engine="openvino")["y"].tolist() == [3, 3, 0]
        with pytest.raises(DivisionByZeroError, match=r"^node 'node_q' \(Div-"):
            model.run(given, engine="openvino")

    def test_what_openvino_does_not_run(self) -> None:
        model = load(text_model("y = Det(a)", "float[2,2] a", "float y"))
        with one_line(ModelError, "cannot be read by OpenVINO: ", "Det", "; try the reference engine"):
            model.run({"a": np.eye(2, dtype=np.float32)}, engine="openvino")

    def test_random_numbers_are_drawn_once(self) -> None:
        model = load(text_model("r = RandomUniformLike(a) q = Div(r, b) y = Sub(q, r)", AB, "float[n] y"))
        given = {"a": A, "b": np.ones(3, np.float32)}
        assert model.run(given, engine="openvino")["y"].tolist() == [0, 0, 0]

    def test_constants_and_inputs_with_a_value(self) -> None:
        proto = text_model("r = Reciprocal(b) y = Mul(a, r)", "float[n] a, float[3] b", "float[n] y")
        proto.graph.initializer.append(numpy_helper.from_array(B, "b"))
        model = load(proto)
        for given in ({"a": A}, {"a": A, "b": A}, {"a": A}):
            divisor = given.get("b", B)
            assert model.run(given, engine="openvino")["y"].tolist() == (A * (np.float32(1) / divisor)).tolist()

    @pytest.mark.parametrize("trips", [-1, 0, 2])
    def test_loops(self, trips: int) -> None:
        body = "body (int64 i, bool go, float[3] v) => (bool on, float[3] w) { on = Identity(go) w = Div(v, b) }"
        nodes = f"[loop] y = Loop <body = {body}> (n, , a)"
        model = load(text_model(nodes, "int64 n, float[3] a, float[3] b", "float[3] y"))
        wanted = A / B / B if trips == 2 else A
        assert model.run({"n": np.array(trips), "a": A, "b": B}, engine="openvino")["y"].tolist() == wanted.tolist()

    @pytest.mark.parametrize("steps", [1, 3])
    @pytest.mark.parametrize(
        "attributes", ["", "scan_input_directions = [1], scan_output_directions = [1], scan_output_axes = [1],"]
    )
    def test_scans(self, attributes: str, steps: int) -> None:
        body = "b (float[2] s, float[2] x) => (float[2] t, float[2] r) { r = Div(x, s) t = Add(s, r) }"
        nodes = f"y, q = Scan <num_scan_inputs = 1, {attributes} body = {body}> (s, xs)"
        model = load(text_model(nodes, "float[2] s, float[?, 2] xs", "float[2] y, float[?, ?] q"))
        given = {"s": A[:2], "xs": np.arange(2 * steps, dtype=np.float32).reshape(steps, 2) - 3}
        wanted = {name: array.tolist() for name, array in model.run(given).items()}
        assert {n: array.tolist() for n, array in model.run(given, engine="openvino").items()} == wanted
