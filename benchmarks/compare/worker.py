"""The measurement of one peer, in its subprocess."""

from __future__ import annotations

import gc
import os
from itertools import repeat
from math import ceil
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare.cells import Cell
from benchmarks.compare.operands import drawn_operands
from benchmarks.compare.peers import Call, Peer
from vinculum.kernels.threads import set_threads
from vinculum.tensors.storage import dtype_of

_SAMPLE = 1_000_000  # The minimum duration in nanoseconds of all calls of a sample.
_WARM_UP = 20_000_000  # Nanoseconds of each turn before its first sample.
_TURN = 100_000_000  # Nanoseconds after which a turn takes no further sample.
_FEWEST, _MOST = 2, 5  # The limits of the number of samples per turn.
_DIGITS = 6  # Of a sample, in which it is recorded.
_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Worker:
    """A peer that is being measured.

    Parameters
    ----------
    peer : type
        Its class.
    threads : int
        The number of threads that it may use.
    """

    def __init__(self, peer: type[Peer], threads: int) -> None:
        for variable in _VARIABLES:  # Libraries read these variables once, when they are loaded.
            os.environ[variable] = str(threads)
        gc.disable()
        set_threads(1)  # In a peer's process there must be no threads of ours, not even waiting ones.
        self._peer = peer(threads)
        self._call: Call | None = None
        self._arrays: tuple[NDArray[Any], ...] = ()  # Some peers keep no more than the address of their memory.
        self._elements = self._calls = 1

    def prepare(self, cell: Cell) -> bool:
        """Prepare a cell, compute it once, and return whether every quotient is right.

        Raises
        ------
        Exception
            The peer's own exception, if it cannot compute this.
        """
        self._call, self._arrays = None, ()
        gc.collect()  # Release the previous cell's memory first.
        operands = drawn_operands(cell)
        out = np.zeros(cell.result, dtype_of(cell.type))
        call = self._peer.prepare(cell, operands, out)
        returned = call()
        right = self._peer.is_right(cell, operands, np.asarray(returned) if self._peer.returns else out)
        self._elements = cell.elements
        self._calls = max(1, ceil(_SAMPLE / max(1, min(_timed(call, 1) for _ in range(3)))))
        self._call, self._arrays = call, (*operands, out)
        return right

    def turn(self) -> list[float]:
        """Return the nanoseconds per element of a few samples in a row.

        They are preceded by a warm-up: after other code a processor needs time to bring its vector units up to speed,
        and the system to distribute threads over the processors.
        """
        if self._call is None:
            raise RuntimeError("nothing is prepared")
        samples: list[float] = []
        began = perf_counter_ns()
        while _timed(self._call, self._calls) and perf_counter_ns() - began < _WARM_UP:
            pass
        began = perf_counter_ns()
        while len(samples) < _FEWEST or (len(samples) < _MOST and perf_counter_ns() - began < _TURN):
            sample = _timed(self._call, self._calls) / self._calls / self._elements
            samples.append(float(f"{sample:.{_DIGITS}g}"))
        return samples


def _timed(call: Call, calls: int) -> int:
    """Return the duration in nanoseconds of a number of calls in a row."""
    times = repeat(None, calls)
    start = perf_counter_ns()
    for _ in times:
        call()
    return perf_counter_ns() - start
