"""Fingerprints: the findings of a run, and how the other element types are divided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reporting.conformance.reports import exact, hostile, report, run_of
from tests.reporting.printing import Told, whole
from vinculum.conformance.run.record import Cause, Gave, Kind, Verdict
from vinculum.reporting.conformance.fingerprint import Line, as_json, lines, page
from vinculum.reporting.conformance.view import view

RUN_TIME, DIVISOR, BOTH = "run-time operands", "constant divisor", "constant operands"
OK, WRONG, NONE = Verdict(Kind.EXACT), Verdict(Kind.WRONG_VALUE, "", 3, 1), Verdict(Kind.UNSUPPORTED)
REFUSED = Verdict(Kind.REFUSED_AS_REQUIRED)
OPEN = Verdict(Kind.UNSPECIFIED, unspecified=(Gave("x", "0", "MAX", "x > 0"), Gave("7", "0", "3")))
CAUSE = Cause("arithmetic: a * (1/b)", "multiplied", ("float",), 0)


def told(*asked: tuple[str, str, Verdict]) -> list[Line]:
    """Return the lines for cases, each an element type, a placement and a verdict; wrong values have one cause."""
    run = run_of(*((element_type, "a", way, verdict) for element_type, way, verdict in asked))
    results = tuple(replace(one, cause=CAUSE.name) if one.verdict is WRONG else one for one in run.results)
    return list(lines(view(replace(run, results=results, causes=(CAUSE,)))))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([("float", RUN_TIME, OK)], [Line(("float",), "correctly rounded")]),
        ([("int8", RUN_TIME, OK), ("uint8", RUN_TIME, OK)], [Line(("int8", "uint8"), "exact")]),
        ([("int8", RUN_TIME, OPEN)], [Line(("int8",), "exact"), Line(("int8",), "x/0 gives MAX for x > 0")]),
        ([("int4", RUN_TIME, NONE), ("int4", RUN_TIME, REFUSED)], [Line(("int4",), "not supported")]),
        ([("int4", RUN_TIME, REFUSED)], []),
        ([("float", RUN_TIME, WRONG), ("float", BOTH, OK)], [Line(("float",), f"multiplied (with {RUN_TIME})", True)]),
        ([("float", RUN_TIME, OK), ("float", BOTH, WRONG), ("float", DIVISOR, WRONG)],
         [Line(("float",), f"multiplied (with {BOTH}, {DIVISOR})", True)]),
        ([("float", RUN_TIME, WRONG), ("float", DIVISOR, WRONG)], [Line(("float",), "multiplied", True)]),
    ],
)  # fmt: skip
def test_each(asked: list[tuple[str, str, Verdict]], expected: list[Line]) -> None:
    assert told(*asked) == expected


def test_hostile_text() -> None:
    assert whole(page(hostile(), verbose=True)).replace("\n", "").isprintable()


TOLD: Told = {
    "a page": lambda _: page(report()),
    "a verbose page": lambda _: page(report(), verbose=True),
    "JSON": lambda _: as_json(report()),
    "nothing deviates": lambda _: page(exact()),
}
