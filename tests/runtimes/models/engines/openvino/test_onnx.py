"""`Model.run(engine="openvino")` of ONNX models: our divisions, everything else in OpenVINO."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from vinculum.errors import DivisionByZeroError, ModelError
from vinculum.models import DivisionRecord, Model, load
from vinculum.models.values import tensor_dtype

File = Callable[..., Path]
OneLine = Callable[..., AbstractContextManager[None]]
FOLDER = Path(__file__).parents[5] / "examples"
FLOATS, INTS = (TensorProto.FLOAT, [None]), (TensorProto.INT64, [None])
A, B = np.array([6, -9, 1], np.float32), np.array([2, 3, 7], np.float32)


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(operator, inputs.split(), outputs.split(), f"node_{outputs}", **attributes)


class TestExamples:
    """Every example runs, and its outputs are those of the reference engine but for roundings elsewhere."""

    @pytest.mark.parametrize(
        "path", sorted(FOLDER.glob("*/*.onnx")), ids=lambda path: f"{path.parent.name}-{path.stem}"
    )
    def test_one(self, path: Path) -> None:
        model = load(path)
        rng = np.random.default_rng(0)
        inputs = {}
        for tensor in model.inputs:
            shape = [size if isinstance(size, int) else 4 for size in tensor.shape or ()]
            inputs[tensor.name] = rng.integers(1, 9, shape).astype(tensor_dtype(tensor))
        records: list[DivisionRecord] = []
        outputs = model.run(inputs, observer=records.append, engine="openvino")
        assert {record.division for record in records} == set(model.divisions)
        for name, wanted in model.run(inputs).items():
            tolerance = 0.01 if wanted.dtype == np.float16 else 1e-5
            np.testing.assert_allclose(outputs[name], wanted, tolerance, tolerance)


class TestParts:
    """Values cross from part to part; types and ranks decide which part is compiled."""

    @pytest.fixture
    def model(self, onnx_file: File) -> Model:
        nodes = [node("Neg", "a", "n"), node("Div", "n b", "q"), node("Abs", "q", "y")]
        return load(onnx_file(nodes, {"a": FLOATS, "b": FLOATS}, {"y": FLOATS}))

    def test_a_chain(self, model: Model) -> None:
        for a, b in ((A, B), (A[:2], B[:2]), (A, B)):
            assert model.run({"a": a, "b": b}, engine="openvino")["y"].tolist() == np.abs(-a / b).tolist()

    def test_integers_truncate_and_policies_hold(self, onnx_file: File) -> None:
        nodes = [node("Div", "a b", "q"), node("Neg", "q", "y")]
        model = load(onnx_file(nodes, {"a": INTS, "b": INTS}, {"y": INTS}))
        given = {"a": np.array([-7, 7, 5]), "b": np.array([2, -2, 0])}
        assert model.run(given, zero_divisor="zero", engine="openvino")["y"].tolist() == [3, 3, 0]
        with pytest.raises(DivisionByZeroError, match=r"^node 'node_q' \(Div-"):
            model.run(given, engine="openvino")

    def test_what_openvino_does_not_run(self, onnx_file: File, one_line: OneLine) -> None:
        nodes = [node("Det", "a", "y")]
        model = load(onnx_file(nodes, {"a": (TensorProto.FLOAT, [2, 2])}, {"y": (TensorProto.FLOAT, [])}))
        with one_line(ModelError, "cannot be read by OpenVINO: ", "Det", "; run the model with the reference engine"):
            model.run({"a": np.eye(2, dtype=np.float32)}, engine="openvino")

    def test_random_numbers_are_drawn_once(self, onnx_file: File) -> None:
        nodes = [node("RandomUniformLike", "a", "r"), node("Div", "r b", "q"), node("Sub", "q r", "y")]
        model = load(onnx_file(nodes, {"a": FLOATS, "b": FLOATS}, {"y": FLOATS}))
        given = {"a": A, "b": np.ones(3, np.float32)}
        assert model.run(given, engine="openvino")["y"].tolist() == [0, 0, 0]

    def test_constants_and_inputs_with_a_value(self, onnx_file: File) -> None:
        weight = numpy_helper.from_array(B, "b")
        nodes = [node("Reciprocal", "b", "r"), node("Mul", "a r", "y")]
        inputs = {"a": FLOATS, "b": (TensorProto.FLOAT, [3])}
        model = load(onnx_file(nodes, inputs, {"y": FLOATS}, initializers=[weight]))
        for given in ({"a": A}, {"a": A, "b": A}, {"a": A}):
            divisor = given.get("b", B)
            assert model.run(given, engine="openvino")["y"].tolist() == (A * (np.float32(1) / divisor)).tolist()

    @pytest.mark.parametrize("trips", [-1, 0, 2])
    def test_loops(self, onnx_file: File, trips: int) -> None:
        inner = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("v", "w")]
        flags = [helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("go", "on")]
        number = helper.make_tensor_value_info("i", TensorProto.INT64, [])
        steps = [node("Identity", "go", "on"), node("Div", "v b", "w")]
        body = helper.make_graph(steps, "body", [number, flags[0], inner[0]], [flags[1], inner[1]])
        shapes = {"a": (TensorProto.FLOAT, [3]), "b": (TensorProto.FLOAT, [3])}
        nodes = [helper.make_node("Loop", ["n", "", "a"], ["y"], "loop", body=body)]
        model = load(onnx_file(nodes, {"n": (TensorProto.INT64, []), **shapes}, {"y": shapes["a"]}))
        wanted = A / B / B if trips == 2 else A
        assert model.run({"n": np.array(trips), "a": A, "b": B}, engine="openvino")["y"].tolist() == wanted.tolist()
