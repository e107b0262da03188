"""The terminal page of a conformance run, at 80 columns and without colour."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reporting.conformance.reports import exact, hostile, only, report, run_of
from tests.reporting.printing import Told, whole
from vinculum.conformance.run.record import Example, Kind, Run, Verdict
from vinculum.reporting.conformance.terminal import page
from vinculum.reporting.conformance.view import ulps_text, view


def only_partly_supported() -> Run:
    """Return a run with one cell, in which 13 cases pass and the others are not supported."""
    none = Verdict(Kind.UNSUPPORTED, "no kernel")
    results = [r for r in exact().results if (r.id.operator, r.id.element_type) == ("Div-14", "int8")]
    return replace(exact(), results=tuple(replace(r, verdict=none) if k >= 13 else r for k, r in enumerate(results)))


def test_all_is_in_a_matrix_of_few_columns_and_in_colour() -> None:
    text = whole(page([report()], width=80), force_terminal=True, color_system="standard")
    assert "\x1b[1;31mC 10/24" in text
    rows = [line for line in text.splitlines() if line.startswith(("  Div", "  Recip", "  SONNX"))]
    assert "".join(rows).count("/") == sum(bool(cell.deviating) for cell in view(report()).cells.values())


@pytest.mark.parametrize("verbose", [False, True])
def test_hostile_text(verbose: bool) -> None:
    text = whole(page([hostile()], width=80, verbose=verbose))
    assert all(line.isprintable() for line in text.splitlines())
    assert "\\x1b[31mred" in text


OTHER = report().results[:30]
UNKNOWN = replace(report(), results=tuple(replace(r, id=replace(r.id, element_type="float6e2m3fn")) for r in OTHER))
# Its answers differ between runs; an arithmetic that other cases refute is named, and is no cause.
FIRST, SECOND, *REST = [r for r in report().results if r.verdict.kind is Kind.ULPS]
DIFFERS = replace(FIRST, verdict=replace(FIRST.verdict, kind=Kind.DIFFERS, said="exact, crashed"), cause="")
REFUTED = replace(SECOND, cause="", consistent="consistent with: computed as a * b; but 3 other cases refute it")
UNEXPLAINED = (DIFFERS, REFUTED, replace(REST[0], cause=""), *REST[1:])
OFF = Verdict(Kind.ULPS, "", 4, 1, {0: 1}, 1, Example((2,), ("3.0 (0x40400000)",), "0.33333334", "0.3333333"))

TOLD: Told = {
    "a run": lambda width: page([replace(report(), backend="openvino[device=GPU]")], width=width),
    "nothing found": lambda width: page([exact()], width=width),
    "a type that is unknown": lambda width: page([UNKNOWN], width=width),
    "cases in full": lambda width: page([only(report(), Kind.ULPS, Kind.CRASHED)], width=width),
    "unexplained": lambda width: page([replace(report(), results=UNEXPLAINED)], width=width),
    "a reciprocal": lambda width: page([run_of(("float", "a", "b", OFF), operator=("Reciprocal-13", ""))], width=width),
    "no case": lambda width: page([replace(report(), results=())], width=width),
    "side by side": lambda width: page([report(), exact(), only_partly_supported()], width=width),
    "every kind, verbose": lambda width: page([only(report())], width=width, verbose=True),
    "hostile text, in full": lambda width: page([only(hostile(), Kind.CRASHED)], width=width),
    "ulps": lambda _: "\n".join(map(ulps_text, (0, 1, 2, 13, 14, 62))),
}
