"""``vinculum bench`` as a user runs it, on few elements."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.conftest import Vinculum


def test_a_small_run(started_vinculum: Vinculum, tmp_path: Path) -> None:
    cell = ("--types", "uint8", "--operators", "Div", "--sizes", "100", "--peers", "numpy")
    files = ("--json", "run.json", "--markdown", "page.md")
    done = started_vinculum("bench", *cell, "--rounds", "1", "--threads", "1", *files, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Div, equal shapes, 100 elements" in done.stdout
    run = json.loads((tmp_path / "run.json").read_text("utf-8"))
    (cell,) = run["cells"]
    assert {name: outcome["exact"] for name, outcome in cell["outcomes"].items()} == {
        "vinculum": True,
        "numpy": True,
        "limit": True,
    }
    assert cell["fastest"] == "numpy"
    assert "## Div, equal shapes, 100 elements" in (tmp_path / "page.md").read_text("utf-8")
