"""What the tests of isolation put into another process: an object that can be told to die, hang, eat memory and lie."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from tests.processes import python, run
from vinculum.errors import AttributeValueError
from vinculum.sandbox import CrashedError, UnsupportedError

__all__ = ["CrashedError", "UnsupportedError", "ctypes", "python", "run", "subprocess", "suppress", "threading"]
"""What only the programs use that `Subject.do` runs."""

FOREVER = 600.0  # Seconds; no test is to wait for the end of it.


class ForeignPanic(BaseException):
    """An error that is no Exception, as extensions written in Rust raise."""


class ExitsWhereItIsRead:
    """It ends whatever process unpickles it."""

    def __reduce__(self) -> Any:
        return sys.exit, (7,)


class WithoutWordsError(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Subject:
    """An object whose calls do what a program says.

    Parameters
    ----------
    start : int
        What `count` begins with.
    """

    def __init__(self, start: int = 0) -> None:
        self._count = start

    def count(self) -> int:
        """Return how often it was called."""
        self._count += 1
        return self._count

    def same(self, value: Any) -> Any:
        return value

    def process(self) -> int:
        return os.getpid()

    def do(self, program: str, given: object = None) -> Any:
        """Run a program, which may use what is given, and return what it calls `answer`."""
        names = {**globals(), "given": given}
        exec(program, names)
        return names.get("answer")


class Runner:
    """It takes the place of what runs models in a foreign runtime.

    Parameters
    ----------
    runtime : str
        What is to become of every model.
    """

    def __init__(self, runtime: str) -> None:
        self._runtime = runtime

    def run(self, model: bytes | str, inputs: object) -> list[object]:
        if self._runtime == "exits":
            sys.exit(7)
        if self._runtime == "sleeps":
            time.sleep(FOREVER)
        raise MemoryError


class Once:
    """It can be made once: the file that it leaves forbids it from then on."""

    def __init__(self, file: str) -> None:
        Path(file).touch(exist_ok=False)

    def die(self) -> NoReturn:
        os._exit(1)


def refused() -> NoReturn:
    """Be refused by an error of ours."""
    raise AttributeValueError("device is 'TPU'; allowed: 'CPU'")


def broken() -> NoReturn:
    """Be refused by another's."""
    raise RuntimeError("no\nlicence")


def dying() -> NoReturn:
    """Kill the process instead of making anything."""
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def slow() -> NoReturn:
    """Take for ever to make."""
    time.sleep(FOREVER)
    raise AssertionError


class Copied(Subject):
    """The same, but for that a copy of its process may answer."""

    survives_fork = True
