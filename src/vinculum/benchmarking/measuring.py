"""A benchmark run: each peer has its own subprocess, and they take turns in every cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import date
from time import sleep

import psutil

from vinculum.benchmarking.background_load import BackgroundLoad
from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.machine import machine
from vinculum.benchmarking.peers.registry import OURS, ROOFLINE, peer
from vinculum.benchmarking.results import Measured, Missing, Outcome, Report, Row
from vinculum.conformance.runtimes.packages import versions_of
from vinculum.errors import AttributeValueError, VinculumError
from vinculum.sandbox import Answer, End, Isolated, Limits

LIMITS = Limits(seconds=120.0, memory=sys.maxsize)  # Memory depends on the sizes and is checked in advance.

_WORKER = "vinculum.benchmarking.worker:Worker"
_PAUSE = 0.02  # Seconds after which threads that wait for work have stopped spinning.
_COPIES = 6  # Arrays of the result's size that a process may hold: operands, quotients, and copies.
_GIB = 1 << 30

Advance = Callable[[int, str], None]


def measure(
    cells: Sequence[Cell],
    peers: Sequence[str],
    *,
    threads: int,
    rounds: int,
    limits: Limits = LIMITS,
    advance: Advance = lambda done, words: None,
) -> Report:
    """Return the times of Vinculum, of the peers and of the plain pass in every cell.

    Parameters
    ----------
    cells : sequence of Cell
        The cells to measure.
    peers : sequence of str
        Their names, as for `registry.peer`.
    threads : int
        Threads per peer.
    rounds : int
        Turns of each peer per cell.
    limits : Limits
        The limits of preparing a cell and of a turn. A peer that exceeds them has no time in that cell.
    advance : callable
        Called with the number of cells done and the name of the next one.

    Raises
    ------
    AttributeValueError
        If the cells need more memory than is available.
    """
    names = (OURS, *peers, ROOFLINE)
    _check_memory(cells, len(names))
    everyone = {name: peer(name) for name in names}
    rows: list[Row] = []
    load = BackgroundLoad()
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Isolated(_WORKER, name, threads, limits=limits)) for name in names}
        for number, cell in enumerate(cells):
            advance(number, str(cell))
            rows.append(Row(cell, _outcomes(cell, workers, rounds)))
    return Report(
        date=date.today().isoformat(),
        machine=machine(),
        titles={name: one.title for name, one in everyone.items()},
        versions=versions_of(*dict.fromkeys(package for one in everyone.values() for package in one.packages)),
        threads=threads,
        single=tuple(name for name, one in everyone.items() if one.most_threads == 1),
        rounds=rounds,
        others=load.part(),
        rows=tuple(rows),
    )


def _check_memory(cells: Sequence[Cell], processes: int) -> None:
    needed = max(cell.size_in_bytes for cell in cells) * _COPIES * processes
    available = psutil.virtual_memory().available
    if needed > available:
        largest = max(cells, key=lambda cell: cell.size_in_bytes)
        raise AttributeValueError(
            f"{largest.size:,} elements of {largest.element_type} in {processes} processes need about "
            f"{needed / _GIB:,.1f} GiB of memory, and {available / _GIB:,.1f} GiB are free; give a smaller size"
        )


def _outcomes(cell: Cell, workers: dict[str, Isolated], rounds: int) -> dict[str, Outcome]:
    """Return the outcome of each peer in a cell; a peer that cannot compute it drops out."""
    exact: dict[str, bool] = {}
    missing: dict[str, Missing] = {}
    samples: dict[str, list[float]] = {name: [] for name in workers}
    for name, worker in workers.items():
        answer = _asked(worker, "prepare", cell)
        if isinstance(answer, Missing):
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
            if isinstance(answer, Missing):
                missing[name] = answer
            else:
                samples[name] += answer.value
    return {name: missing[name] if name in missing else Measured(exact[name], tuple(samples[name])) for name in workers}


def _asked(worker: Isolated, method: str, *arguments: object) -> Answer | Missing:
    try:
        answer = worker.call(method, *arguments)
    except VinculumError as error:  # The subprocess could not be started.
        return Missing(str(error))
    if answer.end is End.RETURNED:
        return answer
    if answer.end is End.CRASHED:
        return Missing(f"crashed with {answer.words}" if answer.words.startswith("SIG") else answer.words, ended=True)
    return Missing(answer.words, ended=answer.end in (End.HUNG, End.OUT_OF_MEMORY))
