"""The HTML page of conformance: what is there without JavaScript, and that nothing a runtime said becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.reporting.conformance.reports import exact, hostile, only, report
from tests.reporting.printing import Told, body_of
from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.expect import KnownCause, KnownDeviations
from vinculum.conformance.run.record import Run, Selection
from vinculum.reporting.conformance.html import data, document
from vinculum.reporting.conformance.view import view
from vinculum.spec.rows import ROWS


class Reader(HTMLParser):
    """The elements of a page, with their attributes, and its texts by the element that they stand in."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements:
            tag = self.elements[-1][0]
            self.texts[tag] = self.texts.get(tag, "") + data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every such element."""
        return [attributes for name, attributes in self.elements if name == tag]


def embedded(page: str) -> Any:
    """Return the data that stand in a page."""
    found = re.search(r'<script type="application/json" id="vinculum-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def page() -> str:
    """Return a page on four runtimes."""
    return document(
        [report(), exact(), report("torch", "PyTorch", ROWS[3:5]), report("onnxruntime", "ONNX Runtime", ROWS[:8])]
    )


class TestPage:
    """One self-contained HTML page."""

    def test_it_fetches_nothing(self, page: str) -> None:
        read = Reader(page)
        assert not [a for _, a in read.elements if "src" in a or "srcset" in a or "data" in a]
        assert not read.all("link")
        assert not read.all("img")
        assert "url(" not in page
        assert "@import" not in page
        links = {a.get("href") or "#" for a in read.all("a")}
        elsewhere = {link for link in links if not link.startswith("#")}
        assert len(elsewhere) == 4, "the four documents"
        assert all(link.startswith("https://") for link in elsewhere)

    def test_its_policy_allows_its_own_script_only(self, page: str) -> None:
        (policy,) = (a["content"] for a in Reader(page).all("meta") if a.get("http-equiv"))
        script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        assert len(script) == 1
        digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
        assert policy is not None
        assert "default-src 'none'" in policy
        assert f"script-src 'sha256-{digest}'" in policy

    def test_size(self) -> None:
        # Each runtime has 1,800 cases; texts that several have in common stand in the page once.
        assert len(document([report(f"r{k}", f"Runtime {k}") for k in range(4)]).encode()) < 950_000


class TestData:
    """The cases stand in the page once, for its script."""

    def test_every_case(self) -> None:
        given = report()
        read = json.loads(data([view(given)]))
        (runtime,) = read["runtimes"]
        assert [read["texts"][case[0]] for case in runtime["cases"]] == [str(r.id) for r in given.results]
        for case, result in zip(runtime["cases"], given.results, strict=True):
            row = dict(zip(read["columns"], case, strict=False))
            assert read["kinds"][row["kind"]][0] == result.verdict.kind.value
            lines = row.get("source")
            source = None if lines is None else "\n".join(read["texts"][line] for line in lines) + "\n"
            assert source == (result.reproducer if result.verdict.kind.deviates else None)
            found = row.get("finding")
            assert (found is None) == (not result.verdict.kind.deviates)
            if result.cause:
                statement = next(cause.statement for cause in given.causes if cause.name == result.cause)
                assert runtime["findings"][found] == statement
        assert len(set(read["texts"])) == len(read["texts"])


class TestHostileText:
    """Nothing that a runtime said becomes markup, ends the script, or hides what it is."""

    def test_markup(self) -> None:
        given = hostile()
        read = Reader(document([given, exact()]))
        tame = Reader(document([_tame(given), exact()]))
        assert [tag for tag, _ in read.elements] == [tag for tag, _ in tame.elements]
        names = [sorted(attributes) for _, attributes in read.elements]
        assert names == [sorted(attributes) for _, attributes in tame.elements]

    def test_no_character_hides(self) -> None:
        text = document([hostile()])
        assert all(character.isprintable() or character == "\n" for character in text)
        assert "7 * 7 }}" in text

    def test_the_data_are_whole(self) -> None:
        read = embedded(document([hostile()]))
        assert any("</script><script>" in text for text in read["texts"])
        assert any("\\u202edesrever" in text for text in read["texts"])


def _tame(given: Run) -> Run:
    """Return a report of the same form whose texts are plain."""
    results = tuple(
        replace(r, id=CaseId("Div", "", "float", str(number), "d", "e"), statement="s", clause="c")
        for number, r in enumerate(given.results)
    )
    return Run("b", "t", {"v": "1"}, given.selection, results, given.causes, given.date, 1.0)


LINK = "https://example.org/1?a=b&c=d"
KNOWN = KnownDeviations(
    "openvino",
    Level.DEFAULT,
    causes=(KnownCause("it multiplies", ("float", "double"), "a * (1/b)", link=LINK), KnownCause("no", ("int64",))),
)
PARTLY = replace(report(), selection=Selection(Level.QUICK, ("Div-*", "<b>")), results=report().results[::45])

TOLD: Told = {
    "two runtimes": lambda _: body_of(document([only(report()), only(exact())], {"openvino": KNOWN})),
    "one runtime, some cases": lambda _: body_of(document([PARTLY])),
    "no case": lambda _: body_of(document([replace(report(), results=())])),
}
