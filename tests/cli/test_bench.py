"""``vinculum bench``: what is measured, what is written, and the exit code, with runs made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.bench.reports import one_wrong, report, steady
from vinculum.benchmarking import measuring
from vinculum.benchmarking.cells import SHAPES, TYPES, Cell
from vinculum.benchmarking.results import Report
from vinculum.kernels.threads import get_threads, usable_processors
from vinculum.reporting.bench import json_file

Bench = Callable[..., int]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Answer for the measurement; return what each run was asked for."""
    calls: list[dict[str, Any]] = []

    def measure(cells: tuple[Cell, ...], peers: tuple[str, ...], **options: Any) -> Report:
        calls.append({"cells": cells, "peers": peers, **options})
        options["advance"](0, str(cells[0]))
        return report()

    monkeypatch.setattr(measuring, "measure", measure)
    return calls


@pytest.fixture
def bench(asked: list[dict[str, Any]], here: Callable[..., int]) -> Bench:
    """Return a function that runs the command in this process and returns its exit code."""
    return partial(here, "bench")


class TestOptions:
    """What is measured."""

    def test_left_out(self, bench: Bench, asked: list[dict[str, Any]]) -> None:
        assert bench() == 0
        (call,) = asked
        assert {cell.size for cell in call["cells"]} == {16, 1_000_000}
        assert {cell.shape for cell in call["cells"]} == {"equal"}
        assert {cell.element_type for cell in call["cells"]} == set(TYPES)
        assert {cell.operator for cell in call["cells"]} == {"Div", "Divide", "Reciprocal"}
        assert (call["threads"], call["rounds"]) == (get_threads(), 5)
        assert "numpy" in call["peers"]

    def test_a_size_beyond_what_a_saved_run_may_take(self, bench: Bench, asked: list[dict[str, Any]]) -> None:
        assert bench("--sizes", "1000000000") == 0
        assert {cell.size for cell in asked[0]["cells"]} == {1_000_000_000}

    def test_given(self, bench: Bench, asked: list[dict[str, Any]]) -> None:
        options = "--types int8,uint64 --sizes 100,10 --shapes row,outer --operators Div --peers numpy"
        assert bench(*options.split(), "--rounds", "2", "--threads", "1") == 0
        (call,) = asked
        expected = [("int8", "row", 100), ("uint64", "row", 100), ("int8", "row", 10), ("uint64", "row", 10)]
        assert [(c.element_type, c.shape, c.size) for c in call["cells"][:4]] == expected
        assert len(call["cells"]) == 8
        assert (call["threads"], call["rounds"], call["peers"]) == (1, 2, ("numpy",))

    def test_full(self, bench: Bench, asked: list[dict[str, Any]]) -> None:
        assert bench("--full", "--types", "int8", "--operators", "Div") == 0
        assert {cell.shape for cell in asked[0]["cells"]} == set(SHAPES)
        assert {16, 1_000, 65_536, 1_000_000, 16_000_000} <= {cell.size for cell in asked[0]["cells"]}

    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            ("--types int7", "--types has 'int7'; allowed: int8, uint8, "),
            ("--types flaot32", "did you mean 'float32'?"),
            ("--types ,", "--types has ''"),
            ("--shapes round", "--shapes has 'round'; allowed: equal, scalar-divisor"),
            ("--operators Mod", "--operators has 'Mod'; allowed: Div, Divide, Reciprocal"),
            ("--operators Reciprocal --types int8", "nothing is left to measure"),
            ("--full --operators Divide --types uint8", "nothing is left to measure"),
            ("--from run.json --rounds 5", "--from and --rounds exclude each other"),
            ("--sizes 0", "--sizes has '0'; allowed: whole numbers from 1"),
            ("--sizes 1e6", "--sizes has '1e6'"),
            ("--sizes -5", "--sizes has '-5'"),
            ("--sizes 99999999999999999999999999", "--sizes has '99999999999999999999999999'"),
            ("--peers nunpy", "no peer is called 'nunpy'; allowed: numpy, torch"),
            ("--peers limit", "'limit' is always measured"),
            ("--peers no.such:Class", "the peer 'no.such:Class' cannot be loaded: No module named 'no'"),
            ("--rounds 0", "--rounds"),
            ("--threads 0", "--threads"),
            (f"--threads {usable_processors() + 1}", "processors that this process may use; give fewer"),
            ("--full --sizes 16", "--full and --sizes exclude each other; give one of them"),
            ("--from run.json --types int8", "--from and --types exclude each other"),
            ("--from run.json", "run.json cannot be read"),
            ("--json no/such/run.json", "there is no folder 'no/such'"),
            ("--svg .", "is a folder"),
            ("--svg a --markdown ./a", "--svg and --markdown name the same file"),
            ("--from a --json a", "--from and --json name the same file"),
        ],
    )
    def test_wrong_usage(
        self,
        bench: Bench,
        asked: list[dict[str, Any]],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        arguments: str,
        line: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert bench(*arguments.split()) == 2
        out, error = capsys.readouterr()
        assert out == ""
        assert line in error
        assert len(error.splitlines()) == 1
        assert not asked  # Refused before anything is measured.
        assert not list(tmp_path.iterdir())

    def test_without_matplotlib_nothing_is_measured_for_a_plot(
        self,
        bench: Bench,
        asked: list[dict[str, Any]],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.setattr("vinculum.reporting.bench.plot.find_spec", lambda name: None)
        assert bench("--svg", tmp_path / "figure.svg") == 2
        assert "pip install 'vinculum-div[bench]'" in capsys.readouterr().err
        assert not asked


class TestReports:
    """What is printed, and the files: whole, or as they were."""

    def test_on_the_terminal(self, bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
        assert bench() == 0
        out, error = capsys.readouterr()
        assert error == ""
        assert out.startswith("How fast quotients are\n")
        assert "What stands out" in out

    def test_json_instead(self, bench: Bench, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        assert bench("--json", "-") == 0
        out = capsys.readouterr().out
        assert out == json_file.text(report())
        assert json.loads(out)["format"] == "vinculum bench 1"

    def test_files(self, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("vinculum.reporting.bench.plot.find_spec", lambda name: True)
        monkeypatch.setattr("vinculum.reporting.bench.plot.svg", lambda drawn: "<svg></svg>\n")
        run, figure, page = tmp_path / "run.json", tmp_path / "figures" / "f.svg", tmp_path / "page.md"
        figure.parent.mkdir()
        page.write_text("old", encoding="utf-8")
        assert bench("--json", run, "--svg", figure, "--markdown", page) == 0
        assert run.read_text("utf-8") == json_file.text(report())
        assert figure.read_text("utf-8").rstrip().endswith("</svg>")
        assert "](figures/f.svg)" in page.read_text("utf-8")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["figures", "page.md", "run.json"]

    def test_what_was_stored_is_told_again(
        self, bench: Bench, asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        bench("--json", tmp_path / "run.json")
        measured = capsys.readouterr().out
        assert bench("--from", tmp_path / "run.json") == 0
        assert capsys.readouterr().out == measured
        assert len(asked) == 1

    @pytest.mark.parametrize("content", [b"{}", b"\xff\xfe"])
    def test_what_nobody_stored(
        self, bench: Bench, content: bytes, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "run.json").write_bytes(content)
        assert bench("--from", tmp_path / "run.json") == 2
        assert len(capsys.readouterr().err.splitlines()) == 1

    def test_nothing_is_written_after_an_error(
        self, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run, page = tmp_path / "run.json", tmp_path / "page.md"
        page.write_text("old", encoding="utf-8")
        monkeypatch.setattr("vinculum.reporting.bench.markdown.document", lambda *_: 1 / 0)
        assert bench("--json", run, "--markdown", page) == 3
        assert page.read_text("utf-8") == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["page.md"]

    def test_a_wrong_quotient_of_ours_is_a_finding(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        wrong = one_wrong(steady(1.0, exact=False))
        monkeypatch.setattr(measuring, "measure", lambda *_, **__: wrong)
        assert bench("--json", tmp_path / "run.json") == 1
        assert "WRONG: Vinculum's quotients" in capsys.readouterr().out
        assert (tmp_path / "run.json").exists()
