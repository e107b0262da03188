"""A run, with peers in miniature: whoever is wrong is marked, whoever dies is told of, and the run goes on."""

from __future__ import annotations

import sys

import pytest

from tests.benchmarking import miniatures
from vinculum.benchmarking import measuring
from vinculum.benchmarking.cells import Cell, cells
from vinculum.benchmarking.measuring import measure
from vinculum.benchmarking.results import Measured, Missing, Report
from vinculum.errors import AttributeValueError
from vinculum.sandbox import Limits

BYTES, WORDS = cells(["Div"], ["uint8", "uint16"], ["equal"], [500])


def name_of(miniature: type[miniatures.Right]) -> str:
    """Return what a miniature is asked by."""
    return f"{miniature.__module__}:{miniature.__name__}"


RIGHT, WRONG, DYING, LATER, REFUSING, NOT_STARTING = map(
    name_of,
    (
        miniatures.Right,
        miniatures.Wrong,
        miniatures.Dying,
        miniatures.DyingLater,
        miniatures.Refusing,
        miniatures.NotStarting,
    ),
)


@pytest.fixture(scope="module")
def report() -> Report:
    """Return a run of two cells."""
    peers = [RIGHT, WRONG, DYING, LATER, REFUSING, NOT_STARTING]
    return measure([BYTES, WORDS], peers, threads=1, rounds=2)


def test_the_rows_are_the_cells(report: Report) -> None:
    assert [row.cell for row in report.rows] == [BYTES, WORDS]
    assert all(list(row.outcomes) == list(report.titles) for row in report.rows)
    assert (report.threads, report.rounds) == (1, 2)
    assert 0 <= report.others <= 1
    assert report.peers == (RIGHT, WRONG, DYING, LATER, REFUSING, NOT_STARTING)
    assert set(report.single) == set(report.peers)


def test_ours_and_the_roofline_are_always_there(report: Report) -> None:
    assert report.is_sound
    for row in report.rows:
        for name in ("vinculum", "limit"):
            outcome = row.measured(name)
            assert outcome is not None
            assert outcome.exact
            assert len(outcome.samples) >= 2 * 2
            assert min(outcome.samples) > 0


def test_a_wrong_peer_is_marked_and_not_compared_with(report: Report) -> None:
    for row in report.rows:
        wrong, right = row.measured(WRONG), row.measured(RIGHT)
        assert wrong is not None
        assert not wrong.exact
        assert right is not None
        assert right.exact
        assert row.fastest != WRONG
        assert row.ratio is not None


def test_a_death_is_told_and_the_run_goes_on(report: Report) -> None:
    first, second = report.rows
    assert first.outcomes[DYING] == Missing("crashed with SIGFPE", ended=True)
    assert isinstance(second.outcomes[DYING], Measured)


def test_a_death_while_it_is_measured(report: Report) -> None:
    first, second = report.rows
    assert first.outcomes[LATER] == Missing("exit code 7", ended=True)
    assert isinstance(second.outcomes[LATER], Measured)


def test_a_refusal_has_its_reason(report: Report) -> None:
    first, second = report.rows
    assert first.outcomes[REFUSING] == Missing("no bytes today")
    assert isinstance(second.outcomes[REFUSING], Measured)


def test_who_does_not_start_is_missing_everywhere(report: Report) -> None:
    for row in report.rows:
        outcome = row.outcomes[NOT_STARTING]
        assert isinstance(outcome, Missing)
        assert outcome.reason.endswith("a library is missing")


def test_a_peer_that_hangs_has_no_time() -> None:
    hanging = name_of(miniatures.Hanging)
    limits = Limits(seconds=1.0, memory=sys.maxsize)
    (row,) = measure([BYTES], [hanging], threads=1, rounds=1, limits=limits).rows
    assert row.outcomes[hanging] == Missing("no answer within 1 second", ended=True)


def test_more_memory_than_there_is_is_refused() -> None:
    with pytest.raises(AttributeValueError, match=r"need about .* GiB of memory, and .* are free; give a smaller size"):
        measure([Cell("Div", "int64", "equal", 1 << 40)], [], threads=1, rounds=1)


def test_every_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_outcomes", lambda *_: {})
    told: list[tuple[int, str]] = []
    measure([BYTES, WORDS], [], threads=1, rounds=1, advance=lambda done, words: told.append((done, words)))
    assert told == [(0, "Div, uint8, equal, 500 elements"), (1, "Div, uint16, equal, 500 elements")]
