"""What is said of a benchmark: numbers of three digits, and sentences that leave nothing out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reporting.bench.reports import HOSTILE, one_wrong, report, steady
from vinculum.benchmarking.results import Measured, Missing
from vinculum.reporting.bench.words import findings, groups, how, multiple, number, percent, summary, time_of


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.00123456, "0.00123"),
        (0.4071, "0.407"),
        (0.9996, "1.00"),
        (1.0, "1.00"),
        (9.996, "10.0"),
        (12.34, "12.3"),
        (99.96, "100"),
        (123.4, "123"),
        (1234.5, "1,230"),
        (1_234_567.0, "1,230,000"),
    ],
)
def test_three_digits(value: float, words: str) -> None:
    assert number(value) == words


def test_ratios_and_parts() -> None:
    assert (multiple(1.005001), multiple(None), percent(0.124)) == ("1.01", "", "12%")


def test_groups_are_of_one_operator_shape_and_size() -> None:
    assert [(heading, len(rows)) for heading, rows in groups(report())] == [
        ("Div, equal shapes, 16 elements", 12),
        ("Div, equal shapes, 1,000,000 elements", 12),
        ("Reciprocal, 1,000,000 elements", 1),
        ("Div, (N,C,H,W)/(C,1,1), 1,000,000 elements", 1),
    ]


def test_threads_are_told() -> None:
    assert how(report()).endswith("medians of 5 rounds in which all take turns; 2 threads each (NumPy can use 1 only).")
    assert how(replace(report(), threads=1, rounds=1)).endswith("1 round in which all take turns; 1 thread each.")


def test_a_time_is_marked_or_says_why_it_is_none() -> None:
    odd = report().rows[-1]
    assert [time_of(odd, name) for name in ("vinculum", "openvino", "numpy", "torch")] == [
        "0.123",
        "0.100*",
        "-",
        "ended",
    ]


def test_what_stands_out() -> None:
    said = list(findings(report()))
    assert said == [
        "PyTorch ended in Div, uint8, channel, 1,000,000 elements: crashed with SIGFPE.",
        said[1],
        "NumPy has no Div of int8, int16, int32, int64, uint8: it has no truncating division.",
        "Numexpr has no Div of bfloat16, uint8: unknown type bfloat16.",
        "ONNX Runtime has no Div of uint8: no\x1b[31m\nway.",
        "JAX has no Div of uint8: no\x1b[31m\nway.",
        f"{report().titles[HOSTILE]} has no Div of uint8: no\x1b[31m\nway.",
    ]
    assert said[1].startswith("An exact peer is faster in 12 of 25 cells: Div, int8, equal, 16 elements: 0.75; ")
    assert said[1].endswith("; and 2 more.")


def test_who_is_not_there_is_told() -> None:
    made = report()
    titles = {name: title for name, title in made.titles.items() if name not in ("jax", "torch")}
    rows = [replace(row, outcomes={name: row.outcomes[name] for name in titles}) for row in made.rows]
    assert (
        list(findings(replace(made, titles=titles, rows=tuple(rows))))[-1]
        == "Not installed, or not selected: torch, jax."
    )


def test_nobody_is_faster() -> None:
    made = report()
    rows = tuple(row for row in made.rows if row.cell.size > 16)
    assert "No exact peer is faster in any of 13 cells." in findings(replace(made, rows=rows))
    assert not [said for said in findings(replace(made, rows=rows[-1:])) if "faster" in said]


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (steady(1.0, exact=False), "WRONG: Vinculum's quotients are not exact in Div, int8, equal, 16 elements."),
        (
            Missing("crashed with SIGSEGV", ended=True),
            "WRONG: Vinculum has no time in Div, int8, equal, 16 elements: crashed with SIGSEGV.",
        ),
    ],
)
def test_what_is_wrong_with_ours_comes_first(ours: Measured | Missing, words: str) -> None:
    made = one_wrong(ours)
    assert next(iter(findings(made))) == words
    assert not made.is_sound


def test_a_roofline_that_did_something_else_is_told() -> None:
    made = report()
    row = made.rows[0]
    wrong = replace(row, outcomes={**row.outcomes, "limit": steady(1.0, exact=False)})
    assert next(iter(findings(replace(made, rows=(wrong,))))).startswith("WRONG: the plain pass did not")


def test_background_load_is_told() -> None:
    assert next(iter(findings(report(others=0.3)))).startswith("NOT IDLE: 30% of the processors' time went to other")
    assert not any(said.startswith("NOT IDLE") for said in findings(report(others=0.05)))


class TestSummary:
    """The few sentences before the tables."""

    def test_each_kind_has_a_sentence(self) -> None:
        first, integers, floats, few, inexact = summary(report())
        compared = [row.ratio for row in report().rows if row.ratio is not None]
        assert f"in {sum(r >= 1 for r in compared)} of {len(compared)} cells" in first
        assert integers.startswith("Integers, from 65,536 elements on: the fastest other exact package takes ")
        assert floats.startswith("Floats, from 65,536 elements on: ")
        assert few.startswith("Fewer elements: ")
        assert inexact.startswith("Quotients that are not exact: ")
        assert "OpenVINO of int8, uint8, " in inexact

    def test_small_runs_leave_out_what_they_do_not_have(self) -> None:
        assert not [line for line in summary(report(1000)) if line.startswith(("Integers", "Floats"))]

    def test_what_is_wrong_with_ours_comes_first(self) -> None:
        assert next(summary(one_wrong(steady(1.0, exact=False)))).startswith("WRONG: ")
