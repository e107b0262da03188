"""Models converted in memory: what files become, without files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import vinculum
from tests.fake_runtime import RefusesFaults, installed
from tests.models.built_models import read_whole
from vinculum.errors import AttributeValueError, ElementTypeError, ModelError
from vinculum.models.convert import convert_file

File = Callable[..., Path]
OneLine = Callable[..., AbstractContextManager[None]]
FLOATS = (TensorProto.FLOAT, [2, 3])


@pytest.fixture
def legacy(onnx_file: File) -> Path:
    """Return a model of Div-6 that lays its divisor on the dividend's first dimension."""
    node = helper.make_node("Div", ["A", "B"], ["C"], "ratio", broadcast=1, axis=0)
    return onnx_file([node], {"A": FLOATS, "B": (TensorProto.FLOAT, [2])}, {"C": FLOATS}, opset=6)


class TestConvert:
    """`vinculum.convert` takes paths and messages, and returns the model and the report."""

    def test_a_path_and_a_message(self, legacy: Path, tmp_path: Path) -> None:
        report = convert_file(legacy, tmp_path / "file.onnx", opset=14)
        message = onnx.load(legacy)
        before = message.SerializeToString()
        for given in (legacy, str(legacy), message):
            converted = vinculum.convert(given, opset=14)
            assert converted.model == read_whole(tmp_path / "file.onnx")
            assert converted.report == report
        assert message.SerializeToString() == before

    def test_external_data_come_along(self, tmp_path: Path) -> None:
        weights = np.arange(1, 4001, dtype=np.float32)
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4000]) for name in "xy"]
        nodes = [helper.make_node("Div", ["x", "w"], ["y"])]
        graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [numpy_helper.from_array(weights, "w")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save_model(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
        converted = vinculum.convert(tmp_path / "m.onnx", opset=13).model
        assert isinstance(converted, ModelProto)
        assert numpy_helper.to_array(converted.graph.initializer[0]).tobytes() == weights.tobytes()

    def test_inputs_of_ones_own_are_compared_too(self, legacy: Path) -> None:
        given = {"A": np.ones((2, 3), np.float32), "B": np.array([2, 4], np.float32)}
        for inputs, more in ((given, 1), ([given, given], 2)):
            verification = vinculum.convert(legacy, opset=14, inputs=inputs).report.verification
            assert verification is not None
            assert verification.compared == 112 + more

    def test_inputs_that_the_model_does_not_take(self, legacy: Path, one_line: OneLine) -> None:
        given = {"A": np.ones((2, 3)), "B": np.ones(2)}
        with one_line(ElementTypeError, "input 'A' has element type double"):
            vinculum.convert(legacy, opset=14, inputs=given)

    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ({"to": "tflite"}, AttributeValueError, "to is 'tflite'; allowed: 'onnx', 'openvino'"),
            ({}, AttributeValueError, "an operator set from 7 to"),
            ({"opset": 99}, AttributeValueError, "operator set 99"),
            ({"to": "openvino", "opset": 13}, AttributeValueError, "OpenVINO IR has no operator set"),
        ],
    )
    def test_refused(
        self, legacy: Path, one_line: OneLine, options: dict[str, Any], kind: type[Exception], words: str
    ) -> None:
        with one_line(kind, words):
            vinculum.convert(legacy, **options)

    def test_no_model(self, one_line: OneLine) -> None:
        not_a_model: Any = 3
        with one_line(ModelError, "the model is an int; give a path, or an onnx.ModelProto"):
            vinculum.convert(not_a_model, opset=13)


class TestHarden:
    """`vinculum.harden` takes the same, and validates on inputs of one's own."""

    @pytest.fixture
    def integers(self, onnx_file: File) -> Path:
        """Return a model that divides and takes the remainder of integers."""
        nodes = [helper.make_node("Div", ["a", "b"], ["q"]), helper.make_node("Mod", ["a", "b"], ["r"])]
        tensors = {name: (TensorProto.INT64, ["N"]) for name in "abqr"}
        inputs, outputs = ({name: tensors[name] for name in names} for names in ("ab", "qr"))
        return onnx_file(nodes, inputs, outputs)

    @pytest.fixture(autouse=True)
    def packages(self) -> Iterator[None]:
        """Install a runtime that refuses what would kill it."""
        with installed(onnxruntime=RefusesFaults):
            yield

    def test_a_path_and_a_message(self, integers: Path) -> None:
        for given in (integers, onnx.load(integers)):
            hardened = vinculum.harden(given, target="onnxruntime", fix_exported=True)
            assert isinstance(hardened.model, ModelProto)
            assert hardened.report.validation is not None
            assert hardened.report.hardening.left == ()
            least = np.iinfo(np.int64).min
            arrays = {"a": np.array([least, 7, -7]), "b": np.array([-1, 0, 2])}
            found = RefusesFaults().run_model(hardened.model.SerializeToString(), arrays)
            assert [output.tolist() for output in found] == [[least, 0, -3], [0, 0, 1]]

    def test_inputs_of_ones_own(self, integers: Path, one_line: OneLine) -> None:
        given = {"a": np.array([1, 2]), "b": np.array([0, -1])}
        hardened = vinculum.harden(integers, target="onnxruntime", inputs=[given, given])
        assert hardened.report.validation is not None
        assert hardened.report.validation.whole_model == "run"
        with one_line(ElementTypeError, "input 'a' has element type double"):
            vinculum.harden(integers, target="onnxruntime", inputs={"a": np.ones(2), "b": np.array([1, 1])})

    def test_refused(self, integers: Path, one_line: OneLine) -> None:
        nowhere: Any = "tensorrt"
        with one_line(AttributeValueError, "onnxruntime, openvino, portable", "'tensorrt'"):
            vinculum.harden(integers, target=nowhere)
