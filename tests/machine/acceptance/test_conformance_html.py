"""The page of ``vinculum conform --html`` in a real browser: its controls, a phone, dark mode, print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import pytest

from tests.browser import LOWEST_CONTRAST, opened_page
from tests.reporting.conformance.reports import HOSTILE, exact, hostile, report, reproducer
from vinculum.conformance.expect import KnownCause, KnownDeviations
from vinculum.conformance.run.record import Kind, Result, Verdict
from vinculum.reporting.conformance.html import document
from vinculum.reporting.conformance.view import WORST_FIRST
from vinculum.spec.rows import ROWS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Opened = Callable[..., "Page"]

A4 = 718  # Pixels between the margins of a page.
BROKEN = """selector => [...document.querySelectorAll(selector)].map(cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return [cell.textContent.trim(), new Set([...range.getClientRects()].map(box => Math.round(box.top))).size];
}).filter(([words, lines]) => lines > 1 && !/[ -]/.test(words))"""
"""JavaScript that returns the single words which are broken over several lines in the selected cells."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of four runtimes."""
    path = tmp_path_factory.mktemp("page") / "r.html"
    torch = report("torch", "PyTorch", ROWS[3:5])
    reports = [report(), exact(), torch, report("onnxruntime", "ONNX Runtime", ROWS[:8])]
    path.write_text(document(reports), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Opened]:
    """Yield a function that opens the page; it may log no error and load nothing but the file."""
    with ExitStack() as pages:

        def open_page(fragment: str = "", *, path: Path = file, width: int = 1280, scripts: bool = True) -> Page:
            page = pages.enter_context(opened_page(browser, java_script_enabled=scripts))
            page.set_default_timeout(60_000)
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(path.as_uri() + fragment)
            return page

        yield open_page


def cases(page: Page) -> list[str]:
    """Return the ids of the cases that the visible tab lists."""
    listed = page.locator(".panel:visible .list .id").all_text_contents()
    return [text.replace(" / ", "/") for text in listed]


def listed(results: Iterable[Result]) -> list[str]:
    """Return the ids in the order of the list: the worst verdict first, then the order of the suite."""
    return [str(r.id) for r in sorted(results, key=lambda r: WORST_FIRST.index(r.verdict.kind))]


class TestTabs:
    """The first tab compares the runtimes; each runtime has a tab of its own."""

    def test_by_mouse(self, opened: Opened) -> None:
        from playwright.sync_api import expect

        page = opened()
        assert page.title() == "How four runtimes divide"
        tabs = page.get_by_role("tab")
        assert tabs.all_text_contents() == ["Side by side", "OpenVINO", "Vinculum", "PyTorch", "ONNX Runtime"]
        for tab in tabs.all():
            tab.click()
            # The page hears of the new address a little later: `expect` waits for that.
            expect(tab).to_have_attribute("aria-selected", "true")
            panel = page.get_by_role("tabpanel")
            assert panel.count() == 1  # The others are hidden.
            assert panel.get_attribute("id") == tab.get_attribute("aria-controls")
            assert panel.get_by_role("heading", level=2).text_content() == tab.text_content()

    def test_by_keyboard(self, opened: Opened) -> None:
        from playwright.sync_api import expect

        page = opened()
        page.keyboard.press("Tab")  # the glossary
        page.keyboard.press("Tab")
        for key, name in (
            ("ArrowRight", "OpenVINO"),
            ("End", "ONNX Runtime"),
            ("ArrowRight", "Side by side"),
            ("ArrowLeft", "ONNX Runtime"),
            ("Home", "Side by side"),
        ):
            page.keyboard.press(key)
            selected = page.get_by_role("tab", selected=True)
            expect(selected).to_have_text(name)
            expect(selected).to_be_focused()
        assert page.locator("[role=tab][tabindex='0']").count() == 1

    def test_side_by_side_leads_to_the_cases(self, opened: Opened) -> None:
        from playwright.sync_api import expect

        page = opened()
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="crashed"))
        row.get_by_role("link").first.click()
        expect(page.get_by_role("tab", selected=True)).to_have_text("OpenVINO")
        assert cases(page) == [str(r.id) for r in report().results if r.verdict.kind is Kind.CRASHED]

    def test_without_javascript(self, opened: Opened) -> None:
        page = opened(scripts=False)
        assert page.locator(".panel:visible").count() == 5
        assert page.locator(".cell:visible").count() > 200
        assert "With JavaScript, the page lists each case" in page.locator(".panel").nth(1).inner_text()


