"""The survey: what runtimes give where the specification is silent, and what a finding shows."""

from __future__ import annotations

from dataclasses import replace

from tests.reporting.conformance.reports import exact, report, run_of
from vinculum.conformance.cases.enumeration import value_classes
from vinculum.conformance.run.verdict import Example, Gave, Kind, Verdict
from vinculum.reporting.conformance.html import document
from vinculum.reporting.conformance.view import Severity, severity, silence, view
from vinculum.spec.element_types import INT32

REFUSED = Verdict(Kind.UNSPECIFIED, "Integer division by zero")


def gave(*unspecified: Gave) -> Verdict:
    return Verdict(Kind.UNSPECIFIED, unspecified=unspecified)


RUN_TIME, CONSTANT = "run-time operands", "constant operands"
MIN = "MIN divided by -1"
MINE = run_of(
    ("int32", "zero divisors", RUN_TIME, gave(Gave("x", "0", "0"))),
    ("int32", "zero divisors", CONSTANT, REFUSED),
    ("int32", MIN, RUN_TIME, gave(Gave("MIN", "-1", "MIN"))),
    ("int32", MIN, RUN_TIME, Verdict(Kind.CRASHED, "SIGFPE")),
    ("int32", MIN, RUN_TIME, Verdict(Kind.UNSUPPORTED, "no such version")),
    ("int32", MIN, CONSTANT, Verdict(Kind.CRASHED, "SIGFPE")),
    ("int32", "all signs", RUN_TIME, Verdict(Kind.EXACT)),
    ("int64", "zero divisors", RUN_TIME, gave(Gave("x", "0", "MIN", "x < 0"), Gave("0", "0", "0"))),
    ("int8", "zero divisors", RUN_TIME, Verdict(Kind.UNSUPPORTED, "none")),
)


class TestSilence:
    """Where the documents say nothing, every runtime's answer is told by element type."""

    def test_in_a_word(self) -> None:
        other = replace(run_of(("int32", "zero divisors", RUN_TIME, REFUSED)), backend="other")
        rows = {(row.question, row.element_type): [g.words for g in row.given] for row in silence([MINE, other])}
        assert rows == {
            ("x / 0", "int8"): ["not supported", ""],
            ("x / 0", "int32"): ["0; folded: refused", "refused"],
            ("x / 0", "int64"): ["x/0 gave MIN for x < 0, 0/0 gave 0", ""],
            ("MIN / -1", "int32"): ["MIN or SIGFPE; folded: SIGFPE", ""],
        }

    def test_the_worst_is_known(self) -> None:
        (row,) = (row for row in silence([MINE]) if row.question == "MIN / -1")
        assert row.given[0].kind is Kind.CRASHED

    def test_the_names_are_those_of_the_suite(self) -> None:
        tried = {one.tried for one in value_classes(INT32, 2)}
        assert {"zero divisors", "a zero divisor", MIN} <= tried

    def test_nothing_was_asked(self) -> None:
        assert silence([run_of(("int32", "all signs", RUN_TIME, Verdict(Kind.EXACT)))]) == ()

    def test_it_is_on_the_page(self) -> None:
        for reports in ([MINE], [MINE, exact()]):
            page = document(reports)
            assert page.count("Where the specification is silent") == 1
            assert "MIN or SIGFPE; folded: SIGFPE" in page
            assert page.index(">x / 0<") < page.index(">MIN / -1<")
        assert "Where the specification is silent" not in document([replace(MINE, results=MINE.results[6:7])])


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
