"""The documentation site of `make docs`: it builds without a warning, has no dead link, and works as files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

import pytest

import vinculum
from tests.browser import opened_page
from tests.cases import case
from tests.optional import skip_or_fail
from tests.processes import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

ROOT = Path(__file__).parents[3]
PHONE: ViewportSize = {"width": 390, "height": 844}
LOOKED_AT = (
    "index.html",
    "tutorial/crash.html",
    "how-to/openvino-deviation.html",
    "reference/operators/div-6.html",
    "reference/commands/conform.html",
    "reference/python/division.html",
    "reference/conformance.html",
    "reference/survey.html",
    "reference/survey/openvino.html",
    "architecture.html",
    "performance.html",
    "traceability.html",
    "explanation/speed.html",
)


class Links(HTMLParser):
    """The links of a page, the files that it loads, and its anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors = {""}
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name, value in attrs if value and (name == "id" or (tag, name) == ("a", "name"))}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"] or "")
        for name in ("src", "data"):
            if given.get(name) and tag != "a":
                self.loaded.add(given[name] or "")
        if tag == "link" and given.get("href") and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.add(given["href"] or "")


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built with warnings as errors."""
    if find_spec("mkdocs") is None or find_spec("material") is None:
        skip_or_fail(request, "MkDocs and its theme: make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    paths = os.pathsep.join(filter(None, [str(ROOT), *sys.path]))
    done = run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"})
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    """Return the links of each page of the site."""
    return {path: Links(path) for path in site.rglob("*.html")}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Yield a page that fails if it logs anything or uses the network."""
    with opened_page(browser, one_file=False) as page:
        yield page


class TestFiles:
    """The site works offline, and every link leads somewhere."""

    def test_every_link_and_anchor(self, site: Path, pages: dict[Path, Links]) -> None:
        assert len(pages) > 100
        dead = []
        for path, found in pages.items():
            if path.name == "404.html":
                continue
            for link in found.links | found.loaded:
                parts = urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
                known = pages.get(target)
                anchored = known is None or unquote(parts.fragment) in known.anchors
                if not (known or target.is_file()) or not anchored:
                    dead.append(f"{path.relative_to(site)}: {link}")
        assert dead == []

    def test_nothing_is_loaded_from_elsewhere(self, site: Path, pages: dict[Path, Links]) -> None:
        for path, found in pages.items():
            with case(path.relative_to(site)):
                assert [link for link in found.loaded if urlsplit(link).netloc] == []

    def test_each_operator_version_and_command_has_a_page(self, site: Path) -> None:
        from vinculum.cli.main import app
        from vinculum.spec.rows import ROWS

        assert len(list((site / "reference" / "operators").glob("*.html"))) == len(ROWS) + 1
        commands = {path.stem for path in (site / "reference" / "commands").glob("*.html")}
        named = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
        assert commands == {*named, "index", "vectors-export"}

    def test_every_public_name_is_in_the_reference(self, site: Path, pages: dict[Path, Links]) -> None:
        reference = [found for path, found in pages.items() if path.parent == site / "reference" / "python"]
        named = {anchor.rpartition(".")[2] for found in reference for anchor in found.anchors}
        assert [name for name in vinculum.__all__ if name not in named] == []


class TestBrowser:
    """The site in a real browser."""

    def test_search(self, site: Path, page: Page) -> None:
        page.goto((site / "index.html").as_uri())
        page.click("input.md-search__input")
        page.keyboard.type("subnormal")
        page.wait_for_selector(".md-search-result__link mark")
        links = page.locator(".md-search-result__link")
        assert links.count() > 3
        links.first.click()
        page.wait_for_url("**/*.html?h=*")
        assert "subnormal" in page.inner_text("article").lower()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_phone(self, site: Path, page: Page, scheme: Literal["light", "dark"]) -> None:
        """No page scrolls sideways, and dark is dark."""
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(PHONE)
        for name in LOOKED_AT:
            with case(name):
                page.goto((site / name).as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
                colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
                assert (sum(map(int, colour[4:-1].split(","))) < 3 * 80) == (scheme == "dark")

    def test_the_survey_is_in_the_site_and_opens(self, site: Path, page: Page) -> None:
        """On a phone all answers are visible without scrolling sideways."""
        page.set_viewport_size(PHONE)
        page.goto((site / "reference" / "survey.html").as_uri())
        answers = page.locator(".survey tbody tr").first.locator("td")
        assert answers.count() == 11
        for place in range(11):
            box = answers.nth(place).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]
        answers.nth(1).locator("a").click()
        page.wait_for_url("**/survey/onnxruntime.html#1")
        assert page.locator("pre:visible").first.inner_text().startswith("import")