class TestCases:
    """A click on a cell lists its cases, which can be filtered by verdict and words."""

    def test_a_cell(self, opened: Opened) -> None:
        page = opened("#openvino")
        page.locator(".panel:visible .cell a[title^='Div-14, float:']").click()
        results = [r for r in report().results if (r.id.operator, r.id.element_type) == ("Div-14", "float")]
        assert cases(page) == listed(r for r in results if r.verdict.kind.deviates)
        current = page.locator(".panel:visible .cell a[aria-current]").get_attribute("title")
        assert current is not None
        assert current.startswith("Div-14, float:")
        page.wait_for_function("document.activeElement.getBoundingClientRect().top > 50")  # In sight, below the tabs.
        page.get_by_role("combobox").select_option("all")
        assert cases(page) == listed(results)
        page.get_by_role("button", name="Only Div-14, float").click()
        assert len(cases(page)) == 25

    def test_more_and_filters(self, opened: Opened) -> None:
        page = opened("#openvino")
        page.get_by_role("button", name="Show 25 more").click()
        assert len(cases(page)) == 50
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        page.get_by_role("combobox").select_option("wrong value")
        page.get_by_label("Words").fill("UINT64 div-13 constant")
        wanted = [
            str(r.id)
            for r in report().results
            if r.verdict.kind is Kind.WRONG_VALUE and r.id.matches("Div-13/uint64/*constant*")
        ]
        assert cases(page) == wanted
        assert page.locator(".panel:visible .cases [role=status]").first.text_content() == f"{len(wanted)} cases."
        page.get_by_label("Words").fill("no such words")
        assert cases(page) == []

    def test_a_finding(self, opened: Opened) -> None:
        page = opened("#openvino")
        page.get_by_role("link", name="crashed: SIGFPE for MIN / -1").click()
        assert len(cases(page)) == 12

    def test_back_and_a_link_to_a_case(self, opened: Opened) -> None:
        page = opened("#openvino/cell/Div-14/float")
        page.locator(".panel:visible .list summary").first.click()
        page.get_by_role("link", name="Link to this case").click()
        assert len(cases(page)) == 1
        page.go_back()
        page.wait_for_function("document.querySelectorAll('.panel:not([hidden]) .list > li').length > 1")
        assert len(cases(page)) == 10

    def test_a_runtime_without_a_fault(self, opened: Opened) -> None:
        from playwright.sync_api import expect

        page = opened("#vinculum")
        assert cases(page) == []
        page.locator(".panel:visible .cell a").first.click()
        expect(page.locator(".panel:visible .list .id")).to_have_count(24)


class TestOneCase:
    """A failing case shows its clause, an example with bits, a histogram, and a reproducer to copy."""

    def test_all_of_it(self, opened: Opened) -> None:
        page = opened("#openvino/cell/Div-14/float")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        result = next(r for r in report().results if r.id.matches("Div-14/float/*") and r.verdict.kind is Kind.ULPS)
        item = page.locator(".panel:visible .list > li").nth(cases(page).index(str(result.id)))
        item.locator("summary").click()
        item.locator(".body").wait_for()
        text = item.inner_text()
        for expected in (
            "off by ulps",
            result.clause,
            result.statement,
            "1.1754944e-38 (0x00800000)",
            "3.9e-39 (0x002aaaab)",
            "(17,)",
            f"vinculum conform 'openvino' --full --only '{result.id}'",
        ):
            assert expected in text
        assert item.locator("pre").first.text_content() == reproducer(str(result.id))
        bars = item.locator(".histogram li")
        assert bars.locator("span:first-child").all_text_contents() == [
            "1 ulp", "2 to 3 ulps", "4 to 7 ulps", "2^20 ulps or more",
        ]  # fmt: skip
        widths = [box["width"] for bar in bars.locator(".bar").all() if (box := bar.bounding_box())]
        assert widths == sorted(widths, reverse=True)
        assert widths[0] > 5 * widths[-1] > 0
        item.get_by_role("button", name="Copy").first.click()
        item.get_by_text("Copied.").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == reproducer(str(result.id))

    def test_without_a_clipboard(self, opened: Opened) -> None:
        page = opened("#openvino/cell/Div-14/float")
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) }")
        item = page.locator(".panel:visible .list > li").first
        item.locator("summary").click()
        item.get_by_role("button", name="Copy").first.click()
        item.get_by_text("opied.").or_(item.get_by_text("Selected;")).wait_for()
        assert "onnxruntime.InferenceSession" in page.evaluate("getSelection().toString()")

    def test_the_errors_of_all_cases_that_are_listed(self, opened: Opened) -> None:
        page = opened("#openvino/cell/Div-14/float")
        listed = [r for r in report().results if (r.id.operator, r.id.element_type) == ("Div-14", "float")]
        ones = sum(r.verdict.ulps.get(0, 0) for r in listed)
        counts = page.locator(".panel:visible .histogram .count").all_text_contents()
        assert counts[0] == f"{ones:,}"

    def test_many_bars_are_fewer(self, opened: Opened, tmp_path: Path) -> None:
        ulps = Verdict(Kind.ULPS, "off", 60, 41, {power: power + 1 for power in range(40)}, 2**39)
        results = tuple(replace(r, verdict=ulps) for r in report().results[:2])
        path = tmp_path / "m.html"
        path.write_text(document([replace(report(), results=results)]), encoding="utf-8")
        bars = opened(path=path).locator(".cases > div .histogram")
        names = bars.locator("li span:first-child").all_text_contents()
        assert names[:2] == ["1 ulp", "2 to 3 ulps"]
        assert names[8:] == [f"2^{k} to below 2^{k + 8} ulps" for k in (8, 16, 24, 32)]
        counts = [int(count.replace(",", "")) for count in bars.locator(".count").all_text_contents()]
        assert sum(counts) == 2 * sum(range(41))
        assert counts[8] == 2 * sum(range(9, 17))


