"""Standard output of the command: a terminal, a full disk, an encoding that lacks characters."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import Vinculum
from tests.processes import run, started


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither pseudo-terminals nor broken pipes of this kind")
class TestStandardOutput:
    """Colour is used on a terminal only, unless NO_COLOR is set; a full disk is reported in one line."""

    @pytest.mark.parametrize(("wish", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
    def test_colour(self, environment: dict[str, str], wish: dict[str, str], coloured: bool) -> None:
        import pty

        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "vinculum", "spec", "Reciprocal"]
        variables = {**environment, "TERM": "xterm-256color", **wish}
        with started(command, stdout=theirs, env=variables) as process:
            os.close(theirs)
            text = b""
            while chunk := _read(ours):
                text += chunk
            os.close(ours)
            process.wait()
        assert process.returncode == 0
        assert (re.search(rb"\x1b\[[\d;]*3\dm", text) is not None) == coloured
        assert b"Reciprocal-13" in text

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
    @pytest.mark.parametrize("arguments", [("--version",), ("spec", "--json"), ("spec",)])
    def test_a_full_disk(self, environment: dict[str, str], arguments: tuple[str, ...]) -> None:
        command = [sys.executable, "-m", "vinculum", *arguments]
        with Path("/dev/full").open("w") as full:
            done = run(command, stdout=full, env=environment)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "No space left on device" in done.stderr

    def test_an_encoding_that_lacks_a_character(
        self, started_vinculum: Vinculum, tmp_path: Path, examples: Path
    ) -> None:
        model = tmp_path / "模型.onnx"
        model.write_bytes((examples / "layer_norm" / "model.onnx").read_bytes())
        done = started_vinculum("run", model, "--seed", 0, PYTHONIOENCODING="ascii", code=0)
        assert "node_div" in done.stdout


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # On Linux, when the other side is closed.
        return b""
