"""Processes of the sandbox that need not import everything anew: each is forked from a server that has.

The server is multiprocessing's. A forked process has folder, variables, pipes, session and end of its own, as one that
the sandbox starts; `tests.sandbox` is about those, and has no others.
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
from threading import Lock
from typing import BinaryIO, NoReturn

import pytest

from tests import fake_runtime, processes
from vinculum.sandbox import child, process

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.preloaded"])
_ONE = Lock()  # Threads start processes and ask for their ends, each of which is told to one of them.


class WarmProcess:
    """A process forked from the server, as `vinculum.sandbox.process` wants one."""

    def __init__(self) -> None:
        (their_calls, calls), (answers, their_answers) = (_CONTEXT.Pipe(duplex=False) for _ in range(2))
        self.stdin: BinaryIO = os.fdopen(os.dup(calls.fileno()), "wb")
        self.stdout: BinaryIO = os.fdopen(os.dup(answers.fileno()), "rb")
        given = (their_calls, their_answers, str(Path.cwd()), dict(os.environ))
        self._process = _CONTEXT.Process(target=_run, args=given, daemon=True)
        with _ONE, pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", processes.importing()["PYTHONPATH"])  # of the server, which the first one starts
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
    """Have this process's sandbox fork what it starts, where a copy of one is as good as a new one."""
    if sys.platform == "linux":
        process.start = WarmProcess  # type: ignore[assignment]


def _run(calls: Connection, answers: Connection, folder: str, variables: dict[str, str]) -> NoReturn:
    """Be the process that was asked for."""
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
        if importlib.import_module("tests.preloaded").THREADED:  # Then it begins anew.
            os.execv(sys.executable, [sys.executable, "-P", child.__file__])
        child.main()
    finally:  # Whatever it was, the process ends here.
        os._exit(1)
