"""What is said of a run: whole tables, numbers of three digits, and sentences that leave nothing out."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmarks.compare.page import exceptions, page, summary, whole
from benchmarks.compare.results import Outcome
from tests.benchmarks.reports import TITLES, changed, report, steady

LINES = page(report(), "figure").splitlines()
WHOLE = whole(report()).splitlines()


def test_bold_is_the_fastest_exact_peer_and_ours_where_we_are_faster() -> None:
    assert "| uint8 | 0.250 | 1.00 | **0.188** | 154 | 0.219\\* | 1.12 | 0.875 | 0.75 | 1.25 |" in LINES
    assert any(line.startswith("| uint8 | **0.250** | 1.00 | **0.750** |") for line in LINES)
    assert "| uint8 | 0.123 | - | ended | - | 0.100\\* | - | - |  | 1.23 |" in WHOLE


def test_a_stranger_s_words_do_nothing() -> None:
    assert "\x1b" not in "".join(LINES)
    assert any("no\\\\x1b\\[31m \\`way\\`\\|." in line for line in LINES)


def test_what_stands_out() -> None:
    ended, slower, *lacking = exceptions(report())
    assert ended == "PyTorch ended in Div, uint8, channel, 1,000,000 elements: crashed with SIGFPE."
    assert slower.startswith("An exact peer is faster in 12 of 24 cells: Div, int8, equal, 16 elements: 0.75; ")
    assert slower.endswith("; and 2 more.")
    assert lacking[:2] == [
        "NumPy has no Div of int8, int16, int32, int64, uint8: it has no truncating division.",
        "Numexpr has no Div of bfloat16, uint8: unknown type bfloat16.",
    ]


def test_what_else_is_told() -> None:
    rows = [row for row in report().rows if row.cell.size > 16]
    assert "No exact peer is faster in any of 12 cells." in exceptions(replace(report(), rows=tuple(rows)))
    assert next(exceptions(replace(report(), others=0.3))).startswith("NOT IDLE: 30% of the processors' time")
    there = {name: title for name, title in TITLES.items() if name not in ("jax", "torch")}
    fewer = tuple(replace(row, outcomes={name: row.outcomes[name] for name in there}) for row in rows)
    assert [*exceptions(replace(report(), titles=there, rows=fewer))][-1] == "Not installed: torch, jax."


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("vinculum", steady(1.0, exact=False), "WRONG: Vinculum's quotients are not exact in Div, int8, equal, 16 "),
        ("vinculum", Outcome(reason="crashed with SIGSEGV"), "WRONG: Vinculum has no time in Div, int8, equal, 16 "),
        ("limit", steady(1.0, exact=False), "WRONG: the plain pass did not read and write its memory in Div, int8"),
    ],
)
def test_what_is_wrong_comes_first(name: str, outcome: Outcome, words: str) -> None:
    made = changed(**{name: outcome})
    assert next(exceptions(made)).startswith(words)
    assert next(summary(made)).startswith(words)
