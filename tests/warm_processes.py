"""Sandbox processes that are forked from a server which has imported their modules.

The server is multiprocessing's. A forked process has a folder, environment, pipes, session and exit code of its own, as
one that the sandbox starts. `tests.sandbox` uses only the latter.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import RLock
from typing import BinaryIO, NoReturn

import pytest

from tests import fake_runtime, processes
from vinculum.sandbox import child, process

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.preloaded"])
# Several threads start processes and wait for them; the exit code is collected once. While a thread starts a process,
# garbage collection may end another, so that it needs the lock a second time.
_ONE = RLock()


class WarmProcess:
    """A process forked from the server, with the interface that `vinculum.sandbox.process` uses."""

    def __init__(self) -> None:
        (their_calls, calls), (answers, their_answers) = (_CONTEXT.Pipe(duplex=False) for _ in range(2))
        self.stdin: BinaryIO = os.fdopen(os.dup(calls.fileno()), "wb")
        self.stdout: BinaryIO = os.fdopen(os.dup(answers.fileno()), "rb")
        given = (their_calls, their_answers, str(Path.cwd()), dict(os.environ))
        self._process = _CONTEXT.Process(target=_run, args=given, daemon=True)
        with _ONE, pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", processes.importing()["PYTHONPATH"])  # for the server, which starts now
            self._process.start()
        for end in (calls, answers, their_calls, their_answers):
            end.close()
        self.pid = self._process.pid or 0
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends."""
        if not wait([self._process.sentinel], timeout) and self.returncode is None:
            raise subprocess.TimeoutExpired("a process of the server", timeout or 0)
        with _ONE:
            if self.returncode is None:
                self._process.join()
                self.returncode = self._process.exitcode
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        """End it."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def fork_processes() -> None:
    """Let the sandbox of this process fork its processes, on Linux."""
    if sys.platform == "linux":
        process.start = WarmProcess  # type: ignore[assignment]


def _run(calls: Connection, answers: Connection, folder: str, variables: dict[str, str]) -> NoReturn:
    """Run as the process that was asked for."""
    try:
        os.setsid()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        fake_runtime.hide_runtimes()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for place, descriptor in enumerate((calls.fileno(), answers.fileno(), nowhere)):
            os.dup2(descriptor, place)
        os.closerange(3, 1024)
        if importlib.import_module("tests.preloaded").THREADED:  # Then start a new interpreter.
            os.execv(sys.executable, [sys.executable, "-P", child.__file__])
        child.main()
    finally:  # The process ends here, also after an error.
        os._exit(1)
