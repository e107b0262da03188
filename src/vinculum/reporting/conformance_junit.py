"""Conformance reports as JUnit XML, which build servers read: a test suite for each runtime, a test for each case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from vinculum.conformance.report import Report, Result
from vinculum.conformance.verdict import Kind
from vinculum.reporting.conformance_findings import example_sentence
from vinculum.reporting.conformance_matrix import deviates

# A test that fails said something wrong; one that has an error said nothing.
_ERRORS = (Kind.CRASHED, Kind.HUNG, Kind.OUT_OF_MEMORY)
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(reports: Sequence[Report]) -> str:
    r"""Return a document that every XML reader takes, whatever the runtimes said.

    What XML has no way to say, control characters above all, stands there as Python writes it: ``\x1b``.
    """
    root = ElementTree.Element("testsuites", {"name": "vinculum conform", **_totals(reports)})
    titles = [report.title for report in reports]
    for report in reports:
        # A runtime may be asked with several options; build servers know suites by their names.
        name = report.title if titles.count(report.title) == 1 else f"{report.title} ({report.backend})"
        suite = ElementTree.SubElement(root, "testsuite", {"name": legal(name), **_totals([report])})
        properties = ElementTree.SubElement(suite, "properties")
        facts = {"backend": report.backend, "level": report.level.name.lower(), **report.versions}
        for name, value in facts.items():
            ElementTree.SubElement(properties, "property", {"name": legal(name), "value": legal(value)})
        for result in report.results:
            _add_case(suite, result)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def legal(text: str) -> str:
    """Return the text with every character that XML 1.0 cannot hold written as its escape."""
    return _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def _totals(reports: Sequence[Report]) -> dict[str, str]:
    kinds = [result.verdict.kind for report in reports for result in report.results]
    return {
        "tests": str(len(kinds)),
        "failures": str(sum(deviates(kind) and kind not in _ERRORS for kind in kinds)),
        "errors": str(sum(kind in _ERRORS for kind in kinds)),
        "skipped": str(sum(kind is Kind.UNSUPPORTED for kind in kinds)),
        "time": f"{sum(report.seconds for report in reports):.3f}",
    }


def _add_case(suite: ElementTree.Element, result: Result) -> None:
    verdict = result.verdict
    names = {"classname": legal(f"{result.operator}.{result.element_type}"), "name": legal(result.id)}
    case = ElementTree.SubElement(suite, "testcase", names)
    message = legal(f"{verdict.kind.value}: {verdict.words}" if verdict.words else verdict.kind.value)
    if verdict.kind is Kind.UNSUPPORTED:
        ElementTree.SubElement(case, "skipped", {"message": message})
    elif deviates(verdict.kind):
        tag = "error" if verdict.kind in _ERRORS else "failure"
        fault = ElementTree.SubElement(case, tag, {"type": verdict.kind.value, "message": message})
        fault.text = legal(_details(result))
    elif verdict.words:
        ElementTree.SubElement(case, "system-out").text = message


def _details(result: Result) -> str:
    example = result.verdict.example
    parts = [f"Clause {result.clause}: {result.statement}"]
    if example is not None:
        parts.append(f"At index {example.index}: {example_sentence(example)}")
    if result.reproducer:
        parts.append(result.reproducer)
    return "\n\n".join(parts)
