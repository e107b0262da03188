"""The terminal page of a conformance run: readable without colour at 80 columns, and no longer than a screen or two."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from tests.reporting.conformance.reports import exact, hostile, only, report, run_of
from tests.reporting.printing import Told
from vinculum.conformance.cases.case import Level
from vinculum.conformance.expect import KnownCause, KnownDeviations
from vinculum.conformance.run.record import Run
from vinculum.conformance.run.verdict import Example, Kind, Verdict
from vinculum.reporting.conformance.terminal import page
from vinculum.reporting.conformance.view import KINDS, WORST_FIRST, ulps_text, view, worst


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


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_side_by_side_at_any_width(width: int) -> None:
    lines = printed(report(), exact(), width=width)
    assert max(len(line) for line in lines if "--only" not in line) <= width
    assert any("ok 13 -" in line for line in printed(only_partly_supported(), width=width)) or width == 20


@pytest.mark.parametrize("verbose", [False, True])
def test_hostile_text(verbose: bool) -> None:
    lines = printed(hostile(), verbose=verbose)
    assert all(line.isprintable() for line in lines)
    assert any("\\x1b[31mred" in line for line in lines)


OTHER = report().results[:30]
UNKNOWN = replace(report(), results=tuple(replace(r, id=replace(r.id, element_type="float6e2m3fn")) for r in OTHER))
OFF = Verdict(Kind.ULPS, "", 4, 1, {0: 1}, 1, Example((2,), ("3.0 (0x40400000)",), "0.33333334", "0.3333333"))

TOLD: Told = {
    "a run": lambda width: page([replace(report(), backend="openvino[device=GPU]")], width=width),
    "nothing found": lambda width: page([exact()], width=width),
    "a type that is unknown": lambda width: page([UNKNOWN], width=width),
    "cases in full": lambda width: page([only(report(), Kind.ULPS, Kind.CRASHED)], width=width),
    "a reciprocal": lambda width: page([run_of(("float", "a", "b", OFF), operator=("Reciprocal-13", ""))], width=width),
    "no case": lambda width: page([replace(report(), results=())], width=width),
    "side by side": lambda width: page([report(), exact(), only_partly_supported()], width=width),
    "every kind, verbose": lambda width: page([only(report())], width=width, verbose=True),
    "hostile text, in full": lambda width: page([only(hostile(), Kind.CRASHED)], width=width),
    "ulps": lambda _: "\n".join(map(ulps_text, (0, 1, 2, 13, 14, 62))),
}
