"""``python -m benchmarks`` on a few cells, and its figure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import fromstring

import pytest

from benchmarks.compare.page import page
from benchmarks.compare.plot import svg
from benchmarks.compare.results import read
from tests import processes
from tests.benchmarks.reports import report
from tests.browser import opened_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DOCS = Path(__file__).parents[3] / "docs"
COMMAND = [sys.executable, "-m", "benchmarks"]


def test_a_small_run(tmp_path: Path) -> None:
    options = ("--quick", "--only", "Div*, int32, row", "--rounds", "1", "--threads", "1")
    done = processes.run([*COMMAND, *options, "--to", str(tmp_path / "new" / "run")], env=processes.importing())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    json, markdown, figure = (tmp_path / "new" / f"run.{ending}" for ending in ("json", "md", "svg"))
    made = read(json)
    assert [str(row.cell) for row in made.rows] == [
        "Div, int32, row, 1,000 elements",
        "Divide, int32, row, 1,000 elements",
    ]
    assert made.is_sound
    assert made.rows[0].outcomes["numpy"].reason == "it has no truncating division of signed integers"
    assert made.rows[1].outcomes["numpy"].exact
    assert markdown.read_text("utf-8") == page(made, "run")
    assert figure.read_text("utf-8") == svg(made)
    again = processes.run([*COMMAND, "--from", str(json)], env=processes.importing())
    assert (again.returncode, again.stderr) == (0, "")
    assert "Divide, (M,N)/(N), 1,000 elements" in again.stdout


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--only", "int7"), "no cell contains 'int7'; cells are called 'Div, int8, equal, 16 elements'"),
        (("--from", "nowhere.json"), "nowhere.json is no record of a run: "),
    ],
)
def test_wrong_usage(options: tuple[str, ...], line: str) -> None:
    done = processes.run([*COMMAND, *options], env=processes.importing())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(line)


def test_the_figure_names_every_exact_peer() -> None:
    texts = fromstring(svg(report())).iter("{http://www.w3.org/2000/svg}text")
    found = ["".join(text.itertext()) for text in texts]
    for name in ("Vinculum", "NumPy", "PyTorch", "ONNX Runtime", "numexpr", "JAX", "the plain pass over memory"):
        assert found.count(name) == 1
    assert "OpenVINO" not in found  # It is exact in no cell.
    assert {"int8", "uint64", "bfloat16", "float64", "Div, equal shapes, 1,000,000 elements"} <= set(found)
    assert any("2 threads each (NumPy can use 1 only)" in text for text in found)


def test_the_published_figure_is_that_of_the_published_record() -> None:
    assert svg(read(DOCS / "performance.json")) == (DOCS / "performance.svg").read_text("utf-8")


def test_a_browser_draws_it(browser: Browser, tmp_path: Path) -> None:
    """All text lies within the figure, whatever font the browser has."""
    file = tmp_path / "figure.svg"
    file.write_text(svg(report()), encoding="utf-8")
    with opened_page(browser) as page:
        page.goto(file.as_uri())
        width = page.evaluate("document.documentElement.getBoundingClientRect().width")
        outside = page.evaluate(
            """width => [...document.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()])
               .filter(([, box]) => box.left < 0 || box.right > width || box.width === 0).map(([words]) => words)""",
            width,
        )
    assert width > 0
    assert outside == []
