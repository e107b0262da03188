"""Conformance runs as JUnit XML, which build servers read: a test suite for each runtime, a test for each case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from vinculum.conformance.run.record import Kind, Result, Run
from vinculum.reporting.conformance.view import example_sentence, message

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(runs: Sequence[Run]) -> str:
    r"""Return a document that is well-formed for any text of a runtime.

    Characters that XML cannot represent, such as control characters, are written as in Python: ``\x1b``.
    """
    root = ElementTree.Element("testsuites", {"name": "vinculum conform", **_totals(runs)})
    titles = [run.title for run in runs]
    for run in runs:
        # A runtime may be run with several options; build servers identify suites by their names.
        name = run.title if titles.count(run.title) == 1 else f"{run.title} ({run.backend})"
        skipped = {"skipped": str(run.counts()[Kind.UNSUPPORTED])}  # The schema allows it for a suite only.
        suite = ElementTree.SubElement(root, "testsuite", {"name": legal(name), **_totals([run]), **skipped})
        properties = ElementTree.SubElement(suite, "properties")
        facts = {"backend": run.backend, "level": run.selection.level.value, **run.versions}
        for name, value in facts.items():
            ElementTree.SubElement(properties, "property", {"name": legal(name), "value": legal(value)})
        for result in run.results:
            _add_case(suite, result)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def legal(text: str) -> str:
    """Return the text with every character that XML 1.0 cannot hold written as its escape."""
    return _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def _totals(runs: Sequence[Run]) -> dict[str, str]:
    kinds = [result.verdict.kind for run in runs for result in run.results]
    return {
        "tests": str(len(kinds)),
        # A failure is a wrong answer, an error is none.
        "failures": str(sum(kind.deviates and not kind.is_death for kind in kinds)),
        "errors": str(sum(kind.is_death for kind in kinds)),
        "time": f"{sum(run.seconds for run in runs):.3f}",
    }


def _add_case(suite: ElementTree.Element, result: Result) -> None:
    verdict = result.verdict
    names = {"classname": legal(f"{result.id.operator}.{result.id.element_type}"), "name": legal(str(result.id))}
    case = ElementTree.SubElement(suite, "testcase", names)
    said = message(verdict)
    told = legal(f"{verdict.kind.value}: {said}" if said else verdict.kind.value)
    if verdict.kind is Kind.UNSUPPORTED:
        ElementTree.SubElement(case, "skipped", {"message": told})
    elif verdict.kind.deviates:
        tag = "error" if verdict.kind.is_death else "failure"
        fault = ElementTree.SubElement(case, tag, {"type": verdict.kind.value, "message": told})
        fault.text = legal(_details(result))
    elif said:
        ElementTree.SubElement(case, "system-out").text = told


def _details(result: Result) -> str:
    example = result.verdict.example
    parts = [f"Clause {result.clause}: {result.statement}"]
    if example is not None:
        parts.append(f"At index {example.index}: {example_sentence(example)}")
    if result.reproducer:
        parts.append(result.reproducer)
    return "\n\n".join(parts)
