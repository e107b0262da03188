"""An object in a subprocess, where a crash, a hang or lack of memory is a result like any other.

The subprocess runs `child`. It receives calls one after the other and answers each.
"""

from __future__ import annotations

import pickle
import sys
import weakref
from dataclasses import dataclass
from threading import Lock
from types import TracebackType

from vinculum.errors import AttributeValueError, ModelError, VinculumError
from vinculum.sandbox.answer import Answer, End
from vinculum.sandbox.child import APART, HERE
from vinculum.sandbox.plain import loaded
from vinculum.sandbox.process import ChildProcess
from vinculum.text import one_line, quoted


@dataclass(frozen=True)
class Limits:
    """The limits of a call."""

    seconds: float = 30.0  # A runtime that compiles at its first division needs several on a busy machine.
    start: float = 120.0  # Until the process is ready for its first call.
    memory: int = 4 << 30  # Bytes of resident memory, for the whole process.

    def __post_init__(self) -> None:
        # Not every release of typer refuses NaN for an option with a minimum; a call would then wait forever.
        if not self.seconds > 0:
            raise AttributeValueError(f"the limit of a call is {self.seconds!r} seconds; give a number above 0")


class Isolated:
    """An object in a subprocess, which is started for the first call, and again for the first call after a crash.

    A context manager; without ``with``, the subprocess ends with the object or with this process. One call is made at a
    time, from any thread, and any thread may close the object during a call.

    The maker is ``"package.module:attribute"``, the callable that makes the object; its arguments are pickled. `called`
    is the object's name in messages, by default the first argument if that is text, else the maker.
    """

    def __init__(self, maker: str, *arguments: object, limits: Limits | None = None, called: str | None = None) -> None:
        self._maker = maker
        named = quoted(arguments[0]) if arguments and isinstance(arguments[0], str) else maker
        self._called = named if called is None else called
        self._arguments = arguments
        self._limits = Limits() if limits is None else limits
        self._running: list[ChildProcess] = []  # At most one; shared with the finalizer, which must not refer to self.
        self._closed = False
        self._starting = Lock()
        self._end = weakref.finalize(self, _end_all, self._running)

    def __enter__(self) -> Isolated:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call(self, method: str, *arguments: object, seconds: float | None = None, apart: bool = False) -> Answer:
        """Return the outcome of a call of the object's method; errors in the subprocess are not raised here.

        The arguments are pickled, and `seconds` replaces the time that `limits` allow. With `apart` a call that may end
        the process is made in a copy of it, forked for that, so that no new one need be started; only on Linux, and
        only if the object has a true ``survives_fork``.

        If the object cannot be made, the maker's own error if it is one of ours, else a ModelError that names it.
        ValueError if it is closed.
        """
        frame = (APART if apart else HERE) + b"\n" + pickle.dumps((method, arguments), pickle.HIGHEST_PROTOCOL)
        process = self._ready()
        try:
            return _answer(
                process.ask(frame, self._limits.seconds if seconds is None else seconds, self._limits.memory)
            )
        except BaseException:  # Ctrl-C: the next call must not get the answer of this one.
            process.end()
            raise

    def close(self) -> None:
        """End the process, even if it is busy; no calls can be made after that."""
        with self._starting:
            self._closed = True
        self._end()

    def _ready(self) -> ChildProcess:
        """Return the process, in which the object has been made."""
        with self._starting:
            if self._closed:
                raise ValueError("it is closed and cannot be called")
            if self._running and self._running[0].alive:
                return self._running[0]
            _end_all(self._running)
            process = ChildProcess()
            self._running.append(process)
        job = (list(sys.path), self._maker, pickle.dumps(self._arguments))
        try:
            made = _answer(process.ask(pickle.dumps(job), self._limits.start, self._limits.memory))
            self._check_made(made)
        except BaseException:
            process.end()
            raise
        return process

    def _check_made(self, made: Answer) -> None:
        if made.end is End.RETURNED:
            return
        if isinstance(made.value, VinculumError):
            raise made.value
        reason = made.words if made.end is not End.CRASHED else f"the process ended: {made.words}"
        raise ModelError(f"{self._called} could not be started in a subprocess: {reason}")


def _end_all(processes: list[ChildProcess]) -> None:
    while processes:
        processes.pop().end()


def _answer(frame: bytes | Answer) -> Answer:
    """Return the answer in a frame of the subprocess, or how the process ended without one."""
    if isinstance(frame, Answer):
        return frame
    try:
        end, value, words = loaded(frame)
        return Answer(End[end], value, words)
    except MemoryError as error:
        return Answer(End.OUT_OF_MEMORY, None, one_line(error))
    except Exception as error:  # Whatever wrote these bytes in the child may have written any.
        return Answer(End.REFUSED, None, f"its result cannot be read: {one_line(error)}")
