"""Peers in miniature: one that divides rightly, and others that go wrong in one thing each. None uses our engine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare.cells import Cell
from benchmarks.compare.peers import Call, Peer
from vinculum.sandbox import UnsupportedError

FOREVER = 600.0  # Seconds; no test is to wait for the end of it.


class Right(Peer):
    """It divides unsigned integers rightly."""

    title = "Right"
    packages = ("numpy",)
    single_threaded = True

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Call:
        call: Call = lambda: np.floor_divide(operands[0], operands[1], out=out)  # noqa: E731  # what `changed` changes
        return self.changed(call, out)

    def changed(self, call: Call, out: NDArray[Any]) -> Callable[[], object]:
        """Make of a right call the one that is made."""
        return call


class Wrong(Right):
    """Its last quotient is one bit off."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        def wrong() -> None:
            call()
            out[-1] ^= 1

        return wrong


class Idle(Right):
    """It divides nothing, and leaves the memory for quotients as it is."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        return lambda: None


class Dying(Right):
    """It dies of its first division of bytes."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        return (lambda: os.kill(os.getpid(), signal.SIGFPE)) if out.dtype == np.uint8 else call


class DyingLater(Right):
    """It dies after some divisions of bytes, when it is being measured."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        calls = iter(range(10))
        return (lambda: call() if next(calls, None) is not None else os._exit(7)) if out.dtype == np.uint8 else call


class Hanging(Right):
    """It never ends a division."""

    def changed(self, call: Call, out: NDArray[Any]) -> Call:
        return lambda: time.sleep(FOREVER)


class Refusing(Right):
    """It refuses to divide bytes, and tells how many threads it was to have."""

    def __init__(self, threads: int) -> None:
        self._told = f"{os.environ.get('OMP_NUM_THREADS')} of {threads} threads"

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Call:
        if out.dtype == np.uint8:
            raise UnsupportedError(self._told)
        return super().prepare(cell, operands, out)


class NotStarting(Right):
    """It cannot be imported."""

    def __init__(self, threads: int) -> None:
        raise ImportError("a library is missing")
