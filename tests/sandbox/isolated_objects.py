"""Objects for another process that crash, hang, take memory or return nonsense when they are told to."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

PROGRAM_IMPORTS = """
import os, signal, subprocess, sys, threading, time
from contextlib import suppress
from tests.processes import python, run
from vinculum.sandbox import CrashedError, UnsupportedError
"""
FOREVER = 600.0  # Seconds; no test is to wait for the end of it.


class ForeignPanic(BaseException):
    """An error that is not an Exception, such as extensions written in Rust raise."""


class ExitsWhereItIsRead:
    """It ends any process that unpickles it."""

    def __reduce__(self) -> Any:
        return sys.exit, (7,)


class WithoutWordsError(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Subject:
    """An object that runs programs.

    Parameters
    ----------
    start : int
        The initial count.
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
        """Run a program, which may use `given`, and return its variable `answer`."""
        names = {**globals(), "given": given}
        exec(PROGRAM_IMPORTS + program, names)
        return names.get("answer")


class Runner:
    """A stand-in for the runner of models in a foreign runtime.

    Parameters
    ----------
    runtime : str
        What happens to every model.
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
    """It can be made only once, as it leaves a file that prevents another."""

    def __init__(self, file: str) -> None:
        Path(file).touch(exist_ok=False)

    def die(self) -> NoReturn:
        os._exit(1)


class Copied(Subject):
    """A `Subject` whose process may be copied."""

    survives_fork = True
