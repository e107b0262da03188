"""A run of the benchmark with small peers: wrong ones are marked, crashes are reported, and the run continues."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.compare.cells import Cell
from benchmarks.compare.measuring import measure
from benchmarks.compare.peers import Call, Numpy, Peer
from benchmarks.compare.results import Outcome, Report
from vinculum.sandbox import Limits, UnsupportedError

BYTES, WORDS = (Cell("Div", name, "equal", 500) for name in ("uint8", "uint16"))


class Right(Peer):
    """It divides unsigned integers exactly, without our engine."""

    title = "Right"
    packages = ("numpy",)
    single_threaded = True

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Call:
        return self.changed(lambda: np.floor_divide(operands[0], operands[1], out=out), out)

    def changed(self, call: Call, out: NDArray[Any]) -> Callable[[], object]:
        """Return the call to make instead of the right one."""
        return call


class Wrong(Right):
    """Its last quotient is one bit off."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        return lambda: (call(), np.bitwise_xor(out[-1:], 1, out=out[-1:]))


class Idle(Right):
    """It divides nothing, and does not write the quotients."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        return lambda: None


class Dying(Right):
    """It crashes after some divisions of bytes, while it is measured."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        calls = iter(range(10))
        die = partial(os.kill, os.getpid(), signal.SIGFPE)
        return (lambda: call() if next(calls, None) is not None else die()) if out.dtype == np.uint8 else call


class Hanging(Right):
    """It never ends a division."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        return lambda: time.sleep(600)


class Refusing(Right):
    """It refuses to divide bytes; the message says how many threads it was given."""

    def __init__(self, threads: int) -> None:
        self._told = f"{os.environ.get('OMP_NUM_THREADS')} of {threads} threads"

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        if out.dtype == np.uint8:
            raise UnsupportedError(self._told)
        return call


class NotStarting(Right):
    """It cannot be imported."""

    def __init__(self, threads: int) -> None:
        raise ImportError("a library is missing")


PEERS = {each.__name__: each for each in (Right, Wrong, Idle, Dying, Refusing, NotStarting)}


@pytest.fixture(scope="module")
def report() -> Report:
    """Return a run of two cells."""
    return measure([BYTES, WORDS], PEERS, threads=1, rounds=2)


def test_every_row_has_our_engine_and_the_roofline(report: Report) -> None:
    assert [row.cell for row in report.rows] == [BYTES, WORDS]
    assert (report.threads, report.rounds, report.peers) == (1, 2, tuple(PEERS))
    assert 0 <= report.others <= 1
    assert report.single_threaded == tuple(PEERS)
    assert report.is_sound
    for outcome in (row.outcomes[name] for row in report.rows for name in ("vinculum", "limit")):
        assert outcome.exact
        assert len(outcome.samples) >= 2 * 2


def test_a_wrong_peer_is_marked_and_not_compared_with(report: Report) -> None:
    for row in report.rows:
        assert row.outcomes["Right"].exact
        for name in ("Wrong", "Idle"):
            assert row.outcomes[name].samples
            assert not row.outcomes[name].exact
            assert row.fastest != name


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("Dying", Outcome(reason="crashed with SIGFPE", ended=True)),
        ("Refusing", Outcome(reason="1 of 1 threads")),
    ],
)
def test_a_peer_that_fails_in_one_cell(report: Report, name: str, outcome: Outcome) -> None:
    first, second = report.rows
    assert first.outcomes[name] == outcome
    assert second.outcomes[name].exact


def test_a_peer_that_does_not_start(report: Report) -> None:
    assert all(row.outcomes["NotStarting"].reason.endswith("a library is missing") for row in report.rows)


def test_a_peer_that_hangs() -> None:
    told: list[tuple[int, str]] = []
    peers, limits = {"hanging": Hanging, "numpy": Numpy}, Limits(seconds=2.0, memory=sys.maxsize)
    made = measure([BYTES], peers, threads=1, rounds=1, limits=limits, advance=lambda *step: told.append(step))
    assert made.rows[0].outcomes["hanging"] == Outcome(reason="no answer within 2 seconds", ended=True)
    assert told == [(0, "Div, uint8, equal, 500 elements")]
