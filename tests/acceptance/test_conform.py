"""``vinculum conform``, as a user types it, on runtimes that are always installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import parse

from tests.processes import run

Vinculum = Callable[..., subprocess.CompletedProcess[str]]


SOME = ("--quick", "--only", "Div-6/float/*")


class TestConform:
    """Issue 4: `vinculum conform BACKEND` tells what a runtime's division really does."""

    def test_a_runtime_that_divides_right(self, started_vinculum: Vinculum) -> None:
        done = started_vinculum("conform", "numpy", "--quick", "--only", "Div-14/int8/*")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("How NumPy divides\n")
        assert " 0 deviate" in done.stdout

    def test_one_that_does_not(self, vinculum: Vinculum, tmp_path: Path) -> None:
        page, document = tmp_path / "r.html", tmp_path / "r.xml"
        done = vinculum("conform", "vinculum", "onnx-reference", *SOME, "--html", page, "--junit", document)
        assert (done.returncode, done.stderr) == (1, "")
        assert "How Vinculum divides" in done.stdout
        assert "W  operands are aligned as NumPy aligns them" in done.stdout
        assert max(map(len, done.stdout.splitlines()[:20])) <= 80
        ours, theirs = parse(document).getroot()
        assert (ours.get("failures"), ours.get("errors")) == ("0", "0")
        assert int(theirs.get("failures", 0)) > 0
        assert "How two runtimes divide" in page.read_text("utf-8")

    def test_one_case_in_full_and_its_reproducer_runs(self, vinculum: Vinculum, tmp_path: Path) -> None:
        done = vinculum(
            "conform", "onnx-reference", "--quick", "--json", tmp_path / "view.json", "--only", "Div-1/float/*"
        )
        assert done.returncode == 1
        (found,) = json.loads((tmp_path / "view.json").read_text("utf-8"))["runs"]
        case = found["causes"][0]["example"]
        shown = vinculum("conform", "onnx-reference", "--quick", "--only", case["id"])
        assert shown.returncode == 1
        assert all(line in shown.stdout.splitlines() for line in case["reproducer"].splitlines())
        program = tmp_path / "reproducer.py"
        program.write_text(case["reproducer"], encoding="utf-8")
        ran = run([sys.executable, program])
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout

    def test_the_list_of_cases(self, vinculum: Vinculum) -> None:
        done = vinculum("conform", "--list", "--quick", "--only", "Div-14/int64/*")
        ids = done.stdout.splitlines()
        assert done.returncode == 0
        assert len(set(ids)) == len(ids) > 5
        assert all(id.count("/") == 4 and id.startswith("Div-14/int64/") for id in ids)

    def test_the_help_shows_the_brackets(self, vinculum: Vinculum) -> None:
        assert "openvino[device=GPU]" in "".join(vinculum("conform", "--help", columns=200).stdout.split("\n"))
