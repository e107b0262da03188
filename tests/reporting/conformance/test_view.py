"""A run as every report shows it: what a finding shows, and how bad it is."""

from __future__ import annotations

from dataclasses import replace

from tests.reporting.conformance.reports import exact, report
from vinculum.conformance.run.verdict import Example, Kind, Verdict
from vinculum.reporting.conformance.html import document
from vinculum.reporting.conformance.view import KINDS, Finding, Severity, severity, view


class TestExamples:
    """An example has numbers that a person reads easily, where one of the worst verdict has."""

    def test_ordinary_numbers_first(self) -> None:
        given = report()
        strange, plain = [r for r in given.results if r.verdict.kind is Kind.ULPS][:2]
        example = Example((5,), ("7.0 (0x40e00000)", "3.0 (0x40400000)"), "2.3333333 (0x40155555)", "2.3 (0x40133333)")
        plain = replace(plain, verdict=replace(plain.verdict, example=example, elements=9999))
        (finding,) = view(replace(given, results=(strange, plain))).findings
        assert finding.shown is plain

    def test_fractions_and_words(self) -> None:
        given = report()
        first, second = [r for r in given.results if r.verdict.kind is Kind.ULPS][:2]
        of_reals = Example((0,), ("5/3", "7"), "5/21", "0")
        of_nan = Example((0,), ("nan (0x7fc00000)", "inf (0x7f800000)"), "nan (0x7fc00000)", "0.0 (0x00000000)")
        first = replace(first, verdict=replace(first.verdict, example=of_nan))
        second = replace(second, verdict=replace(second.verdict, example=of_reals))
        (finding,) = view(replace(given, results=(first, second))).findings
        assert finding.shown is second

    def test_of_a_death_where_there_is_one(self) -> None:
        plain = next(r for r in report().results if r.verdict.kind is Kind.ULPS)
        for kind in (kind for kind in Kind if kind.deviates and kind is not Kind.ULPS):
            told = replace(plain, verdict=Verdict(kind, "without an example"))
            assert (Finding((told, plain), "", "").shown is told) == (KINDS[kind].severity is Severity.FATAL)


class TestSeverity:
    """How bad a verdict is: errors of 256 ulps and more are no rounding."""

    def test_of_ulps(self) -> None:
        found = [severity(Verdict(Kind.ULPS, largest=ulps)) for ulps in (1, 255, 256, 2**30)]
        assert found == [Severity.ULPS, Severity.ULPS, Severity.WRONG, Severity.WRONG]

    def test_the_worst_of_several(self) -> None:
        given = report()
        assert view(given).severity is Severity.FATAL
        assert view(exact()).severity is Severity.OK


class TestAnswersThatDiffer:
    """They are counted apart from what is unexplained."""

    def test_it_is_a_finding(self) -> None:
        given = report()
        first, *others = [r for r in given.results if r.verdict.kind is Kind.ULPS]
        differs = replace(first, verdict=replace(first.verdict, kind=Kind.DIFFERS, said="exact, crashed"), cause="")
        one = view(replace(given, results=(differs, *others)))
        assert [f.statement for f in one.findings if not f.name] == ["answers differ between runs"]
        assert one.explained.endswith("; 0 unexplained, and 1 of which the answers differ between runs.")
        assert one.run.unexplained == ()


class TestWhatIsRefuted:
    """An arithmetic that other cases refute is named, and is no cause."""

    def test_it_is_a_finding(self) -> None:
        words = "consistent with: computed as a * b; but 3 other cases refute it"
        first, second, *others = [r for r in report().results if r.verdict.kind is Kind.ULPS]
        told = [replace(one, cause="", consistent=words) for one in (first, second)]
        given = replace(report(), results=(*told, replace(others[0], cause="")))
        assert [(f.statement, f.total, f.name) for f in view(given).findings] == [
            (f"unexplained, {words}", 2, ""),
            ("unexplained: off by ulps", 1, ""),
        ]
        assert f"unexplained, {words}" in document([given])
        assert len(given.unexplained) == 3
