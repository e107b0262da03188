"""A run, with peers in miniature: whoever is wrong is marked, whoever dies is told of, and the run goes on."""

from __future__ import annotations

import os
import sys
import time

import pytest

from benchmarks.compare.cells import Cell
from benchmarks.compare.machine import BackgroundLoad
from benchmarks.compare.measuring import measure
from benchmarks.compare.peers import Numpy
from benchmarks.compare.results import Outcome, Report
from tests.machine.benchmarks import miniatures
from tests.processes import python, started
from vinculum.sandbox import Limits

BYTES, WORDS = (Cell("Div", name, "equal", 500) for name in ("uint8", "uint16"))
PEERS = {
    "right": miniatures.Right,
    "wrong": miniatures.Wrong,
    "idle": miniatures.Idle,
    "dying": miniatures.Dying,
    "later": miniatures.DyingLater,
    "refusing": miniatures.Refusing,
    "not starting": miniatures.NotStarting,
}


@pytest.fixture(scope="module")
def report() -> Report:
    """Return a run of two cells."""
    return measure([BYTES, WORDS], PEERS, threads=1, rounds=2)


def test_the_rows_are_the_cells(report: Report) -> None:
    assert [row.cell for row in report.rows] == [BYTES, WORDS]
    assert (report.threads, report.rounds, report.peers) == (1, 2, tuple(PEERS))
    assert 0 <= report.others <= 1
    assert report.single_threaded == tuple(PEERS)


def test_ours_and_the_roofline_are_always_there(report: Report) -> None:
    assert report.is_sound
    for row in report.rows:
        for name in ("vinculum", "limit"):
            outcome = row.outcomes[name]
            assert outcome.exact
            assert len(outcome.samples) >= 2 * 2


def test_a_wrong_peer_is_marked_and_not_compared_with(report: Report) -> None:
    for row in report.rows:
        assert row.outcomes["right"].exact
        for name in ("wrong", "idle"):
            assert row.outcomes[name].samples
            assert not row.outcomes[name].exact
            assert row.fastest != name


def test_a_death_is_told_and_the_run_goes_on(report: Report) -> None:
    first, second = report.rows
    assert first.outcomes["dying"] == Outcome(reason="crashed with SIGFPE", ended=True)
    assert first.outcomes["later"] == Outcome(reason="exit code 7", ended=True)
    assert second.outcomes["dying"].exact
    assert second.outcomes["later"].exact


def test_a_refusal_has_its_reason(report: Report) -> None:
    first, second = report.rows
    assert first.outcomes["refusing"] == Outcome(reason="1 of 1 threads")
    assert second.outcomes["refusing"].exact


def test_who_does_not_start_is_missing_everywhere(report: Report) -> None:
    assert all(row.outcomes["not starting"].reason.endswith("a library is missing") for row in report.rows)


def test_a_peer_that_hangs_has_no_time_and_every_step_is_told() -> None:
    told: list[tuple[int, str]] = []
    peers, limits = {"hanging": miniatures.Hanging, "numpy": Numpy}, Limits(seconds=2.0, memory=sys.maxsize)
    made = measure([BYTES], peers, threads=1, rounds=1, limits=limits, advance=lambda *step: told.append(step))
    assert made.rows[0].outcomes["hanging"] == Outcome(reason="no answer within 2 seconds", ended=True)
    assert told == [(0, "Div, uint8, equal, 500 elements")]


def test_a_real_load_is_seen() -> None:
    watch = BackgroundLoad()
    # It is no child that has ended, and so a stranger: whenever it does not run, someone else does.
    with started(python("while True: pass")):
        time.sleep(1.0)
        part = watch.part()
    assert part > 0.2 / (os.cpu_count() or 1)
