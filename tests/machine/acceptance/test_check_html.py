"""The page of ``vinculum check --html`` in a real browser: its picture, dark mode, a phone, hostile names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import vinculum
from tests.analysis import hazardous
from tests.analysis.corpus.judging import ENTRIES, model_of, reported
from tests.browser import LOWEST_CONTRAST, opened_page
from tests.reporting.check.test_picture import HOSTILE, chain
from vinculum.analysis.triage import sorted_out
from vinculum.reporting.check.picture.document import document

if TYPE_CHECKING:
    from onnx import ModelProto
    from playwright.sync_api import Browser, Page

Shown = Callable[..., "Page"]
_OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll("svg .box")].map(box => box.getBoundingClientRect());
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)).length;
}"""
_SCROLLS = "[...document.querySelectorAll('.picture')].some(place => place.scrollWidth > place.clientWidth)"
_SMALLEST_TEXT = """() => Math.min(...[...document.querySelectorAll("svg")].flatMap(svg => {
  const scale = svg.clientWidth / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll("text")].map(text => parseFloat(getComputedStyle(text).fontSize) * scale);
}))"""


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    """Yield a function that opens the page of a model; the page may log no error and load nothing else."""
    with opened_page(browser) as page:

        def show(
            model: ModelProto, *, width: int = 1280, scheme: Literal["light", "dark"] = "light", runs: int = 0
        ) -> Page:
            report = vinculum.check(model, assume=_assumed(model), runs=runs)
            path = tmp_path / "page.html"
            path.write_text(document([(sorted_out(report, HOSTILE), model)]), encoding="utf-8")
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            page.goto(path.as_uri())
            return page

        yield show


def _assumed(model: ModelProto) -> list[str]:
    return [f"{value.name}=0|1" for value in model.graph.input if value.name == "mask"]


def transformer() -> ModelProto:
    """Return a model with two hazards far apart."""
    return model_of(next(e for e in ENTRIES if e.name.startswith("clip.dynamo18") and len(reported(e).findings) == 2))


class TestPicture:
    """All nodes are drawn and legible, and none overlap."""

    def test_a_hazard_and_its_path(self, shown: Shown) -> None:
        page = shown(hazardous.masked_mean(), runs=50)
        assert page.locator("svg .box").count() == 7
        assert page.locator("svg .finding text").first.text_content() == "◆ witnessed: zero-over-zero"
        assert page.locator("svg path.way").count() == 2
        assert page.locator("svg .label").all_text_contents() == ["dividend", "divisor"]
        assert page.locator("svg .input .witness").all_text_contents() == [
            "witness: 0.5 everywhere",
            "witness: 0 everywhere",
        ]

    @pytest.mark.parametrize("make", [hazardous.masked_mean, transformer, lambda: chain(400, range(5, 400, 20))])
    @pytest.mark.parametrize("width", [1280, 390])
    def test_it_is_legible(self, shown: Shown, make: Callable[[], ModelProto], width: int) -> None:
        page = shown(make(), width=width)
        assert page.evaluate(_OVERLAPS) == 0
        assert page.evaluate(_SMALLEST_TEXT) >= 10
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(_SCROLLS) is False

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_contrast(self, shown: Shown, scheme: Literal["light", "dark"]) -> None:
        page = shown(hazardous.masked_mean(), scheme=scheme, runs=50)
        contrast, text = page.evaluate(LOWEST_CONTRAST)
        assert contrast >= 4.5, text

    def test_a_finding_leads_to_its_words(self, shown: Shown) -> None:
        page = shown(hazardous.masked_mean())
        page.locator("svg .finding a").click()
        assert page.url.endswith("#m0-1")
        assert page.locator("article:target").count() == 1

    def test_it_is_redrawn_when_the_window_changes(self, shown: Shown) -> None:
        from playwright.sync_api import expect

        page = shown(transformer())
        expect(page.locator("svg")).to_have_count(1)
        page.set_viewport_size({"width": 390, "height": 800})
        expect(page.locator("svg")).to_have_count(2)  # One under the other.

    def test_hostile_names(self, shown: Shown) -> None:
        model = hazardous.masked_mean()
        for node in model.graph.node:
            node.input[:] = [HOSTILE if name == "mask" else name for name in node.input]
        model.graph.input[1].name = HOSTILE
        page = shown(model)
        assert page.title().startswith("Divisions of </script>")
        assert page.locator("img").count() == 0
        assert page.locator("svg .box").count() == 7
