"""``vinculum convert`` on the examples: between operator sets, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import onnx

from tests.acceptance.conftest import EachRefused, Refused, Vinculum
from tests.fake_runtime import FakeRuntime, installed
from tests.models.built_models import text_model, written


class TestOpsets:
    """ONNX to ONNX of another operator set."""

    def test_json(self, vinculum: Vinculum, examples: Path, tmp_path: Path) -> None:
        """The page of the same stands in docs/."""
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
    """What is compared, in which engine, and on whose inputs."""

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


class TestRefusals:
    """One line, exit code 2, and nothing written."""

    def test_wrong_use(self, each_refused: EachRefused, examples: Path) -> None:
        of_one = {
            "-o x.onnx": "give --opset",
            "-o x.onnx --opset 0": "operator set 0; allowed: 7 to ",
            "-o x.onnx --opset 99": "operator set 99; allowed: 7 to ",
            "-o x.txt --opset 17": "'x.txt' has to end in .onnx, or in .xml",
            "-o x.xml --opset 17": "has no operator set or IR version of ONNX; --opset is 17, omit it",
            "-o x.onnx --opset 17 --ir-version 3": "version 3; allowed: 8",
            "-o x.onnx --opset 17 --engine trt": "'trt' is not",
            "-o no/x.onnx --opset 17": "there is no folder 'no'",
        }
        of_others = {
            "openvino_image/model.xml -o x.onnx": "only ONNX models are converted",
            "layer_norm/missing.onnx -o x.onnx --opset 17": "cannot be read",
            "layer_norm/x.npy -o x.onnx --opset 17": "not a readable ONNX file",
            "floor_divide/model.onnx -o x.onnx --opset 7": "(Sign) is not representable",
        }
        lines = {**{f"layer_norm/model.onnx {options}": words for options, words in of_one.items()}, **of_others}
        each_refused("convert", {f"{examples}/{line}": words for line, words in lines.items()})

    def test_what_fails_the_checker(self, refused: Refused, tmp_path: Path) -> None:
        """The engine runs it, a runtime may not: Relu has no such attribute."""
        written(text_model("y = Relu <surplus = 1> (x)", "float[2] x", "float[2] y", opset=14), tmp_path)
        line = refused("convert", "model.onnx", "--opset", 17, "-o", "x.onnx")
        assert "fails onnx.checker" in line
        assert "surplus" in line
