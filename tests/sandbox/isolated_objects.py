"""What the tests of isolation put into another process: objects that die, hang, eat memory and lie."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

from tests.processes import python, run
from vinculum.errors import AttributeValueError
from vinculum.sandbox import CrashedError, UnsupportedError

FOREVER = 600.0  # Seconds; no test is to wait for the end of it.


class Unreadable:
    """It leaves its process, and cannot be read in another."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


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
    """An object that can be asked for every way to end a call.

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

    def group(self) -> int:
        return os.getpgid(0)

    def refuse(self) -> NoReturn:
        raise ValueError("two\nlines")

    def lack(self) -> NoReturn:
        raise UnsupportedError("no such\noperator")

    def panic(self) -> NoReturn:
        raise ForeignPanic("called `Option::unwrap()` on a `None` value")

    def nest(self) -> Any:
        return self.nest()

    def exit(self, code: object) -> NoReturn:
        sys.exit(code)  # type: ignore[arg-type]  # anything may be given

    def exit_at_once(self, code: int) -> NoReturn:
        os._exit(code)

    def die(self, name: str) -> None:
        os.kill(os.getpid(), signal.Signals[name])

    def fault(self) -> None:
        ctypes.string_at(0)

    def sleep(self, begun: str = "") -> None:
        """Sleep; a file that is named appears before that."""
        if begun:
            Path(begun).touch()
        time.sleep(FOREVER)

    def spin(self) -> None:
        while True:
            pass

    def eat(self, size: int) -> None:
        """Hold that many bytes, all written, and do not come back."""
        eaten = bytearray(b"x") * size
        time.sleep(FOREVER)
        del eaten

    def eat_elsewhere(self, size: int) -> None:
        """Let a process of one's own hold that many bytes."""
        run(python(f"import time; eaten = bytearray(b'x') * {size}; time.sleep({FOREVER})"), limit=FOREVER)

    def report_crash(self, how: int | str) -> NoReturn:
        raise CrashedError(how)

    def lack_memory(self) -> NoReturn:
        raise MemoryError("Unable to allocate 8.00 EiB")

    def give_function(self) -> Any:
        return lambda: None

    def give_unreadable(self) -> Unreadable:
        return Unreadable()

    def give_exit(self) -> ExitsWhereItIsRead:
        return ExitsWhereItIsRead()

    def refuse_without_words(self) -> NoReturn:
        raise WithoutWordsError

    def print(self) -> str:
        """Say much, by every way out."""
        print("noise " * 1000, flush=True)
        print("noise " * 1000, file=sys.stderr, flush=True)
        os.write(1, b"noise")
        run(python("print('noise')"), stdout=None, stderr=None)
        return "done"

    def read(self) -> str:
        """Read what a runtime might ask a user for."""
        return sys.stdin.read()

    def write_rubbish(self) -> None:
        """Write into every file that is open, then wait."""
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"rubbish" * 10)
            except OSError:
                continue
        time.sleep(FOREVER)

    def close_everything(self) -> None:
        """Close every file that is open, then wait."""
        os.closerange(3, 20)
        time.sleep(FOREVER)

    def fork(self) -> int:
        """Come back twice, from a copy of the process too."""
        os.fork()
        return 1

    def die_with_child(self) -> None:
        """Leave a copy of the process behind, which holds all its pipes, and die."""
        if os.fork():
            os._exit(3)
        time.sleep(FOREVER)

    def leave_child(self) -> int:
        """Leave another process behind, and return its number."""
        sleeping = python(f"import time; time.sleep({FOREVER})")
        return subprocess.Popen(sleeping).pid  # noqa: TID251  # it is to outlive us

    def die_later(self) -> int:
        """Answer, then die before anybody asks again."""
        threading.Timer(0.1, os._exit, [5]).start()
        return os.getpid()


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
