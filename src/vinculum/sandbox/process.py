"""A subprocess that answers frames with frames, monitored for time, memory and termination."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import BinaryIO

import psutil

from vinculum.sandbox.answer import Answer, End, death_words
from vinculum.sandbox.child import read_frame, write_frame

_CHILD = Path(__file__).with_name("child.py")
_LOOK = 0.05  # Seconds between two checks of a busy process.
_PATIENCE = 5.0  # Seconds to wait for a process that is ending.
_GIB, _MIB = 1 << 30, 1 << 20
_MALFORMED = "what it wrote to the answer pipe is not an answer"


def start() -> subprocess.Popen[bytes]:
    """Start a process that runs `child`."""
    # -P: the folder of the file, which contains our modules, must not be on the import path.
    command = [sys.executable, "-P", str(_CHILD)]
    # In its own session Ctrl-C does not reach it, and it can be ended together with its children.
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


class ChildProcess:
    """A process that runs `child` until it dies or `end` is called."""

    def __init__(self) -> None:
        self._process = start()
        self._calls: SimpleQueue[bytes | None] = SimpleQueue()
        self._answers: SimpleQueue[bytes | Exception] = SimpleQueue()
        pipes = self._process.stdin, self._process.stdout
        self._talk = Thread(target=_talk, args=(*pipes, self._calls, self._answers), daemon=True)
        self._talk.start()

    @property
    def alive(self) -> bool:
        """Whether it can receive another frame."""
        return self._process.poll() is None and self._talk.is_alive()

    def ask(self, frame: bytes, seconds: float, memory: int) -> bytes | Answer:
        """Return the answer to a frame, or how the process ended.

        It may take that many seconds and, with its children, bytes of memory.
        """
        self._calls.put(frame)
        deadline = monotonic() + seconds
        while True:
            left = deadline - monotonic()
            with suppress(Empty):
                answer = self._answers.get(timeout=max(min(_LOOK, left), 0))
                return self._crash(answer) if isinstance(answer, Exception) else answer
            if self._process.poll() is not None:
                return self._last_words()
            if self._memory() > memory:
                self.end()
                return Answer(End.OUT_OF_MEMORY, words=f"it took more than {_size(memory)} of memory")
            if left <= 0:
                self.end()
                return Answer(End.HUNG, words=f"no answer within {seconds:g} second{'' if seconds == 1 else 's'}")

    def end(self) -> None:
        """End the process and its children; may be called repeatedly, from any thread."""
        if os.name == "posix":
            # Its children too, as they have its pipes open and may write to them.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._calls.put(None)
        self._talk.join(_PATIENCE)

    def _memory(self) -> int:
        try:
            process = psutil.Process(self._process.pid)
            return sum(int(own.memory_info().rss) for own in (process, *process.children(recursive=True)))
        except psutil.Error:  # One of them is just ending.
            return 0

    def _last_words(self) -> bytes | Answer:
        """Return the last answer of a dead process, or how it died."""
        self.end()
        try:
            answer = self._answers.get(timeout=_PATIENCE)
        except Empty:  # A child process is still alive and has the pipe open.
            answer = EOFError()
        return self._crash(answer) if isinstance(answer, Exception) else answer

    def _crash(self, error: Exception) -> Answer:
        """Return how a process died; one whose output cannot be parsed is ended."""
        malformed = not isinstance(error, EOFError | OSError)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if malformed else _PATIENCE)
        code = self._process.returncode
        self.end()
        return Answer(End.CRASHED, words=_MALFORMED if code is None or malformed else death_words(code))


def _size(memory: int) -> str:
    return f"{memory / _GIB:g} GiB" if memory % (_GIB // 4) == 0 else f"{memory / _MIB:g} MiB"


def _talk(
    stdin: BinaryIO, stdout: BinaryIO, calls: SimpleQueue[bytes | None], answers: SimpleQueue[bytes | Exception]
) -> None:
    """Write frames and read answers until either side closes; only this thread touches the pipes."""
    if hasattr(signal, "pthread_sigmask"):
        # The command line lets SIGPIPE end it when its reader leaves; writing to a dead child must not end it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    number = 0
    try:
        while (frame := calls.get()) is not None:
            write_frame(stdin, number, frame)
            answers.put(read_frame(stdout, number))
            number += 1
    except (OSError, EOFError, ValueError, OverflowError, MemoryError) as error:
        answers.put(error)
    finally:
        answers.put(EOFError())  # For callers of a process that has ended in the meantime.
        for pipe in (stdin, stdout):
            with suppress(OSError):  # The rest can no longer be written.
                pipe.close()
