"""``vinculum check``: the script of a witness pasted into an interpreter, and the GitHub action run by a shell."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import processes
from tests.acceptance.conftest import Vinculum

ROOT = Path(__file__).parents[3]


class TestWitnesses:
    """The script that ``--witness`` writes shows the finding."""

    def test_pasted_into_a_shell(self, vinculum: Vinculum, environment: dict[str, str], mean: Path) -> None:
        """The interactive interpreter reads it line by line."""
        vinculum("check", mean, "--witness", mean.parent / "out", "--runs", 30)
        (script,) = (mean.parent / "out").glob("*.py")
        shown = processes.run(
            [sys.executable, "-i", "-q"], env=environment, encoding="utf-8", input=script.read_text() + "\n"
        )
        assert "Error" not in shown.stderr
        assert "divides by zero in" in shown.stdout


class TestContinuousIntegration:
    """The action runs ``vinculum check`` with its inputs."""

    def check_step(self, folder: Path, environment: dict[str, str], **inputs: str) -> Any:
        """Run the last step of the action in a folder, as GitHub's runner does."""
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        step = action["runs"]["steps"][-1]
        given = {name: inputs.get(name.replace("-", "_"), one["default"]) for name, one in action["inputs"].items()}
        variables = {
            name: given[text.removeprefix("${{ inputs.").removesuffix(" }}")] for name, text in step["env"].items()
        }
        shim = folder / "bin" / "vinculum"
        shim.parent.mkdir(exist_ok=True)
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vinculum "$@"\n')
        shim.chmod(0o755)
        path = f"{shim.parent}{os.pathsep}{environment['PATH']}"
        return processes.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**environment, **variables, "PATH": path},
            encoding="utf-8",
        )

    @pytest.mark.skipif(sys.platform == "win32", reason="the shim is a script of sh")
    def test_the_action(self, environment: dict[str, str], mean: Path, guarded: Path) -> None:
        done = self.check_step(mean.parent, environment, arguments="--runs\n0\n--assume\nmask=0|1\n")
        assert (done.returncode, done.stderr) == (1, "")
        assert "guarded.onnx: no findings" in " ".join(done.stdout.split())
        assert len(json.loads((mean.parent / "vinculum.sarif").read_text())["runs"][0]["results"]) == 1
        done = self.check_step(mean.parent, environment, fail_on="certain", arguments="--runs\n0", models="*.onnx")
        assert done.returncode == 0

    @pytest.mark.skipif(sys.platform == "win32", reason="the shim is a script of sh")
    def test_the_action_without_models(self, environment: dict[str, str], tmp_path: Path) -> None:
        done = self.check_step(tmp_path, environment, models="$(touch oops) *.nothing")
        assert done.returncode == 2
        assert not (tmp_path / "oops").exists()
