"""``vinculum conform``: what is asked of the suite, what is written, and the exit code, with runs made by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import parse

import pytest

from tests.cases import case as words_of
from tests.conformance.judging import case
from tests.reporting.conformance.reports import exact, report
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import as_toml, read_known_deviations
from vinculum.conformance.run import planning, suite
from vinculum.conformance.run.planning import Plan
from vinculum.conformance.run.record import Run, Selection
from vinculum.conformance.run.verdict import Kind, Verdict
from vinculum.spec.element_types import DOUBLE, INT8, INT64

Conform = Callable[..., int]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Answer for the suite: numpy is exact, all others are like OpenVINO. Return what each run was asked for."""
    calls: list[dict[str, Any]] = []

    def survey(planned: Plan, **options: Any) -> Run:
        calls.append({"backend": planned.backend, "selection": planned.selection, "total": planned.total, **options})
        made = exact(planned.backend, "NumPy") if planned.backend == "numpy" else report(planned.backend)
        options["advance"](1, made.results[0].id)
        return replace(made, selection=planned.selection)

    monkeypatch.setattr(suite, "survey", survey)
    monkeypatch.setattr(planning, "cases", lambda level: [case(t, [[6], [3]], [2]) for t in (INT64, DOUBLE, INT8)])
    return calls


@pytest.fixture
def conform(asked: list[dict[str, Any]], here: Callable[..., int]) -> Conform:
    """Return a function that runs the command in this process and returns its exit code."""
    return partial(here, "conform")


@cache
def recorded(backend: str) -> str:
    """Return the text of the file that expects what the run by hand finds."""
    return as_toml(report(backend))


