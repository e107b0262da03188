"""What is fuzzed: a job in a process of its own, started again whenever it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from base64 import b85encode
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

import vinculum
from tests.copies import copied

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKER = Path(__file__).with_name("worker.py")
STARTING = 120.0  # Seconds; where no kernel is compiled yet the first runs wait for the compiler.
ONE_CASE = 120.0  # A case takes a second or two of its own, and on a busy machine many times as long.


@dataclass(frozen=True)
class Case:
    """A damaged file in place of an example's.

    Attributes
    ----------
    name : str
        Which: a path in the folder of examples.
    content : bytes
        What stands there now, or in the ``.bin`` beside it if the name ends so.
    opset : int
        What to convert to, for jobs that convert.
    """

    name: str
    content: bytes
    opset: int = 0

    def __repr__(self) -> str:
        """Return what makes the case again: its bytes, compressed and in base 85."""
        packed = b85encode(zlib.compress(self.content, 9)).decode()
        return f"Case({self.name!r}, zlib.decompress(b85decode({packed!r})), {self.opset})"


class Subject:
    """A worker for one job; a context manager.

    Parameters
    ----------
    job : str
        A key of ``worker.JOBS``.
    folder : Path
        Where a copy of the examples may stand.
    seconds : float
        How long a case may take.
    """

    def __init__(self, job: str, folder: Path, seconds: float = ONE_CASE) -> None:
        self._job = job
        self._folder = folder / "examples"
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None  # noqa: TID251  # each wait for it has a limit
        self._connection: Connection | None = None
        self.starts = 0
        self._copy_examples()

    def __enter__(self) -> Subject:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def outcome(self, case: Case) -> str:
        """Return ``"accepted"``, ``"refused"``, ``"different"`` or ``"slow"``; fail, with the case, if it is worse.

        The second is by an error of ours; the third by one that says that a conversion does not compute the same;
        after the last the worker is killed.
        """
        connection = self._ready()
        connection.send((case.name, case.content, case.opset))
        try:
            if not connection.poll(self._seconds):
                self._stop()
                return "slow"
            kind, words = connection.recv()
        except (EOFError, OSError):
            raise AssertionError(f"{self._last_words()}: {case!r}") from None
        assert kind != "escaped", f"{words}\n{case!r}"
        return str(kind)

    def _copy_examples(self) -> None:
        copied(EXAMPLES, self._folder, ignore=lambda *_: {"make_examples.py", "__pycache__"})

    def _ready(self) -> Connection:
        if self._connection is not None:
            return self._connection
        # What a case that ended badly left in the place of a file is made good.
        self._copy_examples()
        ours, theirs = Pipe()
        sources = str(Path(vinculum.__file__).parents[1])
        self._process = subprocess.Popen(  # noqa: TID251  # likewise
            # What NumPy has to say about damaged models is no news.
            [sys.executable, "-W", "ignore", str(WORKER), str(theirs.fileno()), str(self._folder), self._job],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": sources},
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._connection = ours
        self.starts += 1
        assert ours.poll(STARTING), "the worker did not start"
        assert ours.recv() == "ready"
        return ours

    def _last_words(self) -> str:
        """Return how the process ended."""
        assert self._process is not None
        code = self._process.wait(self._seconds)
        self._stop()
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None
