"""The command itself: help, version, a closed pipe, and models that are read once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import Vinculum
from tests.cases import case
from tests.processes import started
from vinculum import __version__


class TestHelp:
    """Help names every command and option."""

    def test_help(self, vinculum: Vinculum) -> None:
        run = ("MODEL", "--input", "--output", "--seed", "--dim", "--zero-divisor", "--overflow", "--json")
        for arguments, words in (
            ((), ("run", "spec", "--version")),
            (("run",), run),
            (("spec",), ("--version", "--against", "--dialect", "--variant", "--json")),
            (("harden",), ("--fix-exported", "--zero-divisor")),
            (("conform",), ("openvino[device=GPU]", "--memory-limit")),
        ):
            for columns in (40, 80, 120):
                with case(*arguments, columns):
                    done = vinculum(*arguments, "--help", columns=columns, code=0)
                    assert [word for word in words if word not in done.stdout] == []
                    assert not re.search(r"\x1b|…|\\\[", done.stdout)
                    assert max(map(len, done.stdout.splitlines())) <= max(columns, 50)

    def test_version(self, started_vinculum: Vinculum) -> None:
        done = started_vinculum("--version")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"vinculum {__version__}\n", "")

    def test_no_command_shows_the_help(self, vinculum: Vinculum) -> None:
        done = vinculum()
        assert done.returncode == 2
        assert "Usage: vinculum" in done.stdout + done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no broken pipes of this kind")
def test_a_reader_that_leaves(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "vinculum", "spec"]
    pipe = subprocess.PIPE
    with started(command, stdout=pipe, stderr=pipe, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaints = process.stderr.read()
        process.wait()
    assert (process.returncode, complaints) == (-signal.SIGPIPE, b"")


def test_a_model_is_read_once(vinculum: Vinculum, mean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model may be large, and its file may change between two readings."""
    read: list[Path] = []
    read_bytes = Path.read_bytes

    def noted(self: Path) -> bytes:
        read.extend([self] * (self == mean))
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", noted)
    for command in (
        *("run --seed 0 --engine reference", "trace --seed 0 --engine reference", "check --runs 0"),
        *("harden --for onnxruntime --dry-run", "convert --opset 18 --no-verify -o new.onnx"),
    ):
        name, *options = command.split()
        with case(command):
            vinculum(name, mean, *options, folder=mean.parent)
            assert read == [mean]
        read.clear()
