"""The view of a run: the example of a finding, and severities."""

from __future__ import annotations

from dataclasses import replace

from tests.reporting.conformance.reports import report
from vinculum.conformance.run.record import Example, Gave, Kind, Verdict
from vinculum.reporting.conformance.view import KINDS, Finding, Severity, message, severity

ULPS = [r for r in report().results if r.verdict.kind is Kind.ULPS]
EXAMPLES = (
    Example((0,), ("5/3", "7"), "5/21", "0"),
    Example((5,), ("7.0 (0x40e00000)", "3.0 (0x40400000)"), "2.3333333 (0x40155555)", "2.3 (0x40133333)"),
    ULPS[0].verdict.example,
    Example((0,), ("nan (0x7fc00000)", "inf (0x7f800000)"), "nan (0x7fc00000)", "0.0 (0x00000000)"),
    None,
)
"""From what a person reads easily to what is hard to read."""


def test_the_example_that_is_easiest_to_read_is_shown_and_of_equal_ones_the_smallest() -> None:
    best_first = [
        replace(ULPS[0], verdict=replace(ULPS[0].verdict, example=example, elements=elements))
        for example in EXAMPLES
        for elements in (2, 9)
    ]
    for place, best in enumerate(best_first):
        assert Finding(tuple(reversed(best_first[place:])), "", "").shown is best


def test_of_a_death_where_there_is_one() -> None:
    for kind in (kind for kind in Kind if kind.deviates and kind is not Kind.ULPS):
        told = replace(ULPS[0], verdict=Verdict(kind, "without an example"))
        assert (Finding((told, ULPS[0]), "", "").shown is told) == (KINDS[kind].severity is Severity.FATAL)


def test_errors_of_256_ulps_and_more_are_no_rounding() -> None:
    found = [severity(Verdict(Kind.ULPS, largest=ulps)) for ulps in (1, 255, 256, 2**30)]
    assert found == [Severity.ULPS, Severity.ULPS, Severity.WRONG, Severity.WRONG]


def test_wrong_quotients_beside_unspecified_ones() -> None:
    verdict = Verdict(Kind.WRONG_VALUE, "", 1, 1, unspecified=(Gave("7", "0", "9"),))
    assert message(verdict) == "1 of 1 quotient is wrong; where it is unspecified: 7/0 gave 9"
