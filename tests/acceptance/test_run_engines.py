"""``vinculum run --engine onnxruntime``, the package being a fake: its report, and its refusals."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from tests.fake_runtime import DiesOfIntegers, installed

Vinculum = Callable[..., CompletedProcess[str]]

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = re.findall(r"`vinculum (run examples/\S+\.onnx[^`]*)`", (EXAMPLES / "README.md").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def packages() -> Iterator[None]:
    """Install a runtime that no integer division may be left to."""
    with installed(onnxruntime=DiesOfIntegers):
        yield


class TestExamples:
    """Both engines give the same, and make the same divisions."""

    @pytest.mark.parametrize("command", COMMANDS)
    def test_outputs_and_divisions(self, vinculum: Vinculum, tmp_path: Path, command: str) -> None:
        arguments = [*shlex.split(command), "--json"]
        reports: list[dict[str, Any]] = []
        for engine in ("reference", "onnxruntime"):
            folder = tmp_path / engine
            done = vinculum(*arguments, "--engine", engine, "--output", folder, folder=EXAMPLES.parent)
            assert (done.returncode, done.stderr) == (0, "")
            reports.append(json.loads(done.stdout))
        assert [report["engine"] for report in reports] == ["reference", "onnxruntime"]
        wanted, given = reports
        met = ("name", "path", "operator", "element_type", "shapes", "executions", "elements")
        assert [[d[k] for k in met] for d in given["divisions"]] == [[d[k] for k in met] for d in wanted["divisions"]]
        for one, other in zip(given["outputs"], wanted["outputs"], strict=True):
            array, expected = np.load(one["file"]), np.load(other["file"])
            assert (one["name"], array.shape, array.dtype) == (other["name"], expected.shape, expected.dtype)
            np.testing.assert_array_equal(array, expected, strict=True)

    def test_all_onnx_examples_are_run(self) -> None:
        run = {EXAMPLES.parent / shlex.split(command)[1] for command in COMMANDS}
        assert run == set(EXAMPLES.rglob("*.onnx"))


class TestPage:
    """The page says what ran the other operators."""

    @pytest.mark.parametrize(("engine", "said"), [("reference", False), ("onnxruntime", True)])
    def test_the_engine(self, vinculum: Vinculum, examples: Path, engine: str, said: bool) -> None:
        folder = examples / "layer_norm"
        done = vinculum("run", folder / "model.onnx", "--input", f"x={folder / 'x.npy'}", "--engine", engine)
        assert (done.returncode, done.stderr) == (0, "")
        text = " ".join(done.stdout.split())
        assert "192 quotients, each right to the last bit." in text
        assert ("ONNX Runtime ran the other operators." in text) is said


class TestRefusals:
    """One line, exit code 2: what was given, what is allowed, what to do."""

    def test_no_such_engine(self, refused: Callable[..., str], examples: Path) -> None:
        line = refused("run", examples / "rms_norm" / "model.onnx", "--seed", 0, "--engine", "tensorrt")
        assert line.startswith(
            "Invalid value for '--engine': 'tensorrt' is not one of 'reference', 'onnxruntime', 'openv"
        )

    def test_openvino_models(self, refused: Callable[..., str], examples: Path) -> None:
        with installed():
            line = refused("run", examples / "openvino_image" / "model.xml", "--seed", 0)
        assert "an OpenVINO IR needs the package openvino; install it: pip install 'vinculum-div[openvino]'" in line

    def test_without_the_package(self, refused: Callable[..., str], examples: Path) -> None:
        with installed():
            line = refused("run", examples / "rms_norm" / "model.onnx", "--seed", 0, "--engine", "onnxruntime")
        assert "install it: pip install 'vinculum-div[onnxruntime]'" in line

    def test_a_zero_divisor_is_a_finding_as_ever(
        self, refused: Callable[..., str], tmp_path: Path, examples: Path
    ) -> None:
        np.save(tmp_path / "a.npy", np.array([[1, 7, 7]], np.int32))
        np.save(tmp_path / "b.npy", np.array([0, 2, 2], np.int32))
        given = ("--input", "a=a.npy", "--input", "b=b.npy", "--engine", "onnxruntime")
        line = refused("run", examples / "openvino_rounding" / "div.onnx", *given, code=1)
        assert "node 'quotient' (Div-14): 1 of 3 divisors of Div-14 are zero" in line
