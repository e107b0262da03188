"""``conform --save``, ``report``, ``--diff`` and answered exports, all without a runtime."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.vectors.exports import lines
from tests.conformance.vectors.test_answers import right, write
from tests.reporting.conformance.reports import exact, report
from vinculum.conformance.run.file import as_json, schema
from vinculum.conformance.run.record import Kind, Verdict

Command = Callable[..., int]
Streams = pytest.CaptureFixture[str]
FEW = ("--quick", "--only", "Div-14/int8/*")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    file = tmp_path / "run.json"
    file.write_text(as_json([report()]), encoding="utf-8")
    return file


class TestReport:
    """Every form of a report is made from the file."""

    def test_every_form(self, here: Command, run: Path, tmp_path: Path, capsys: Streams) -> None:
        begins = {"--html": "<!doctype", "--junit": "<?xml", "--sarif": '{\n "$schema"', "--record": "backend = "}
        files = {option: tmp_path / f"out{number}" for number, option in enumerate(begins)}
        assert here("report", run, *(part for option, file in files.items() for part in (option, file))) == 1
        assert "How OpenVINO divides" in capsys.readouterr().out
        for option, file in files.items():
            assert file.read_text("utf-8").startswith(begins[option]), option
        assert here("report", run, "--expect", files["--record"]) == 0
        run.write_text(as_json([exact()]), encoding="utf-8")
        assert here("report", run) == 0

    def test_the_schema(self, here: Command, capsys: Streams) -> None:
        assert here("report", "--schema") == 0
        assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(schema()))


class TestSaved:
    """Saved runs are reported and compared; damaged ones are refused, cases of another version are counted."""

    def test_diff(self, here: Command, run: Path, tmp_path: Path, capsys: Streams) -> None:
        assert here("conform", run, run, "--diff") == 0
        out = capsys.readouterr().out
        assert "the same versions" in out
        assert out.endswith("\nno case changed\n")
        other = tmp_path / "other.json"
        worse = [replace(r, verdict=Verdict(Kind.HUNG)) for r in report().results if r.verdict.kind is Kind.CRASHED]
        rest = [r for r in report().results if r.verdict.kind is not Kind.CRASHED]
        other.write_text(as_json([replace(report(), results=(*worse, *rest))]), encoding="utf-8")
        assert here("conform", run, other, "--diff") == 1
        assert "more; --verbose names them all" in capsys.readouterr().out
        assert here("conform", run, other, "--diff", "--verbose") == 1
        out = capsys.readouterr().out
        assert out.count("crashed: SIGFPE where MIN / -1 -> ") == len(worse) > 5

    def test_damaged_answers(self, here: Command, tmp_path: Path, capsys: Streams) -> None:
        file = tmp_path / "floors.json"
        backend = ("tests.fake_runtime:Floors", "--quick", "--only", "Div-14/int32/*")
        assert here("conform", *backend, "--save", file) == 1
        content = json.loads(file.read_text("utf-8"))
        kept = [one["answer"] for one in content["runs"][0]["results"] if one["answer"] and "data" in one["answer"]]
        kept[0]["data"] = "é"
        file.write_text(json.dumps(content), encoding="utf-8")
        for arguments in (("report", file), ("conform", "--diff", file, file)):
            capsys.readouterr()
            assert here(*arguments) == 2
            error = capsys.readouterr().err
            assert f"{str(file)!r}: the answer to 'Div-14/int32/" in error
            assert error.count("\n") == 1

    def test_cases_of_another_version(self, here: Command, tmp_path: Path, capsys: Streams) -> None:
        file = tmp_path / "older.json"
        assert here("conform", "numpy", *FEW, "--save", file) == 0
        content = json.loads(file.read_text("utf-8"))
        content["runs"][0]["results"][0]["digest"] = "0" * 16
        file.write_text(json.dumps(content), encoding="utf-8")
        capsys.readouterr()
        assert here("report", file) == 0
        assert capsys.readouterr().err == (
            f"vinculum: 1 cases of {file} are not those of this version; they keep their verdicts and causes\n"
        )


class TestVectors:
    """An export is a folder, described in one line; answers to it are judged like those of a runtime."""

    @pytest.fixture
    def folder(self, here: Command, tmp_path: Path, capsys: Streams) -> Path:
        assert here("vectors", "export", tmp_path / "few", "--format", "jsonl", *FEW) == 0
        (line,) = capsys.readouterr().out.splitlines()
        files = sum(path.is_file() for path in (tmp_path / "few").rglob("*"))
        assert f": 5 exact, 2 unspecified; {files:,} files, " in line
        assert line.endswith((" kB", " MB"))
        return tmp_path / "few"

    def test_answers(self, here: Command, folder: Path, tmp_path: Path, capsys: Streams) -> None:
        rows = [right(line) for line in lines(folder)]
        write(folder / "answers.jsonl", rows)
        assert here("conform", f"answers:{folder}") == 0
        assert f"{len(rows)} cases in " in capsys.readouterr().out
        first, second, *_ = [row for row in rows if "elements" in row]
        first["elements"] = " ".join(["7f", *first["elements"].split()[1:]])
        crash, rest = {"id": second["id"], "crashed": "SIGFPE"}, [row for row in rows if row not in (first, second)]
        write(tmp_path / "mine.jsonl", [first, crash, *rest])
        backend, saved = f"answers:{folder}[from={tmp_path / 'mine.jsonl'}]", tmp_path / "run.json"
        assert here("conform", backend, "--verbose", "--save", saved, "--record", tmp_path / "known.toml") == 1
        out = " ".join(capsys.readouterr().out.split())
        assert f"wrong value {first['id']}" in out
        assert " gave 127, expected " in out
        assert f"crashed {second['id']}" in out
        assert here("conform", backend, "--expect", tmp_path / "known.toml") == 0
        assert here("report", saved) == 1
        write(folder / "answers.jsonl", rows[1:])
        capsys.readouterr()
        assert here("conform", f"answers:{folder}") == 2
        assert "has no answer to 1 cases, such as 'Div-14/" in capsys.readouterr().err
        assert here("conform", f"answers:{folder}", "--only", rows[1]["id"]) == 0
