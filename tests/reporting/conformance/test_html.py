"""The HTML page of conformance runs: its data, and that text from runtimes never becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

from tests.reporting.conformance.reports import exact, hostile, only, report
from tests.reporting.printing import Told, body_of
from vinculum.conformance.cases.case import CaseId, Level
from vinculum.conformance.expect import KnownCause, KnownDeviations
from vinculum.conformance.run.record import Run, Selection
from vinculum.reporting.conformance.html import data, document
from vinculum.reporting.conformance.view import view


class Reader(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every such element."""
        return [attributes for name, attributes in self.elements if name == tag]


def test_it_fetches_nothing_and_allows_its_own_script_only() -> None:
    page = document([report(), exact()])
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
    (policy,) = (a["content"] for a in read.all("meta") if a.get("http-equiv"))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_every_case() -> None:
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
    """Text from a runtime does not become markup, end the script or contain hidden characters."""

    def test_markup(self) -> None:
        given = hostile()
        read = Reader(document([given, exact()]))
        tame = Reader(document([_tame(given), exact()]))
        assert [tag for tag, _ in read.elements] == [tag for tag, _ in tame.elements]
        names = [sorted(attributes) for _, attributes in read.elements]
        assert names == [sorted(attributes) for _, attributes in tame.elements]

    def test_no_character_hides_and_the_data_are_whole(self) -> None:
        text = document([hostile()])
        assert all(character.isprintable() or character == "\n" for character in text)
        assert "7 * 7 }}" in text
        found = re.search(r'<script type="application/json" id="vinculum-data">(.*?)</script>', text, re.DOTALL)
        assert found is not None
        read = json.loads(found[1])
        texts, (runtime,) = read["texts"], read["runtimes"]
        said = [texts[case[read["columns"].index("words")]] for case in runtime["cases"]]
        assert max(map(len, said)) == 2003, "what a runtime said is cut off"
        assert any("</script><script>" in one for one in texts)
        assert any("\\u202edesrever" in one for one in texts)


def _tame(given: Run) -> Run:
    """Return a run of the same form with plain texts."""
    results = tuple(
        replace(r, id=CaseId("Div", "", "float", str(number), "d", "e"), statement="s", clause="c")
        for number, r in enumerate(given.results)
    )
    return Run("b", "t", {"v": "1"}, given.selection, results, given.causes, given.date, 1.0)


LINK = "https://example.org/1?a=b&c=d"
KNOWN = KnownDeviations(
    "openvino",
    Level.DEFAULT,
    causes=(
        KnownCause("it multiplies", ("float",), "a * (1/b)", link=LINK),
        KnownCause("it does so too", ("double",), "a * (1/b)"),
        KnownCause("no", ("int64",)),
    ),
)
PARTLY = replace(report(), selection=Selection(Level.QUICK, ("Div-*", "<b>")), results=report().results[::45])

TOLD: Told = {
    "two runtimes": lambda _: body_of(document([only(report()), only(exact())], {"openvino": KNOWN})),
    "one runtime, some cases": lambda _: body_of(document([PARTLY], {"openvino": KNOWN})),
    "no case": lambda _: body_of(document([replace(report(), results=())])),
}
