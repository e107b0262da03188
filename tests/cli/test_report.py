"""``vinculum report`` and ``conform --save`` and ``--diff``: a run is shown again, and compared, without a runtime."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.reporting.conformance.reports import exact, report
from vinculum.conformance.run.file import as_json, schema
from vinculum.conformance.run.verdict import Kind

Command = Callable[..., int]


@pytest.fixture
def report_(here: Callable[..., int]) -> Command:
    """Return a function that runs the command in this process and returns its exit code."""
    return partial(here, "report")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the file of a run that deviates."""
    file = tmp_path / "run.json"
    file.write_text(as_json([report()]), encoding="utf-8")
    return file


class TestReport:
    """Every form of a report is made from the file."""

    def test_the_page(self, report_: Command, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert report_(run) == 1
        assert "How OpenVINO divides" in capsys.readouterr().out

    def test_a_run_that_passes(self, report_: Command, tmp_path: Path) -> None:
        file = tmp_path / "exact.json"
        file.write_text(as_json([exact()]), encoding="utf-8")
        assert report_(file) == 0

    def test_every_form(self, report_: Command, run: Path, tmp_path: Path) -> None:
        names = {
            "--html": "<!doctype", "--junit": "<?xml", "--sarif": '{\n "$schema"', "--record": "backend = ",
            "--json": '{\n "runs"',
        }  # fmt: skip
        files = {option: tmp_path / f"out{number}" for number, option in enumerate(names)}
        options = [part for option, file in files.items() for part in (option, file)]
        assert report_(run, *options) == 1
        for option, file in files.items():
            assert file.read_text("utf-8").startswith(names[option]), option
        assert report_(run, "--expect", files["--record"]) == 0

    def test_the_schema(self, report_: Command, capsys: pytest.CaptureFixture[str]) -> None:
        assert report_("--schema") == 0
        assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(schema()))

    def test_refused(self, report_: Command, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        known = tmp_path / "known.toml"
        known.write_text('backend = "torch"\nlevel = "default"\n')
        for arguments, line in (
            ((), "give a file that vinculum conform --save has written"),
            ((tmp_path / "none.json",), "none.json cannot be read or written: No such file or directory"),
            ((known,), "is not a run of the conformance suite"),
            ((run, "--expect", known), "is for 'torch', and no run given is of that backend"),
            ((run, run, "--record", tmp_path / "new.toml"), "--record records one whole run"),
            ((run, "--html", run.parent), "is a folder"),
        ):
            assert report_(*arguments) == 2
            error = capsys.readouterr().err
            assert line in error
            assert error.count("\n") == 1


class TestSaveAndDiff:
    """`conform --save` writes what `report` reads; `--diff` compares two of them."""

    def test_what_is_saved_is_reported(self, here: Command, tmp_path: Path) -> None:
        file = tmp_path / "numpy.json"
        assert here("conform", "numpy", "--quick", "--only", "Div-14/int8/*", "--save", file) == 0
        assert here("report", file) == 0

    def test_diff(self, here: Command, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert here("conform", run, run, "--diff") == 0
        assert "no case changed" in capsys.readouterr().out
        other = tmp_path / "other.json"
        results = tuple(r for r in report().results if r.verdict.kind is not Kind.CRASHED)
        worse = replace(results[0], verdict=replace(results[0].verdict, kind=Kind.HUNG))
        other.write_text(as_json([replace(report(), results=(worse, *results[1:]))]), encoding="utf-8")
        assert here("conform", run, other, "--diff") == 1
        out = " ".join(capsys.readouterr().out.split())
        assert "-> hung: 1 case" in out
        assert here("conform", run, other, "--diff", "--json", tmp_path / "diff.json") == 1
        (told,) = json.loads((tmp_path / "diff.json").read_text("utf-8"))
        assert len(told["changes"]) == 1

    def test_diff_refused(self, here: Command, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert here("conform", run, "--diff") == 2
        assert "--diff compares two files of runs, BEFORE.json AFTER.json; 1 were given" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("conform", "--list", "numpy"), "--list runs nothing and writes no file; leave BACKEND out"),
            (("conform", "--list", "--save", "x.json"), "--list runs nothing and writes no file; leave --save out"),
            (
                ("conform", "--diff", "a", "b", "--html", "x"),
                "writes no file but that of --json; leave --html",
            ),
            (("conform", "--diff", "a", "b", "--expect", "x"), "leave --expect out"),
            (("report", "--schema", "x.json"), "--schema reads no file; leave RUN.json out"),
        ],
    )
    def test_what_would_not_be_done(
        self, here: Command, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
    ) -> None:
        assert here(*arguments) == 2
        assert words in capsys.readouterr().err

    def test_damaged_answers(self, here: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "floors.json"
        backend = ("tests.fake_runtime:Floors", "--quick", "--only", "Div-14/int32/*")
        assert here("conform", *backend, "--save", file) == 1
        content = json.loads(file.read_text("utf-8"))
        kept = [one["answer"] for one in content["runs"][0]["results"] if one["answer"] and "data" in one["answer"]]
        for data in ("@", "AAAA", "é"):
            kept[0]["data"] = data
            file.write_text(json.dumps(content), encoding="utf-8")
            for arguments in (("report", file), ("conform", "--diff", file, file)):
                capsys.readouterr()
                assert here(*arguments) == 2
                error = capsys.readouterr().err
                assert f"{str(file)!r}: the answer to 'Div-14/int32/" in error
                assert error.count("\n") == 1

    def test_cases_of_another_version(
        self, here: Command, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "older.json"
        assert here("conform", "numpy", "--quick", "--only", "Div-14/int8/*", "--save", file) == 0
        content = json.loads(file.read_text("utf-8"))
        content["runs"][0]["results"][0]["digest"] = "0" * 16
        file.write_text(json.dumps(content), encoding="utf-8")
        capsys.readouterr()
        assert here("report", file) == 0
        assert capsys.readouterr().err == (
            f"vinculum: 1 cases of {file} are not those of this version; they keep their verdicts and causes\n"
        )


class TestFilesThatCannotBe:
    """What cannot be read or written is refused before anything is asked."""

    def test_no_end(self, here: Command, capsys: pytest.CaptureFixture[str]) -> None:
        assert here("conform", "numpy", "--expect", "/dev/zero") == 2
        assert "'/dev/zero' is not a regular file; give " in capsys.readouterr().err

    @pytest.mark.skipif(not Path("/proc/version").exists(), reason="only Linux has such a folder")
    def test_a_folder_that_takes_no_file(self, here: Command, capsys: pytest.CaptureFixture[str]) -> None:
        assert here("conform", "numpy", "--html", "/proc/r.html") == 2
        error = capsys.readouterr().err
        assert error.startswith("vinculum: error: --html '/proc/r.html' cannot be written there: ")

    def test_a_level_above_has_the_case(self, here: Command, capsys: pytest.CaptureFixture[str]) -> None:
        assert here("conform", "numpy", "--quick", "--only", "Div-14/float/random bit patterns/*") == 2
        assert "no case of the quick level matches" in (error := capsys.readouterr().err)
        assert "the default level has one" in error


@pytest.mark.parametrize("columns", ["0", "-3", "wide", ""])
def test_columns_that_say_nothing(
    here: Command, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert here("info") == 0
    assert "vinculum" in capsys.readouterr().out
