"""A run as a file: what is read is what was written, and what is no run is refused in a line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tests.reporting.conformance.reports import exact, hostile, report
from vinculum.conformance.cases.case import Level
from vinculum.conformance.run.file import as_json, read_runs, schema
from vinculum.conformance.run.planning import plan
from vinculum.conformance.run.record import Run, Selection
from vinculum.conformance.run.suite import survey
from vinculum.errors import ModelError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.json"


class TestRoundTrip:
    """Every report can be made from the file alone."""

    def test_what_was_written_is_read(self, file: Path) -> None:
        escaped = json.dumps(msgspec.to_builtins(hostile())).replace("\\ud800", "\\ufffd")
        tame = msgspec.convert(json.loads(escaped), type=Run, strict=False)
        runs = (report(), exact(), tame)
        file.write_text(as_json(runs), encoding="utf-8")
        assert read_runs(file) == runs
        assert as_json(read_runs(file)) == file.read_text("utf-8")

    def test_a_real_run(self, file: Path) -> None:
        run = survey(plan("numpy", Selection(Level.QUICK, ("Div-14/int8/*",), seconds=20.0)), workers=1)
        file.write_text(as_json([run]), encoding="utf-8")
        (read,) = read_runs(file)
        assert read == run
        assert read.selection.options == ("--quick", "--only", "Div-14/int8/*", "--case-limit", "20")
        assert read.date[:2] == "20"

    def test_it_is_as_the_schema_says(self, file: Path) -> None:
        content = json.loads(as_json([report()]))
        described = schema()
        names = {name.rpartition("/")[2] for name in described["$defs"]}
        assert {"RunFile", "Run", "Result", "CaseId", "Verdict", "Cause", "Selection"} <= names
        own = described["$defs"]["Run"]["properties"]
        assert set(content["runs"][0]) == set(own)
        assert set(content["runs"][0]["results"][0]["id"]) == set(described["$defs"]["CaseId"]["properties"])


class TestRefused:
    """What is no run is refused in a line that names the file."""

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "\x00", '{"runs": [{"backend": 3}]}', '{"runs": 7}', '{"format": "x", "runs": []}'],
    )
    def test_other_text(self, file: Path, text: str) -> None:
        file.write_text(text)
        with pytest.raises(ModelError, match=r"run.json' is not a run of the conformance suite .*--save") as caught:
            read_runs(file)
        assert "\n" not in str(caught.value)

    def test_no_run(self, file: Path) -> None:
        file.write_text(as_json(()))
        with pytest.raises(ModelError, match=r"run.json' holds no run; give a file written by --save"):
            read_runs(file)

    def test_a_cause_that_the_run_has_not(self, file: Path) -> None:
        """Its cases would be neither explained nor counted as unexplained."""
        file.write_text(as_json([replace(report(), causes=())]), encoding="utf-8")
        with pytest.raises(
            ModelError, match=r"run.json' gives a case the cause 'arithmetic.*which its run does not list"
        ):
            read_runs(file)

    def test_an_older_file(self, file: Path) -> None:
        file.write_text(as_json([report()]).replace("vinculum run 2", "vinculum run 1"), encoding="utf-8")
        with pytest.raises(ModelError, match=r"run.json' was written before runs kept their answers .*--save again"):
            read_runs(file)

    def test_a_case_twice(self, file: Path) -> None:
        results = report().results
        file.write_text(as_json([replace(report(), results=(*results, results[0]))]), encoding="utf-8")
        with pytest.raises(ModelError, match=r"run.json' has the case 'Div-.* twice"):
            read_runs(file)

    def test_a_file_that_is_no_text(self, file: Path) -> None:
        file.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(ModelError, match="is not a run of the conformance suite"):
            read_runs(file)

    def test_a_device_and_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="is a folder; give a file written by --save"):
            read_runs(tmp_path)
        with pytest.raises(ModelError, match="is not a regular file"):
            read_runs(Path("/dev/zero"))
