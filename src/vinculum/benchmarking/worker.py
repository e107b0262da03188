"""The measurement of one peer, in its subprocess."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from itertools import repeat
from math import ceil
from time import perf_counter_ns

import numpy as np

from vinculum.benchmarking.cells import TYPES, Cell
from vinculum.benchmarking.operands import drawn_operands
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.benchmarking.peers.registry import peer
from vinculum.benchmarking.rightness import are_ours
from vinculum.kernels.threads import set_threads
from vinculum.tensors.storage import dtype_of

_SAMPLE = 1_000_000  # The minimum duration in nanoseconds of all calls of a sample.
_WARM_UP = 20_000_000  # Nanoseconds of each turn before its first sample.
_TURN = 100_000_000  # Nanoseconds after which a turn takes no further sample.
_FEWEST, _MOST = 2, 5  # The limits of the number of samples per turn.
_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Worker:
    """A peer that is being measured.

    Parameters
    ----------
    name : str
        Its name, as for `registry.peer`.
    threads : int
        The number of threads that it may use.
    """

    def __init__(self, name: str, threads: int) -> None:
        for variable in _VARIABLES:  # Libraries read these variables once, when they are loaded.
            os.environ[variable] = str(threads)
        gc.disable()
        set_threads(1)  # In a peer's process there must be no threads of ours, not even waiting ones.
        self._peer = peer(name)
        self._peer.start(threads)
        self._prepared: Prepared | None = None
        self._elements = self._calls = 1

    def prepare(self, cell: Cell) -> bool:
        """Prepare a cell, compute it once, and return whether every quotient is right.

        Raises
        ------
        Exception
            The peer's own exception, if it cannot compute this.
        """
        self._prepared = None
        gc.collect()  # Release the previous cell's memory first.
        operands = drawn_operands(cell)
        out = np.zeros(cell.result, dtype_of(TYPES[cell.element_type]))
        prepared = self._peer.prepare(cell, operands, out)
        prepared.call()
        quotients = prepared.quotients()
        is_right = prepared.is_right
        right = are_ours(cell, operands, quotients) if is_right is None else is_right(quotients)
        self._elements = cell.elements
        self._calls = max(1, ceil(_SAMPLE / max(1, min(_timed(prepared.call, 1) for _ in range(3)))))
        self._prepared = prepared
        return right

    def turn(self) -> list[float]:
        """Return the nanoseconds per element of a few samples in a row.

        They are preceded by a warm-up: after other code a processor needs time to bring its vector units up to speed,
        and the system to distribute threads over the processors.
        """
        if self._prepared is None:
            raise RuntimeError("nothing is prepared")
        call, samples = self._prepared.call, list[float]()
        began = perf_counter_ns()
        while _timed(call, self._calls) and perf_counter_ns() - began < _WARM_UP:
            pass
        began = perf_counter_ns()
        while len(samples) < _FEWEST or (len(samples) < _MOST and perf_counter_ns() - began < _TURN):
            samples.append(_timed(call, self._calls) / self._calls / self._elements)
        return samples


def _timed(call: Callable[[], object], calls: int) -> int:
    """Return the duration in nanoseconds of a number of calls in a row."""
    times = repeat(None, calls)
    start = perf_counter_ns()
    for _ in times:
        call()
    return perf_counter_ns() - start
