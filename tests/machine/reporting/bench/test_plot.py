"""The figure: valid SVG that names everyone who has a place in it, the same for the same run."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from defusedxml.ElementTree import fromstring

from tests.reporting.bench.reports import report
from vinculum.errors import AttributeValueError
from vinculum.reporting.bench.plot import drawn_rows, svg

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SVG = "{http://www.w3.org/2000/svg}"


@cache
def usual() -> str:
    """Return the figure of the usual report, drawn once."""
    return svg(report())


def tree(figure: str) -> Element:
    """Return the figure's tree."""
    root: Element = fromstring(figure)
    return root


def words(root: Element) -> list[str]:
    """Return all texts of a figure."""
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_everyone_who_has_a_place_is_named() -> None:
    found = words(tree(usual()))
    for name in ("Vinculum", "NumPy", "PyTorch", "ONNX Runtime", "numexpr", "JAX", "the plain pass over memory"):
        assert found.count(name) == 1
    assert "OpenVINO" not in found  # In no cell is it exact.
    for element_type in ("int8", "uint64", "bfloat16", "float64"):
        assert element_type in found
    assert "Div, equal shapes, 1,000,000 elements" in found
    assert any("2 threads each (NumPy can use 1 only)" in text for text in found)


def test_it_is_readable_on_any_ground() -> None:
    root = tree(usual())
    ground = next(root.iter(f"{SVG}path"))
    assert "fill: #ffffff" in ground.get("style", "")


def test_the_same_run_gives_the_same_file() -> None:
    assert svg(report()) == usual()
    assert "<dc:date>" not in usual()


def test_without_div_of_equal_shapes_what_came_first() -> None:
    made = report()
    rows = drawn_rows(replace(made, rows=made.rows[-1:]))
    assert [(row.cell.operator, row.cell.shape) for row in rows] == [("Div", "channel")]
    assert "Vinculum" in words(tree(svg(replace(made, rows=made.rows[-1:]))))


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(AttributeValueError, match="nothing to draw"):
        svg(replace(report(), rows=()))


def test_a_browser_draws_it(chromium_or_skip: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    file = tmp_path / "figure.svg"
    file.write_text(usual(), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_or_skip, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(file.as_uri())
        width = page.evaluate("document.documentElement.getBoundingClientRect().width")
        # Every word lies within the figure, in whatever font the browser has.
        outside = page.evaluate(
            """width => [...document.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()])
               .filter(([, box]) => box.left < 0 || box.right > width || box.width === 0).map(([words]) => words)""",
            width,
        )
        browser.close()
    assert width > 0
    assert outside == []
