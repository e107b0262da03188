"""Conformance as JUnit XML: as Jenkins' schema had it when it was recorded, and well-formed whatever a runtime said."""

from __future__ import annotations

import re
from xml.etree.ElementTree import fromstring

from tests.reporting.conformance.reports import HOSTILE, exact, hostile, only, report
from tests.reporting.printing import Told
from vinculum.conformance.run.verdict import Kind
from vinculum.reporting.conformance.junit import document, legal


def test_hostile_text_is_text() -> None:
    root = fromstring(document([hostile()]).encode("utf-8"))
    faults = {"failure", "error", "skipped", "system-out"}
    frame = {"testsuites", "testsuite", "properties", "property", "testcase"}
    assert {element.tag for element in root.iter()} == frame | faults
    failure = next(root.iter("failure"))
    assert HOSTILE[:85] in str(failure.get("message"))


def test_every_illegal_character_is_escaped() -> None:
    everything = "".join(map(chr, range(0x110000)))
    escaped = legal(everything)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", escaped)
    assert legal("tab\t, new line\n and \u20ac \U0001f600 stay") == "tab\t, new line\n and \u20ac \U0001f600 stay"
    assert fromstring(f"<a>{escaped.replace('&', '').replace('<', '')}</a>".encode()).text


TOLD: Told = {
    "a case of each kind": lambda _: document([only(report()), only(exact())]),
    "two runs of one runtime": lambda _: document([only(report(b), Kind.EXACT) for b in ("openvino", "openvino[x=y]")]),
}