class TestExitCode:
    """0 if everything passes or is merely not supported, 1 on a deviation, 2 for wrong usage."""

    def test_all_pass(self, conform: Conform) -> None:
        assert conform("numpy") == 0

    def test_a_deviation(self, conform: Conform) -> None:
        assert conform("numpy", "vinculum") == 1

    def test_not_supported(self, conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
        (first, *others) = exact().results
        results = (replace(first, verdict=Verdict(Kind.UNSUPPORTED, "no such type")), *others)
        monkeypatch.setattr(suite, "survey", lambda *a, **o: replace(exact(), results=results))
        assert conform("numpy") == 0

    def test_wrong_usage(
        self,
        conform: Conform,
        asked: list[dict[str, Any]],
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for arguments, line in (
            ((), "give a BACKEND to test"),
            (("numpy", "--quick", "--full"), "--quick and --full exclude each other"),
            (("nunpy",), "did you mean 'numpy'?"),
            (("numpy", "--workers", "0"), "--workers"),
            (("numpy", "--workers", "99999"), "more than the"),
            (("numpy", "--case-limit", "0"), "--case-limit"),
            (("numpy", "--memory-limit", "1"), "--memory-limit"),
            (("numpy", "--html", "no/such/r.html"), "there is no folder 'no/such'"),
            (("numpy", "--html", "."), "is a folder"),
            (("numpy", "--html", "r", "--junit", "./r"), "--junit and --html name the same file"),
            (("numpy", "--expect", "known.txt"), "known.txt cannot be read"),
            (("numpy", "vinculum[a=b]"), "vinculum has no option 'a'"),
            (("vinculum", "numpy", "--only", "Div-15/*"), "no case of the default level matches"),
            (("onnx-reference", "numpy", "no.such:Backend"), "No module named 'no'"),
            (("numpy", "--case-limit", "nan"), "--case-limit"),
        ):
            with words_of(*arguments):
                assert conform(*arguments) == 2
                out, error = capsys.readouterr()
                assert out == ""
                assert line in error
                assert len(error.splitlines()) == 1
                assert not asked  # Refused before anything is run.
                assert not list(tmp_path.iterdir())


class TestOptions:
    """What the suite is asked for."""

    def test_left_out(self, conform: Conform, asked: list[dict[str, Any]]) -> None:
        conform("numpy")
        (call,) = asked
        assert (call["backend"], call["workers"], call["total"]) == ("numpy", 2, 0)
        assert call["selection"] == Selection(Level.DEFAULT)

    def test_given(self, conform: Conform, asked: list[dict[str, Any]]) -> None:
        limits = ("--workers", "1", "--case-limit", "2.5", "--memory-limit", "512")
        conform("vinculum", "numpy", "vinculum", "--full", "--only", "Div-*/double/*", "--only", "*int64*", *limits)
        assert [call["backend"] for call in asked] == ["vinculum", "numpy"]
        for call in asked:
            assert (call["selection"].level, call["workers"], call["total"]) == (Level.FULL, 1, 2)
            assert (call["selection"].seconds, call["selection"].memory) == (2.5, 512 << 20)

    def test_quick(self, conform: Conform, asked: list[dict[str, Any]]) -> None:
        conform("numpy", "--quick")
        assert asked[0]["selection"].level is Level.QUICK


class TestReports:
    """What is printed, and the files: whole, or as they were."""

    def test_on_the_terminal(self, conform: Conform, capsys: pytest.CaptureFixture[str]) -> None:
        conform("vinculum", "numpy")
        out, error = capsys.readouterr()
        assert error == ""
        assert out.startswith("How runtimes divide\n")
        assert "MIN divided by -1" in out

    def test_json(self, conform: Conform, tmp_path: Path) -> None:
        assert conform("vinculum", "numpy", "--json", tmp_path / "view.json") == 1
        read = json.loads((tmp_path / "view.json").read_text("utf-8"))
        assert [(run["backend"], run["cases"]) for run in read["runs"]] == [("vinculum", 1800), ("numpy", 1800)]

    def test_files(self, conform: Conform, tmp_path: Path) -> None:
        page, document = tmp_path / "r.html", tmp_path / "r.xml"
        page.write_text("old", encoding="utf-8")
        conform("vinculum", "numpy", "--html", page, "--junit", document)
        assert page.read_text("utf-8").rstrip().endswith("</html>")
        assert len(parse(document).getroot()) == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.xml"]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no devices in folders")
    def test_a_device_is_refused_before_anything_is_run(
        self, conform: Conform, asked: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert conform("numpy", "--html", tmp_path / "pipe") == 2
        assert "is not a regular file" in capsys.readouterr().err
        assert not asked
        assert (tmp_path / "pipe").is_fifo()

    def test_nothing_is_written_after_an_error(
        self, conform: Conform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page, document = tmp_path / "r.html", tmp_path / "r.xml"
        page.write_text("old", encoding="utf-8")
        monkeypatch.setattr("vinculum.reporting.conformance.html.data", lambda views: 1 / 0)
        assert conform("vinculum", "--html", page, "--junit", document) == 3
        assert page.read_text("utf-8") == "old"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html"]


class TestRecord:
    """Issue 4, point 7: `--record FILE` writes the file that `--expect` takes, and keeps the reasons that one has."""

    def test_what_is_recorded_is_expected(self, conform: Conform, tmp_path: Path) -> None:
        file = tmp_path / "known.txt"
        assert conform("vinculum", "--record", file) == 1
        assert conform("vinculum", "--expect", file) == 0

    def test_reasons_stay(self, conform: Conform, tmp_path: Path) -> None:
        file = tmp_path / "known.toml"
        file.write_text(
            'backend = "vinculum"\nlevel = "default"\n[[cause]]\nrule = "crashed: SIGFPE where MIN / -1"\n'
            'element_types = ["int64"]\nreason = "an instruction"\n'
        )
        assert conform("--expect", file, "--record", file) == 1
        known = read_known_deviations(file)
        crash = next(cause for cause in known.causes if "crashed" in cause.name)
        assert (crash.name, crash.reason) == ("rule: crashed: SIGFPE where MIN / -1", "an instruction")
        assert conform("--expect", file) == 0

    @pytest.mark.parametrize("arguments", [("vinculum", "numpy"), ("vinculum", "--only", "Div-14/*")])
    def test_refused(
        self, conform: Conform, arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert conform(*arguments, "--record", tmp_path / "known.txt") == 2
        assert "give one BACKEND and no --only" in capsys.readouterr().err
        assert not list(tmp_path.iterdir())


class TestExpect:
    """Issue 4, point 7: `--expect FILE` makes the run a regression test."""

    def known(self, folder: Path, text: str | None = None, backend: str = "vinculum") -> Path:
        """Return a file that expects what the run by hand finds, or another text."""
        file = folder / f"{backend}.txt"
        file.write_text(recorded(backend) if text is None else text, encoding="utf-8")
        return file

    def test_as_expected(self, conform: Conform, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert conform("vinculum", "--expect", self.known(tmp_path)) == 0
        assert "divides as" in capsys.readouterr().out

    def test_the_file_says_what_to_run(self, conform: Conform, asked: list[dict[str, Any]], tmp_path: Path) -> None:
        text = recorded("vinculum").replace('level = "default"', 'level = "quick"')
        assert conform("--expect", self.known(tmp_path, text)) == 0
        assert (asked[0]["backend"], asked[0]["selection"].level) == ("vinculum", Level.QUICK)

    def test_a_new_failure(self, conform: Conform, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        tables = recorded("vinculum").split("\n\n")
        text = "\n\n".join(table for table in tables if "crashed" not in table)
        assert conform("vinculum", "--expect", self.known(tmp_path, text)) == 1
        out = " ".join(capsys.readouterr().out.split())
        assert "12 disagreements" in out
        assert "new failure: crashed (SIGFPE)" in out

    def test_an_unexpected_pass(self, conform: Conform, tmp_path: Path) -> None:
        file = self.known(tmp_path, recorded("numpy"), "numpy")
        assert conform("numpy", "--expect", file) == 1

    def test_beside_a_backend_without_a_file(self, conform: Conform, tmp_path: Path) -> None:
        assert conform("numpy", "vinculum", "--expect", self.known(tmp_path)) == 0
        assert conform("onnx-reference", "vinculum", "--expect", self.known(tmp_path)) == 1

    def test_refused(self, conform: Conform, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = self.known(tmp_path)
        (tmp_path / "sub").mkdir()
        for arguments, line in (
            (("numpy", "--expect", file), "is for 'vinculum', which is not among the backends given"),
            (("vinculum", "--expect", file, "--expect", self.known(tmp_path / "sub")), "two --expect files"),
            (("vinculum", "--expect", file, "--junit", file), "--expect and --junit name the same file"),
        ):
            assert conform(*arguments) == 2
            error = capsys.readouterr().err
            assert line in error
            assert len(error.splitlines()) == 1
