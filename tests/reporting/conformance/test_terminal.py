"""The terminal page of a conformance run: readable without colour at 80 columns, and no longer than a screen or two."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from tests.reporting.conformance.reports import exact, hostile, report, reproducer
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import KnownCause, KnownDeviations
from vinculum.conformance.run.record import Run
from vinculum.conformance.run.verdict import Kind, Verdict
from vinculum.reporting.conformance.terminal import page
from vinculum.reporting.conformance.view import KINDS, WORST_FIRST, ulps_text, view, worst
from vinculum.reporting.conformance.words import verdict_sentence


def printed(*reports: Run, width: int = 80, verbose: bool = False) -> list[str]:
    """Return the lines that a reader without a terminal sees."""
    file = StringIO()
    console = Console(width=width, file=file, highlight=False)
    console.print(page(reports, width=width, verbose=verbose), crop=False)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def only_partly_supported() -> Run:
    """Return a report of one cell: 13 cases pass, of the others none is supported."""
    none = Verdict(Kind.UNSUPPORTED, "no kernel")
    results = [r for r in exact().results if (r.id.operator, r.id.element_type) == ("Div-14", "int8")]
    return replace(exact(), results=tuple(replace(r, verdict=none) if k >= 13 else r for k, r in enumerate(results)))


def only(given: Run, *kinds: Kind) -> Run:
    """Return a report with the first result of each kind."""
    firsts = (next(r for r in given.results if r.verdict.kind is kind) for kind in kinds)
    return replace(given, results=tuple(firsts))


class TestMatrix:
    """A terminal matrix, operator version x element type."""

    def test_every_case_is_in_its_cell(self) -> None:
        given = report()
        found = view(given)
        assert sum(cell.total for cell in found.cells.values()) == len(given.results)
        for (operator, element_type), cell in found.cells.items():
            of_cell = [r for r in given.results if (r.id.row, r.id.element_type) == (operator, element_type)]
            assert list(cell.results) == of_cell
            assert cell.deviating + cell.passing + cell.counts[Kind.UNSUPPORTED] == cell.total
        assert found.element_types[:4] == ("bfloat16", "float16", "float", "double")

    def test_the_worst_verdict_stands_for_a_cell(self) -> None:
        assert set(WORST_FIRST) == set(Kind)
        assert worst([Kind.ULPS, Kind.CRASHED, Kind.EXACT]) is Kind.CRASHED
        assert worst([Kind.EXACT, Kind.UNSUPPORTED]) is Kind.UNSUPPORTED
        deviating = [kind for kind in WORST_FIRST if kind.deviates]
        assert WORST_FIRST[: len(deviating)] == tuple(deviating)
        assert len({KINDS[kind].letter for kind in deviating}) == len(deviating)

    @pytest.mark.parametrize("width", [80, 100, 200])
    def test_it_fits_and_is_complete(self, width: int) -> None:
        given = report()
        lines = printed(given, width=width)
        command = next(line for line in lines if "--only" in line)
        assert max(len(line) for line in lines if line != command) <= width
        rows = [line for line in lines if line.startswith(("  Div", "  Recip", "  SONNX"))]
        text = " ".join(rows)
        words = [f"{c.deviating}/{c.total}" for c in view(given).cells.values() if c.deviating]
        assert len(words) == text.count("/")
        assert "C 10/24" in text  # Meaningful without colour.
        assert "C crashed" in " ".join(lines)

    def test_colours(self) -> None:
        file = StringIO()
        console = Console(width=80, file=file, highlight=False, force_terminal=True, color_system="standard")
        console.print(page([report()], width=80))
        assert "\x1b[1;31mC 10/24" in file.getvalue()

    def test_an_unknown_element_type_has_a_column(self) -> None:
        given = report()
        results = tuple(replace(r, id=replace(r.id, element_type="float6e2m3fn")) for r in given.results[:30])
        assert any("float6e2m3fn" in line for line in printed(replace(given, results=results)))


class TestFindings:
    """The cases that deviate by their causes, the worst first, each with an example; unexplained ones are counted."""

    def test_they_hold_every_case_that_deviates(self) -> None:
        given = report()
        found = view(given).findings
        assert sum(f.total for f in found) == sum(r.verdict.kind.deviates for r in given.results)
        explained = [f for f in found if f.name]
        assert [f.name for f in explained] == [given.causes[place].name for place in (1, 2, 0)]
        assert [f.worst for f in explained] == [Kind.CRASHED, Kind.ACCEPTED, Kind.ULPS]
        assert all(r.cause == f.name for f in found for r in f.results)
        assert found[len(explained) :] == tuple(f for f in found if not f.name)
        assert sum(f.total for f in found if not f.name) == len(given.unexplained)

    def test_the_smallest_case_with_an_example_is_shown(self) -> None:
        given = report()
        small = next(r for r in given.results if r.verdict.kind is Kind.ULPS)
        small = replace(small, verdict=replace(small.verdict, elements=2))
        (finding,) = (f for f in view(replace(given, results=(*given.results, small))).findings if f.worst is Kind.ULPS)
        assert finding.shown is small

    def test_reasons_are_those_of_the_cases_they_are_known_for(self) -> None:
        given = report()
        (finding,) = (f for f in view(given).findings if f.worst is Kind.ULPS)
        of_type = Counter(r.id.element_type for r in finding.results)
        (first, most), (second, fewer), *_ = of_type.most_common()
        form = finding.name.removeprefix("arithmetic: ")
        lines = (KnownCause("one", (second,), form), KnownCause("two", (first,), form, link="https://example.org"))
        known = KnownDeviations("openvino", Level.DEFAULT, causes=lines)
        expected = {("two", "https://example.org", most), ("one", "", fewer)}
        assert set(finding.reasons(known)) == expected

    def test_they_are_told_in_few_lines(self) -> None:
        lines = printed(report())
        assert len(lines) < 90
        text = " ".join(" ".join(lines).split())
        assert "C crashed: SIGFPE for MIN / -1 (12 cases: int64; Div-6, Div-7," in text
        assert "9007199254740993 / -3 gave -2147483648, expected -3002399751580331" in text
        left = len(report().unexplained)
        deviating = sum(r.verdict.kind.deviates for r in report().results)
        assert f"3 causes explain {deviating - left} of {deviating} cases that deviate; {left} unexplained." in text
        assert "--verbose" in text

    def test_verbose_names_every_case(self) -> None:
        given = report()
        text = "\n".join(printed(given, width=200, verbose=True))
        assert all((str(r.id) in text) == r.verdict.kind.deviates for r in given.results)

    def test_the_last_line_is_a_command_that_shows_a_case(self) -> None:
        lines = printed(replace(report(), backend="openvino[device=GPU]"))
        crash = view(report()).findings[0].shown.id
        assert lines[-1] == f"    vinculum conform 'openvino[device=GPU]' --only '{crash}'"

    def test_what_no_document_says_is_counted(self) -> None:
        told = (
            f"{sum(result.is_reading for result in report().results)} of those that deviate do so only from Vinculum's"
        )
        assert f"{told} reading of what no document says." in " ".join(printed(report()))

    def test_nothing_found(self) -> None:
        lines = printed(exact())
        assert "Found" not in lines
        assert lines[-1] == "1,800 cases in 3.5 s: 1,800 pass, 0 deviate."

    def test_a_reciprocal_and_words_without_an_example(self) -> None:
        of_floats = next(r.verdict for r in report().results if r.verdict.example)
        example = of_floats.example
        assert example is not None
        unary = replace(of_floats, example=replace(example, operands=example.operands[:1]))
        assert verdict_sentence(unary).startswith("1 / 1.1754944e-38 (0x00800000) gave 0.0")
        assert verdict_sentence(Verdict(Kind.CRASHED, "SIGFPE")) == "SIGFPE"
        assert verdict_sentence(Verdict(Kind.HUNG)) == "hung"

    def test_ulps(self) -> None:
        assert [ulps_text(power) for power in (0, 2, 62)] == ["1 ulp", "4 to 7 ulps", "2^62 ulps or more"]


class TestFewCases:
    """Where few cases were run, each is shown in full, with its reproducer."""

    def test_in_full(self) -> None:
        given = only(report(), Kind.ULPS, Kind.CRASHED)
        lines = printed(given)
        ulps = given.results[0]
        assert f"{ulps.id}: off by ulps" in " ".join(" ".join(lines).split())
        assert all(line in lines for line in reproducer(str(ulps.id)).splitlines())
        assert "  Off by 1 ulp: " in "\n".join(lines)
        assert any(line.startswith(f"  Clause {ulps.clause}: ") for line in lines)

    def test_none(self) -> None:
        assert "No case was run" in " ".join(printed(replace(report(), results=())))


class TestSideBySide:
    """Several runtimes: what each does, in words, then each runtime."""

    def test_the_questions(self) -> None:
        lines = printed(report(), exact(), width=160)
        assert lines[0] == "How runtimes divide"
        assert {"How OpenVINO divides", "How Vinculum divides"} <= set(lines)
        text = " ".join(" ".join(lines).split())
        assert "Side by side openvino vinculum" in text
        assert "MIN / -1, int32, int64 dies: SIGFPE, or gives MIN exact" in text

    @pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
    def test_any_width(self, width: int) -> None:
        lines = printed(report(), exact(), width=width)
        assert max(len(line) for line in lines if "--only" not in line) <= width
        assert any("ok 13 -" in line for line in printed(only_partly_supported(), width=width)) or width == 20


class TestHostileText:
    """Nothing that a runtime said reaches the terminal as more than text."""

    @pytest.mark.parametrize("verbose", [False, True])
    def test_many_cases(self, verbose: bool) -> None:
        lines = printed(hostile(), verbose=verbose)
        assert all(line.isprintable() for line in lines)
        assert any("\\x1b[31mred" in line for line in lines)

    def test_in_full(self) -> None:
        lines = printed(only(hostile(), Kind.CRASHED))
        assert all(line.isprintable() for line in lines)
