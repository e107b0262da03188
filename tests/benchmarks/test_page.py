"""What is said of a run: whole tables, numbers of three digits, and sentences that leave nothing out."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmarks.compare.page import exceptions, page, summary
from benchmarks.compare.results import Outcome
from tests.benchmarks.reports import TITLES, changed, report, steady

LINES = page(report(), "figure").splitlines()


def test_a_stranger_s_words_do_nothing() -> None:
    assert "\x1b" not in "".join(LINES)
    assert any("no\\\\x1b\\[31m \\`way\\`\\|." in line for line in LINES)


def test_what_stands_out() -> None:
    assert next(exceptions(report())) == (
        "PyTorch ended in Div, uint8, channel, 1,000,000 elements: crashed with SIGFPE."
    )
    assert next(exceptions(replace(report(), others=0.3))).startswith("NOT IDLE: 30% of the processors' time")
    there = {name: title for name, title in TITLES.items() if name not in ("jax", "torch")}
    rows = [replace(row, outcomes={name: row.outcomes[name] for name in there}) for row in report().rows]
    told = [*exceptions(replace(report(), titles=there, rows=tuple(rows)))]
    assert "No exact peer is faster in any of 24 cells." in told
    assert told[-1] == "Not installed: torch, jax."


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
