"""``vinculum bench`` as a user runs it, on few elements."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests import processes


def test_a_small_run(tmp_path: Path) -> None:
    cell = ("--types", "uint8", "--operators", "Div", "--sizes", "100", "--peers", "numpy", "--rounds", "1")
    files = ("--threads", "1", "--json", "run.json", "--markdown", "page.md")
    command = [sys.executable, "-m", "vinculum", "bench", *cell, *files]
    done = processes.run(command, cwd=tmp_path, env=processes.importing())
    assert (done.returncode, done.stderr) == (0, "")
    assert "Div, equal shapes, 100 elements" in done.stdout
    (found,) = json.loads((tmp_path / "run.json").read_text("utf-8"))["cells"]
    assert {name: outcome["exact"] for name, outcome in found["outcomes"].items()} == {
        "vinculum": True,
        "numpy": True,
        "limit": True,
    }
    assert found["fastest"] == "numpy"
    assert "## Div, equal shapes, 100 elements" in (tmp_path / "page.md").read_text("utf-8")
