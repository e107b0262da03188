"""Peers in miniature: one that divides rightly, and others that go wrong in one thing each. None uses our engine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.benchmarking.cells import Cell
from vinculum.benchmarking.peers.protocol import Prepared
from vinculum.sandbox import UnsupportedError

FOREVER = 600.0  # Seconds; no test is to wait for the end of it.


class Right:
    """It divides unsigned integers and floats rightly."""

    title = "Right"
    packages: tuple[str, ...] = ("numpy",)
    install = "pip install numpy"
    most_threads: int | None = 1

    def start(self, threads: int) -> None:
        """Need nothing."""

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        divide: Callable[..., object] = np.floor_divide if cell.is_integer else np.divide
        return Prepared(self.changed(lambda: divide(*operands, out=out), out), lambda: out)

    def changed(self, call: Callable[[], object], out: NDArray[Any]) -> Callable[[], object]:
        """Make of a right call the one that is made."""
        return call


class Wrong(Right):
    """Its last quotient is one bit off."""

    title = "Wrong"

    def changed(self, call: Callable[[], object], out: NDArray[Any]) -> Callable[[], object]:
        def wrong() -> None:
            call()
            out.reshape(-1).view(f"u{out.dtype.itemsize}")[-1] ^= 1

        return wrong


class Dying(Right):
    """It dies of its first division of bytes."""

    title = "Dying"

    def changed(self, call: Callable[[], object], out: NDArray[Any]) -> Callable[[], object]:
        return (lambda: os.kill(os.getpid(), signal.SIGFPE)) if out.dtype == np.uint8 else call


class DyingLater(Right):
    """It dies after some divisions of bytes, when it is being measured."""

    title = "Dying later"

    def changed(self, call: Callable[[], object], out: NDArray[Any]) -> Callable[[], object]:
        calls = iter(range(10))
        return (lambda: call() if next(calls, None) is not None else os._exit(7)) if out.dtype == np.uint8 else call


class Hanging(Right):
    """It never ends a division of bytes."""

    title = "Hanging"

    def changed(self, call: Callable[[], object], out: NDArray[Any]) -> Callable[[], object]:
        return (lambda: time.sleep(FOREVER)) if out.dtype == np.uint8 else call


class Refusing(Right):
    """It refuses to divide bytes."""

    title = "Refusing"

    def prepare(self, cell: Cell, operands: Sequence[NDArray[Any]], out: NDArray[Any]) -> Prepared:
        if out.dtype == np.uint8:
            raise UnsupportedError("no bytes today")
        return super().prepare(cell, operands, out)


class NotStarting(Right):
    """It cannot be imported."""

    title = "Not starting"

    def start(self, threads: int) -> None:
        raise ImportError("a library is missing")


class NotInstalled(Right):
    """Its package is nowhere."""

    title = "Not installed"
    packages = ("no_such_package.part",)
    install = "pip install no-such-package"
