"""``vinculum conform`` and ``fingerprint``: calls of the suite, written files, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import parse

import pytest

from tests.conformance.asking import case
from tests.reporting.conformance.reports import exact, report
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import as_toml
from vinculum.conformance.run import planning, suite
from vinculum.conformance.run.planning import Plan
from vinculum.conformance.run.record import Kind, Run, Selection, Verdict
from vinculum.spec.element_types import DOUBLE, INT8, INT64

Conform = Callable[..., int]
Streams = pytest.CaptureFixture[str]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace the suite: numpy is exact, all others are like OpenVINO. Return the arguments of each run."""
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
    return partial(here, "conform")


@cache
def recorded(backend: str) -> str:
    """Return the known deviations of the run made by hand, as a file has them."""
    return as_toml(report(backend))


def known(folder: Path, text: str | None = None, backend: str = "vinculum") -> Path:
    """Return a file of these known deviations, or of another text."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{backend}.toml"
    file.write_text(recorded(backend) if text is None else text, encoding="utf-8")
    return file


def test_exit_codes(conform: Conform, monkeypatch: pytest.MonkeyPatch) -> None:
    assert conform("numpy") == 0
    assert conform("numpy", "vinculum") == 1
    (first, *others) = exact().results
    results = (replace(first, verdict=Verdict(Kind.UNSUPPORTED, "no such type")), *others)
    monkeypatch.setattr(suite, "survey", lambda *a, **o: replace(exact(), results=results))
    assert conform("numpy") == 0


def test_what_the_suite_is_asked_for(conform: Conform, asked: list[dict[str, Any]]) -> None:
    conform("numpy")
    conform("numpy", "--quick")
    limits = ("--workers", "1", "--case-limit", "2.5", "--memory-limit", "512")
    conform("vinculum", "numpy", "vinculum", "--full", "--only", "Div-*/double/*", "--only", "*int64*", *limits)
    assert [call["backend"] for call in asked] == ["numpy", "numpy", "vinculum", "numpy"]
    assert [(call["workers"], call["total"]) for call in asked] == [(2, 0), (2, 0), (1, 2), (1, 2)]
    given = Selection(Level.FULL, ("Div-*/double/*", "*int64*"), 2.5, 512 << 20)
    selections = [Selection(Level.DEFAULT), Selection(Level.QUICK), given, given]
    assert [call["selection"] for call in asked] == selections
    asked.clear()
    for selection in selections:
        conform("numpy", *selection.options)
    assert [call["selection"] for call in asked] == selections


def test_the_ids_of_cases(here: Conform, capsys: Streams) -> None:
    assert here("conform", "--list", "--quick", "--only", "Div-14/int64/*") == 0
    ids = capsys.readouterr().out.splitlines()
    assert len(set(ids)) == len(ids) > 5
    assert all(id.count("/") == 4 and id.startswith("Div-14/int64/") for id in ids)


def test_what_is_printed_and_written(conform: Conform, tmp_path: Path, capsys: Streams) -> None:
    page, document = tmp_path / "r.html", tmp_path / "r.xml"
    page.write_text("old", encoding="utf-8")
    conform("vinculum", "numpy", "--html", page, "--junit", document)
    out, error = capsys.readouterr()
    assert error == ""
    assert out.startswith("How runtimes divide\n")
    assert "MIN divided by -1" in out
    assert page.read_text("utf-8").rstrip().endswith("</html>")
    assert len(parse(document).getroot()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.xml"]


def test_nothing_is_written_after_an_error(conform: Conform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, document = tmp_path / "r.html", tmp_path / "r.xml"
    page.write_text("old", encoding="utf-8")
    monkeypatch.setattr("vinculum.reporting.conformance.html.data", lambda views: 1 / 0)
    assert conform("vinculum", "--html", page, "--junit", document) == 3
    assert page.read_text("utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html"]


class TestExpect:
    """`--expect FILE` makes the run a regression test, and `--record FILE` writes such a file."""

    def test_what_is_recorded_is_expected(self, conform: Conform, tmp_path: Path, capsys: Streams) -> None:
        file = tmp_path / "known.toml"
        assert conform("vinculum", "--record", file) == 1
        assert conform("vinculum", "--expect", file) == 0
        assert "divides as" in capsys.readouterr().out
        assert conform("--expect", file, "--record", file) == 0
        assert conform("numpy", "vinculum", "--expect", file) == 0
        assert conform("onnx-reference", "vinculum", "--expect", file) == 1

    def test_the_file_says_what_to_run(self, conform: Conform, asked: list[dict[str, Any]], tmp_path: Path) -> None:
        text = recorded("vinculum").replace('level = "default"', 'level = "quick"')
        assert conform("--expect", known(tmp_path, text)) == 0
        assert (asked[0]["backend"], asked[0]["selection"].level) == ("vinculum", Level.QUICK)

    def test_disagreements(self, conform: Conform, tmp_path: Path, capsys: Streams) -> None:
        tables = recorded("vinculum").split("\n\n")
        text = "\n\n".join(table for table in tables if "crashed" not in table)
        assert conform("vinculum", "--expect", known(tmp_path, text)) == 1
        out = " ".join(capsys.readouterr().out.split())
        assert "12 disagreements" in out
        assert "new failure: crashed (SIGFPE)" in out
        assert conform("numpy", "--expect", known(tmp_path, recorded("numpy"), "numpy")) == 1


def test_fingerprint(conform: Conform, here: Conform, asked: list[dict[str, Any]], capsys: Streams) -> None:
    """It runs the newest operators, and prints a page or a line of JSON for each runtime."""
    assert here("fingerprint", "vinculum", "numpy", "--verbose") == 0
    out, error = capsys.readouterr()
    assert (error, [call["backend"] for call in asked]) == ("", ["vinculum", "numpy"])
    assert not out.startswith("{")
    assert "crashed: SIGFPE for MIN / -1" in " ".join(out.split())
    assert here("fingerprint", "vinculum", "numpy", "--json", "--memory-limit", 64, "--case-limit", 7) == 0
    assert asked[-1]["selection"] == Selection(Level.DEFAULT, seconds=7.0, memory=64 << 20)
    assert [json.loads(line)["cases"] for line in capsys.readouterr().out.splitlines()] == [1800, 1800]
    assert here("fingerprint", "numpy", "nunpy") == 2
    assert capsys.readouterr().err.endswith("did you mean 'numpy'?\n")
