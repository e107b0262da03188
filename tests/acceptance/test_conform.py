"""``vinculum conform`` and ``fingerprint``, as a user types them, on runtimes that are always installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.processes import run

Vinculum = Callable[..., subprocess.CompletedProcess[str]]


def test_one_case_in_full_and_its_reproducer_runs(vinculum: Vinculum, tmp_path: Path) -> None:
    chosen = ("--quick", "--only", "Div-1/float/*")
    done = vinculum("conform", "onnx-reference", *chosen, "--save", tmp_path / "run.json")
    assert done.returncode == 1
    assert "W  operands are aligned as NumPy aligns them" in done.stdout
    assert max(map(len, done.stdout.splitlines()[:20])) <= 80
    shown = vinculum(*done.stdout.splitlines()[-1].replace("'", "").split(maxsplit=5)[1:])
    assert shown.returncode == 1
    (saved,) = json.loads((tmp_path / "run.json").read_text("utf-8"))["runs"]
    sources = [one["reproducer"] for one in saved["results"] if one["reproducer"]]
    (source,) = (one for one in sources if all(line in shown.stdout.splitlines() for line in one.splitlines()))
    program = tmp_path / "reproducer.py"
    program.write_text(source, encoding="utf-8")
    ran = run([sys.executable, program])
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
