"""A run of the benchmark: its medians and ratios, its file, and the page that is written about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from benchmarks.compare.page import exceptions, page, summary
from benchmarks.compare.results import Outcome, Row, read, text
from tests.benchmarks.reports import TITLES, changed, report, steady
from tests.cases import case

DOCS = Path(__file__).parents[2] / "docs"
LINES = page(report(), "figure").splitlines()


def row(**outcomes: Outcome) -> Row:
    """Return a row in which our engine takes 2 ns and the roofline 1 ns."""
    return Row(report().rows[0].cell, {"vinculum": steady(2.0), **outcomes, "limit": steady(1.0)})


def test_the_ratio_is_to_the_fastest_exact_peer() -> None:
    found = row(numpy=steady(6.0), jax=steady(5.0), openvino=steady(3.0, exact=False), torch=Outcome(reason="no"))
    assert (found.fastest, found.ratio, found.of_roofline) == ("jax", 2.5, 2.0)
    without = row(openvino=steady(3.0, exact=False), torch=Outcome(reason="no"))
    assert (without.fastest, without.ratio) == (None, None)
    ours = row(vinculum=Outcome(reason="died", ended=True), numpy=steady(1.0), limit=Outcome(reason="no"))
    assert (ours.fastest, ours.ratio, ours.of_roofline) == ("numpy", None, None)


def test_a_run_is_sound_if_ours_is_exact_everywhere() -> None:
    measured = Outcome((5.0, 1.0, 2.0, 4.0, 100.0), exact=True)
    assert measured.median == 4.0
    assert measured.spread == pytest.approx(1.5 / 4)
    assert report().is_sound
    assert not changed(vinculum=steady(1.0, exact=False)).is_sound
    assert not changed(vinculum=Outcome(reason="crashed", ended=True)).is_sound


def test_the_published_page_is_that_of_the_published_records() -> None:
    published = (DOCS / "performance.md").read_text("utf-8")
    beside = [read(file) for file in sorted(DOCS.glob("performance-*.json"))]
    assert page(read(DOCS / "performance.json"), "performance", beside) == published
    broadcast = published.partition("### Div, broadcast")[2].partition("###")[0]
    assert broadcast.count("<details") == 2  # a million elements and sixteen, a column for each shape
    assert broadcast.count("| Type | a scalar divisor | a scalar dividend | (M,N)/(N) |") == 2


SPOILERS: dict[str, Callable[[Any], object]] = {
    "no cells": lambda d: d.update(rows=[]),
    "no such operator": lambda d: d["rows"][0]["cell"].update(operator="Mod"),
    "a peer too few": lambda d: d["rows"][0]["outcomes"].pop("numpy"),
    "a sample of nothing": lambda d: d["rows"][0]["outcomes"]["vinculum"].update(samples=[1.0, 0.0]),
    "samples and a reason": lambda d: d["rows"][0]["outcomes"]["vinculum"].update(reason="it died"),
}


def test_a_file_is_read_as_written_and_refused_if_changed(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(text(report()), encoding="utf-8")
    assert read(file) == report()
    for name, spoil in SPOILERS.items():
        data = json.loads(text(report()))
        spoil(data)
        file.write_text(json.dumps(data), encoding="utf-8")
        with case(name), pytest.raises(msgspec.MsgspecError):
            read(file)


def test_foreign_text_is_escaped() -> None:
    assert "\x1b" not in "".join(LINES)
    assert any("no\\\\x1b\\[31m \\`way\\`\\|." in line for line in LINES)


def test_exceptions() -> None:
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
def test_wrong_results_come_first(name: str, outcome: Outcome, words: str) -> None:
    made = changed(**{name: outcome})
    assert next(exceptions(made)).startswith(words)
    assert next(summary(made)).startswith(words)