class TestKnownDeviations:
    """Each case shows the reason and the link that the file of known deviations gives for it."""

    def test_reason_and_link(self, opened: Opened, tmp_path: Path) -> None:
        given = report()
        rules = {r.verdict.kind: r.cause.removeprefix("rule: ") for r in given.results}
        types = tuple({r.id.element_type for r in given.results})
        lines = (
            KnownCause("a signal of the processor", types, rule=rules[Kind.CRASHED], link="https://example.org/1"),
            KnownCause("it takes all", types, rule=rules[Kind.ACCEPTED], link="javascript:alert(1)"),
        )
        known = KnownDeviations("openvino", given.selection.level, causes=lines, file=Path("known.txt"))
        path = tmp_path / "k.html"
        path.write_text(document([given], {"openvino": known}), encoding="utf-8")
        page = opened("#openvino/kind/crashed", path=path)
        page.locator(".list summary").first.click()
        page.locator(".list .body").first.wait_for()
        assert "Known: a signal of the processor" in page.locator(".list").inner_text()
        assert page.locator(".list a[href^='https:']").get_attribute("href") == "https://example.org/1"
        page = opened(f"#openvino/kind/{quote(Kind.ACCEPTED.value)}", path=path)
        page.locator(".list summary").first.click()
        page.locator(".list .body").first.wait_for()
        assert "Known: it takes all" in page.locator(".list").inner_text()
        assert page.locator("a[href^='javascript']").count() == 0
        assert "Known: a signal of the processor" in page.locator(".findings").inner_text()


class TestAppearance:
    """Readable on a phone and in the dark, with the contrast that WCAG AA asks for."""

    @pytest.mark.parametrize("fragment", ["", "#openvino", "#openvino/cell/Div-14/float"])
    def test_a_phone_scrolls_no_page_sideways(self, opened: Opened, fragment: str) -> None:
        page = opened(fragment, width=320)
        if fragment:
            page.locator(".panel:visible .list summary").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        box = page.locator(".panel:visible .scroll").last
        assert box.evaluate("box => box.scrollWidth > box.clientWidth")

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("fragment", ["", "#openvino/cell/Div-14/float"])
    def test_contrast(self, opened: Opened, scheme: Literal["light", "dark"], fragment: str) -> None:
        page = opened(fragment)
        page.emulate_media(color_scheme=scheme)
        for summary in page.locator(".panel:visible .list summary").all()[:1]:
            summary.click()
        contrast, text = page.evaluate(LOWEST_CONTRAST)
        assert contrast >= 4.5, text
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert max(ground) < 60 if scheme == "dark" else min(ground) > 200

    def test_print(self, opened: Opened) -> None:
        """Print shows every runtime without the lists of cases and their controls, and breaks no name of a type."""
        page = opened("#openvino", width=A4)
        assert page.locator('.cases [role="status"]:visible').count() == 1
        page.emulate_media(media="print")
        assert page.locator(".panel:visible").count() == 5
        assert page.get_by_role("tablist").is_hidden()
        assert page.locator('.cases [role="status"]:visible').count() == 0
        assert page.locator(".matrix thead th").count() > 10
        assert page.evaluate(BROKEN, ".matrix thead th + th") == []

    def test_a_phone_breaks_no_name_of_an_element_type(self, opened: Opened) -> None:
        page = opened("#overview", width=390)
        assert page.locator('.compare th[scope="row"]').count() > 10
        assert page.evaluate(BROKEN, '.compare th[scope="row"]') == []


class TestHostileText:
    """The text of a runtime stays text, whatever it contains."""

    def test_hostile_text(self, opened: Opened, tmp_path: Path) -> None:
        path = tmp_path / "h.html"
        path.write_text(document([hostile(), exact()]), encoding="utf-8")
        page = opened(path=path, width=320)
        for tab in page.get_by_role("tab").all():
            tab.click()
        page.get_by_role("tab").nth(1).click()
        assert len(cases(page)) == sum(kind.deviates for kind in Kind)
        for summary in page.locator(".panel:visible .list summary").all():
            summary.click()
        assert page.title() == "How two runtimes divide"
        assert page.locator("main img, main script").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        text = page.locator(".panel:visible .list").inner_text()
        assert HOSTILE[:85] in text
        assert "\\u202edesrever \\x00" in text
        page.locator(".panel:visible .cell a").first.click()
        assert len(cases(page)) == sum(kind.deviates for kind in Kind)
