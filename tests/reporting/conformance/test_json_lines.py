"""Conformance as JSON lines: everything that a report holds, in lines that every reader takes."""

from __future__ import annotations

import json
from typing import Any

from tests.reporting.conformance.reports import exact, hostile, report
from vinculum.conformance.execute.run import Run
from vinculum.conformance.oracle.verdict import Kind
from vinculum.reporting.conformance.json_lines import lines
from vinculum.reporting.conformance.words import message


def read(given: Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the object on the run and those on the cases."""
    run, *cases = map(json.loads, lines(given))
    return run, cases


NUMBER, TEXT, NONE = int, str, type(None)
RUN = {
    "type": TEXT, "backend": TEXT, "title": TEXT, "versions": dict, "level": TEXT, "seconds": float, "counts": dict,
}  # fmt: skip
CASE = {
    "type": TEXT, "backend": TEXT, "id": TEXT, "clause": TEXT, "statement": TEXT, "operator": TEXT,
    "element_type": TEXT, "verdict": TEXT, "passes": bool, "deviates": bool, "words": TEXT, "elements": NUMBER,
    "differing": NUMBER, "ulps": dict, "largest": (NUMBER, NONE), "example": (dict, NONE), "reproducer": (TEXT, NONE),
}  # fmt: skip
EXAMPLE = {"index": list, "operands": list, "expected": TEXT, "actual": TEXT}


def has_form(given: dict[str, Any], form: dict[str, Any]) -> bool:
    """Tell whether an object has exactly these keys, and values of these types."""
    return list(given) == list(form) and all(isinstance(given[key], form[key]) for key in form)


class TestLines:
    """Issue 4, point 6: `--json` lines."""

    def test_the_form_that_is_promised(self) -> None:
        for given in (report(), hostile(), exact()):
            run, cases = read(given)
            assert has_form(run, RUN)
            assert {type(value) for value in run["versions"].values()} == {str}
            assert {type(value) for value in run["counts"].values()} == {int}
            for case in cases:
                assert has_form(case, CASE)
                assert all(key.isdigit() and type(count) is int for key, count in case["ulps"].items())
                if case["example"] is not None:
                    assert has_form(case["example"], EXAMPLE)
                    assert {type(text) for text in case["example"]["operands"]} == {str}
        documented = " ".join((lines.__doc__ or "").split())
        assert all(f'"{key}"' in documented for key in (*RUN, *CASE, *EXAMPLE))

    def test_the_run(self) -> None:
        given = report()
        run, cases = read(given)
        assert run["type"] == "run"
        assert (run["backend"], run["title"], run["level"]) == ("openvino", "OpenVINO", "default")
        assert run["versions"] == given.versions
        assert sum(run["counts"].values()) == len(cases) == len(given.results)

    def test_the_cases(self) -> None:
        given = report()
        _, cases = read(given)
        for case, result in zip(cases, given.results, strict=True):
            assert case["type"] == "case"
            assert (case["id"], case["clause"], case["statement"]) == (str(result.id), result.clause, result.statement)
            assert (case["operator"], case["element_type"]) == (result.id.operator, result.id.element_type)
            assert case["verdict"] == result.verdict.kind.value
            assert case["reproducer"] == result.reproducer
        ulps = next(case for case in cases if case["verdict"] == "off by ulps")
        assert ulps["passes"] is False
        assert ulps["deviates"] is True
        assert ulps["ulps"]["20"] == 1
        assert ulps["largest"] == 2**20
        assert ulps["example"]["operands"] == ["1.1754944e-38 (0x00800000)", "3.0 (0x40400000)"]
        assert (ulps["elements"], ulps["differing"]) == (1024, 235)

    def test_what_is_not_supported_neither_passes_nor_deviates(self) -> None:
        _, cases = read(report())
        case = next(case for case in cases if case["verdict"] == Kind.UNSUPPORTED.value)
        assert (case["passes"], case["deviates"]) == (False, False)

    def test_hostile_text(self) -> None:
        given = hostile()
        assert all(line.isascii() and line.isprintable() for line in lines(given))
        _, cases = read(given)
        assert [case["words"] for case in cases] == [message(result.verdict) for result in given.results]
