"""Models converted and hardened in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

import vinculum
from tests.fake_runtime import RefusesFaults, installed
from tests.models.built_models import one_line, read_whole, text_model, written
from vinculum.errors import AttributeValueError, ElementTypeError, ModelError
from vinculum.models.convert import convert_file
from vinculum.models.rewritten import OpenvinoModel


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    """Return a model of Div-6 that aligns the divisor with the dividend's first dimension."""
    nodes = "[ratio] C = Div <broadcast = 1, axis = 0> (A, B)"
    return written(text_model(nodes, "float[2,3] A, float[2] B", "float[2,3] C", opset=6), tmp_path)


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
        model = text_model("y = Div(x, w)", "float[4000] x", "float[4000] y", ir_version=8)
        model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
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

    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ({"to": "tflite"}, AttributeValueError, "to is 'tflite'; allowed: 'onnx', 'openvino'"),
            ({}, AttributeValueError, "an operator set from 7 to"),
            ({"opset": 99}, AttributeValueError, "operator set 99"),
            ({"opset": 13, "inputs": 5}, ModelError, "the inputs are an int; give a dict of arrays by name, or a list"),
            ({"opset": 13, "inputs": "A"}, ModelError, "the inputs are a str; give a dict"),
            ({"opset": 13, "inputs": [[1.0]]}, ModelError, "the inputs are a list of a list; give a dict"),
            ({"to": "openvino", "opset": 13}, AttributeValueError, "OpenVINO IR has no operator set"),
            (
                {"opset": 13, "inputs": {"A": np.ones((2, 3)), "B": np.ones(2)}},
                ElementTypeError,
                "input 'A' has element type double",
            ),
        ],
    )
    def test_refused(self, legacy: Path, options: dict[str, Any], kind: type[Exception], words: str) -> None:
        with one_line(kind, words):
            vinculum.convert(legacy, **options)

    def test_an_openvino_model_in_memory(self) -> None:
        not_a_model: Any = OpenvinoModel(b"<net/>", b"")
        with one_line(ModelError, "the model is an OpenvinoModel; write xml and data to NAME.xml and NAME.bin"):
            vinculum.load(not_a_model)


class TestHarden:
    """`vinculum.harden` takes the same models, and validates them on the caller's inputs too."""

    MODEL = text_model("q = Div(a, b) r = Mod(a, b)", "int64[N] a, int64[N] b", "int64[N] q, int64[N] r", ir_version=9)

    @pytest.fixture(autouse=True)
    def packages(self) -> Iterator[None]:
        """Install a fake runtime that raises an error where the real one crashes."""
        with installed(onnxruntime=RefusesFaults):
            yield

    def test_a_message(self) -> None:
        hardened = vinculum.harden(self.MODEL, target="onnxruntime", fix_exported=True)
        assert isinstance(hardened.model, ModelProto)
        assert hardened.report.validation is not None
        assert hardened.report.hardening.left == ()
        least = np.iinfo(np.int64).min
        arrays = {"a": np.array([least, 7, -7]), "b": np.array([-1, 0, 2])}
        found = RefusesFaults().run_model(hardened.model.SerializeToString(), arrays)
        assert [output.tolist() for output in found] == [[least, 0, -3], [0, 0, 1]]

    def test_inputs_and_targets(self) -> None:
        given, narrow = {"a": np.array([1, 2]), "b": np.array([0, -1])}, {"a": np.ones(2), "b": np.array([1, 1])}
        validation = vinculum.harden(self.MODEL, target="onnxruntime", inputs=[given, given]).report.validation
        assert validation is not None
        assert validation.whole_model == "run"
        with one_line(ElementTypeError, "input 'a' has element type double"):
            vinculum.harden(self.MODEL, target="onnxruntime", inputs=narrow)
        target: Any = ["onnxruntime"]
        with one_line(AttributeValueError, "the runtime is ['onnxruntime']; allowed: onnxruntime, openvino, portable"):
            vinculum.harden(self.MODEL, target=target)
