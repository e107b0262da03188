"""What is said of a run: whole tables, numbers of three digits, and sentences that leave nothing out."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from benchmarks.compare.page import exceptions, page, summary, whole
from benchmarks.compare.results import Outcome
from benchmarks.compare.tables import number
from tests.benchmarks.reports import TITLES, changed, report, steady

LINES = page(report(), "figure").splitlines()
WHOLE = whole(report()).splitlines()


def test_three_digits() -> None:
    assert [number(n) for n in (0.00123456, 0.9996, 9.996, 99.96, 1_234_567.0)] == [
        "0.00123", "1.00", "10.0", "100", "1,230,000",
    ]  # fmt: skip


def test_every_table_is_whole() -> None:
    rows = [line for line in WHOLE if line.startswith("|")]
    assert len(rows) == 3 * 2 + 25
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {len(TITLES) + 2 + 1}


def test_sizes_are_folded_and_shapes_are_columns() -> None:
    text = "\n".join(LINES)
    folded = re.findall(r"### (.*)|<summary>(.*)</summary>", text)
    assert [first or second for first, second in folded] == [
        "Div, equal shapes", "16 elements", "1,000,000 elements", "Div, broadcast", "1,000,000 elements",
    ]  # fmt: skip
    assert "| Type | (N,C,H,W)/(C,1,1) |\n| --- | ---: |\n| uint8 | 0.123 |\n" in text


def test_bold_is_the_fastest_exact_peer_and_ours_where_we_are_faster() -> None:
    assert "| uint8 | 0.250 | 1.00 | **0.188** | 154 | 0.219\\* | 1.12 | 0.875 | 0.75 | 1.25 |" in LINES
    assert any(line.startswith("| uint8 | **0.250** | 1.00 | **0.750** |") for line in LINES)
    assert "| uint8 | 0.123 | - | ended | - | 0.100\\* | - | - |  | 1.23 |" in WHOLE


def test_other_runs_are_lines_of_a_table_and_ratios_of_the_same_processor_stand_beside() -> None:
    rows = report().rows[13:14]
    limited, another = (
        replace(report(), machine={"processor": processor, "backend": "v3"}, rows=rows)
        for processor in ("a processor", "another")
    )
    text = page(report(), "figure", [limited, another])
    assert text.count("\n- Vinculum is the fastest exact package in ") == 1
    assert "| a processor, target v3, 2 threads | 1 of 1 | 0 | 3.00 (3.00 to 3.00) | - | - |" in text
    assert "| another, target v3, 2 threads | 1 of 1 | 0 | 3.00 (3.00 to 3.00) | - | - |" in text
    assert "| JAX | Ratio | Ratio, v3 | Of limit |" in text
    assert "| 0.875 | 3.00 | 3.00 | 1.25 |\n" in text
    assert "| 0.875 | 3.00 |  | 1.25 |\n" in text


def test_a_stranger_s_words_do_nothing() -> None:
    assert "\x1b" not in "".join(LINES)
    assert any("no\\\\x1b\\[31m \\`way\\`\\|." in line for line in LINES)


def test_findings_come_before_the_figure_and_the_figure_before_the_tables() -> None:
    text = "\n".join(LINES)
    places = [text.index(words) for words in ("\n- Vinculum is the fastest", "](figure.svg)", "\n| ")]
    assert places == sorted(places)


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


def test_each_kind_has_a_sentence() -> None:
    first, integers, floats, few, inexact = summary(report())
    assert first == (
        "Vinculum is the fastest exact package in 12 of 24 cells; in 12 another is faster by more than a twentieth."
    )
    assert integers.startswith("Integers, from 65,536 elements on: the fastest other exact package takes 3.00 times")
    assert floats.startswith("Floats, from 65,536 elements on: ")
    assert few.endswith(" 0.75 times as long (median; 0.75 to 0.75 in single cells).")
    assert inexact.startswith("Quotients that are not exact: OpenVINO of int8, uint8, ")
    assert len(list(summary(replace(report(), rows=report().rows[:12])))) == 3
