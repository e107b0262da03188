"""The survey: one run of a runtime for each version and processor, and the pages made of the newest ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from building.documentation.survey import (
    PAGE,
    RUNS,
    add,
    newest,
    newest_shown,
    published,
    runs_in,
    survey_pages,
    table,
    tables,
    with_answers,
)
from building.runtime_requirements import surveyed
from tests.reporting.conformance.reports import exact, report
from vinculum.conformance.expect import read_known_deviations
from vinculum.conformance.run.file import as_json
from vinculum.conformance.run.record import Run

KNOWN = sorted((RUNS.parents[1] / "known_deviations").glob("*.toml"))


def small(date: str = "2026-01-01", processor: str = "Xeon", **versions: str) -> Run:
    run = report("openvino", "OpenVINO")
    about = {**(versions or {"openvino": "2026.4"}), "processor": processor}
    return replace(run, results=run.results[:9], causes=run.causes, versions=about, date=date)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of published runs: two of OpenVINO on one processor, one on another, and one of Vinculum."""
    runs = [
        small("2026-01-01"),
        small("2026-02-01", processor="Zen 3"),
        small("2026-03-01", openvino="2026.5"),
        replace(exact(), results=exact().results[:9]),
    ]
    for number, run in enumerate(runs):
        file = tmp_path / f"{number}.json"
        file.write_text(as_json([run]), encoding="utf-8")
        add([file], tmp_path)
    return tmp_path


def test_a_run_is_added(folder: Path) -> None:
    assert len(runs_in(folder)) == 4
    again = folder / "again.json"
    again.write_text(as_json([small("2026-04-01")]), encoding="utf-8")
    add([again], folder)
    assert [run.date[:10] for run in runs_in(folder) if run.backend == "openvino"] == [
        "2026-04-01", "2026-03-01", "2026-02-01",
    ]  # fmt: skip
    assert published(small()) == published(small("2027-01-01"))
    assert re.fullmatch(r"openvino-2026\.4-xeon-[0-9a-f]{8}\.json\.xz", published(small()))


def test_the_newest_of_each_is_shown(folder: Path) -> None:
    runs = runs_in(folder)
    assert [run.versions.get("openvino") for run in newest(runs, ("openvino",))] == ["2026.5", None]
    assert [run.backend for run in newest(runs, ("vinculum", "openvino"))] == ["vinculum", "openvino"]
    lines = list(table(runs, newest(runs, ("openvino",))))
    assert lines[0] == "Processors: **A** Xeon; **B** Zen 3; **C** Xeon, AVX-512."
    rows = lines[4:-1]
    assert [row.split(" | ")[2] for row in rows] == ["A", "B", "A", "C"]
    assert rows[0].endswith("shown above |")
    assert rows[1].endswith("0 cases differ from that |")


def test_what_is_published_is_the_newest() -> None:
    runs = [view.run for view in newest_shown()]
    assert {run.backend for run in runs} == {read_known_deviations(file).backend for file in KNOWN}
    page = PAGE.read_text("utf-8")
    assert [name for name, rows in tables().items() if rows not in page] == [], "make survey writes the tables again"
    pages = {made.file: made.text for made in survey_pages()}
    assert len(pages) == len(runs)
    links = re.findall(r'href="survey/([^"#]*)\.html#?(\d*)"', with_answers(page))
    assert len(links) > 10 * len(runs)
    assert [link for link in links if f"{{#{link[1]}}}" not in pages[f"{link[0]}.md"] and link[1]] == []
    for made, run in zip(pages.values(), runs, strict=True):
        assert run.date[:10] in made
        reproducers = [one.reproducer for one in run.results if one.verdict.kind.deviates and one.reproducer]
        assert made.count("```python") >= min(3, len(reproducers))


@pytest.mark.parametrize("file", KNOWN, ids=lambda file: file.stem)
def test_known_deviations_can_be_reported(file: Path) -> None:
    """Each crash at a legal model comes with a program of ten lines; how it ends stands in a comment at its end."""
    known = read_known_deviations(file)
    crashes = [cause for cause in known.causes if cause.name.startswith("rule: crashed")]
    assert all(cause.reproducer or "operands of two element types" in cause.name for cause in crashes)
    for cause in known.causes:
        if cause.reproducer:
            compile(cause.reproducer, file.name, "exec")
            assert len(cause.reproducer.splitlines()) <= 10
            assert re.search(r"# \w.*\n\Z", cause.reproducer)
    needed = [f"{name}=={version.partition('+')[0]}" for name, version in known.versions.items()]
    assert surveyed(file)[-len(needed) :] == needed
