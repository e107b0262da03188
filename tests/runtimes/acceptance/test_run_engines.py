"""``vinculum run --engine onnxruntime`` on every ONNX example, against the reference engine."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

Vinculum = Callable[..., CompletedProcess[str]]

EXAMPLES = Path(__file__).parents[3] / "examples"
COMMANDS = re.findall(r"`vinculum (run examples/\S+\.onnx[^`]*)`", (EXAMPLES / "README.md").read_text(encoding="utf-8"))

# A variance in float16 that vanishes or does not, as the sum is rounded: the runtimes rightly disagree.
DEPENDS_ON_THE_SUM = "examples/layer_norm_float16/model.onnx"


class TestExamples:
    """Both engines give the same, but for how sums are rounded; both make the same divisions."""

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
            if arguments[1] != DEPENDS_ON_THE_SUM:
                np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-6, strict=True)
