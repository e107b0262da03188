"""``vinculum convert`` on the examples."""

from __future__ import annotations

import json
from pathlib import Path

import onnx

from tests.acceptance.conftest import Vinculum
from tests.fake_runtime import FakeRuntime, installed


class TestOpsets:
    """ONNX to ONNX of another operator set."""

    def test_json(self, vinculum: Vinculum, examples: Path, tmp_path: Path) -> None:
        """Its page is tested in docs/."""
        source = examples / "div_6_axis/model.onnx"
        done = vinculum("convert", source, "--opset", 13, "-o", "new.onnx", "--json", folder=tmp_path, code=0)
        told = json.loads(done.stdout)
        assert told["source"] == {"file": str(source), "format": "ONNX operator set 6"}
        assert told["target"] == {"file": "new.onnx", "format": "ONNX operator set 13"}
        assert told["changes"][0]["node"] == "node 'C' (Div)"
        assert told["verification"]["compared"] > 0
        assert [node.op_type for node in onnx.load(tmp_path / "new.onnx").graph.node] == ["Unsqueeze", "Div"]
        assert [path.name for path in tmp_path.iterdir()] == ["new.onnx"]

    def test_without_verification(self, vinculum: Vinculum, examples: Path, tmp_path: Path) -> None:
        source = examples / "layer_norm/model.onnx"
        done = vinculum("convert", source, "--opset", 21, "-o", "new.onnx", "--no-verify", folder=tmp_path, code=0)
        assert "Not verified." in done.stdout


class TestComparison:
    """The comparison of both models: the engine, and the inputs."""

    def test_inputs_of_ones_own(self, vinculum: Vinculum, examples: Path, tmp_path: Path) -> None:
        given = f"x={examples}/layer_norm/x.npy"
        arguments = ("--opset", 17, "--ir-version", 8, "--input", given, "--json")
        done = vinculum(
            "convert", examples / "layer_norm/model.onnx", "-o", "new.onnx", *arguments, folder=tmp_path, code=0
        )
        assert json.loads(done.stdout)["verification"]["compared"] == 113
        assert onnx.load(tmp_path / "new.onnx").ir_version == 8

    def test_in_onnxruntime(self, vinculum: Vinculum, examples: Path, tmp_path: Path) -> None:
        arguments = ("--opset", 17, "--engine", "onnxruntime", "--json")
        model = examples / "layer_norm/model.onnx"
        with installed(onnxruntime=FakeRuntime):
            done = vinculum("convert", model, "-o", "new.onnx", *arguments, folder=tmp_path, code=0)
        assert json.loads(done.stdout)["verification"]["compared"] >= 8
