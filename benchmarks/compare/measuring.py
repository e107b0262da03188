"""A run: each peer has its own subprocess, and they take turns in every cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from importlib.metadata import version
from time import sleep

from benchmarks.compare.cells import Cell
from benchmarks.compare.machine import BackgroundLoad, machine
from benchmarks.compare.peers import OURS, ROOFLINE, Peer, Roofline, Vinculum
from benchmarks.compare.results import Outcome, Report, Row
from vinculum.errors import VinculumError
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.version import __version__

LIMITS = Limits(seconds=120.0, memory=sys.maxsize)  # The largest cells take eight processes 6 GiB in all.

_WORKER = "benchmarks.compare.worker:Worker"
_PAUSE = 0.02  # Seconds after which threads that wait for work have stopped spinning.

Advance = Callable[[int, str], None]


def measure(
    cells: Sequence[Cell],
    peers: Mapping[str, type[Peer]],
    *,
    threads: int,
    rounds: int,
    limits: Limits = LIMITS,
    advance: Advance = lambda done, words: None,
) -> Report:
    """Return the times of Vinculum, of the peers and of the plain pass in every cell.

    A peer that exceeds the limits, of preparing a cell and of a turn, has no time in that cell. `advance` is called
    with the number of cells done and the name of the next one.
    """
    everyone: dict[str, type[Peer]] = {OURS: Vinculum, **peers, ROOFLINE: Roofline}
    rows: list[Row] = []
    load = BackgroundLoad()
    with ExitStack() as stack:
        workers = {
            name: stack.enter_context(Isolated(_WORKER, peer, threads, limits=limits))
            for name, peer in everyone.items()
        }
        for number, cell in enumerate(cells):
            advance(number, str(cell))
            rows.append(Row(cell, _outcomes(cell, workers, rounds)))
    packages = dict.fromkeys(package for peer in everyone.values() for package in peer.packages)
    return Report(
        date=date.today().isoformat(),
        threads=threads,
        rounds=rounds,
        others=round(load.part(), 3),
        machine=machine(),
        titles={name: peer.title for name, peer in everyone.items()},
        single_threaded=tuple(name for name, peer in everyone.items() if peer.single_threaded),
        versions={package: __version__ if package == "vinculum" else version(package) for package in packages},
        rows=tuple(rows),
    )


def _outcomes(cell: Cell, workers: Mapping[str, Isolated], rounds: int) -> dict[str, Outcome]:
    """Return the outcome of each peer in a cell; a peer that cannot compute it drops out."""
    exact: dict[str, bool] = {}
    missing: dict[str, Outcome] = {}
    samples: dict[str, list[float]] = {name: [] for name in workers}
    for name, worker in workers.items():
        answer = _asked(worker, "prepare", cell)
        if isinstance(answer, Outcome):
            missing[name] = answer
        else:
            exact[name] = answer.value
    for number in range(rounds):
        present = [name for name in workers if name not in missing]
        first = number % max(1, len(present))
        # Each round starts with another peer, so that the order varies.
        for name in present[first:] + present[:first]:
            sleep(_PAUSE)
            answer = _asked(workers[name], "turn")
            if isinstance(answer, Outcome):
                missing[name] = answer
            else:
                samples[name] += answer.value
    return {name: missing.get(name) or Outcome(tuple(samples[name]), exact[name]) for name in workers}


def _asked(worker: Isolated, method: str, *arguments: object) -> Answer | Outcome:
    """Return a peer's answer, or why it has no time."""
    try:
        answer = worker.call(method, *arguments)
    except VinculumError as error:  # The subprocess could not be started.
        return Outcome(reason=str(error))
    if answer.end is End.RETURNED:
        return answer
    if answer.end is End.CRASHED and answer.words.startswith("SIG"):
        return Outcome(reason=f"crashed with {answer.words}", ended=True)
    return Outcome(reason=answer.words, ended=answer.end in (End.CRASHED, End.HUNG, End.OUT_OF_MEMORY))
