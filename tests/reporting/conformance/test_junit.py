"""Conformance runs as JUnit XML, which is well-formed for any text of a runtime."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import fromstring

from tests.reporting.conformance.reports import HOSTILE, exact, hostile, only, report
from tests.reporting.formats import check_junit
from tests.reporting.printing import Told
from vinculum.conformance.run.record import Kind, Run
from vinculum.reporting.conformance.junit import document, legal


def read(*reports: Run) -> Any:
    """Return the root of the document, parsed from the bytes of its file."""
    return fromstring(document(reports).encode("utf-8"))


def test_it_is_as_the_schema_says() -> None:
    check_junit(read(report(), exact(), hostile()))


class TestHostileText:
    """Control characters, lone surrogates and markup are written as text."""

    def test_it_is_well_formed(self) -> None:
        root = read(hostile())
        faults = {"failure", "error", "skipped", "system-out"}
        frame = {"testsuites", "testsuite", "properties", "property", "testcase"}
        assert {element.tag for element in root.iter()} == frame | faults
        failure = next(root.iter("failure"))
        assert HOSTILE[:85] in failure.get("message")

    def test_every_illegal_character_is_escaped(self) -> None:
        everything = "".join(map(chr, range(0x110000)))
        escaped = legal(everything)
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", escaped)
        assert legal("tab\t, new line\n and \u20ac \U0001f600 stay") == "tab\t, new line\n and \u20ac \U0001f600 stay"
        assert fromstring(f"<a>{escaped.replace('&', '').replace('<', '')}</a>".encode()).text


TOLD: Told = {
    "a case of each kind": lambda _: document([only(report()), only(exact())]),
    "two runs of one runtime": lambda _: document([only(report(b), Kind.EXACT) for b in ("openvino", "openvino[x=y]")]),
}
