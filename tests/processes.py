"""Processes that tests start: each ends within a limit, and handles signals as one of a user does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer, current_thread, main_thread
from typing import Any

LIMIT = 200.0  # Seconds; only what hangs takes so long. Less than the limit of a test in pyproject.toml.

_STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def default_signals() -> Iterator[None]:
    """Let processes that are started in the block be interrupted, even if this one ignores interruptions.

    A shell starts background processes with SIGINT ignored, and `nohup` with SIGHUP ignored; children inherit that. A
    signal with a handler, in contrast, has its default effect in children.
    """
    if current_thread() is not main_thread():  # Only the main thread may set handlers.
        yield
        return
    before = {number: signal.signal(number, signal.default_int_handler) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def started(command: Sequence[str | Path], *, limit: float = LIMIT, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process that is killed, with its children, when the block ends or after a limit in seconds.

    So no test waits for its output or its end for ever. Options are those of `subprocess.Popen`. There is no standard
    input unless it is given.
    """
    with default_signals():
        process = subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, "start_new_session": True} | options)
    watch = Timer(limit, _kill, [process])
    watch.daemon = True
    watch.start()
    try:
        with process:
            try:
                yield process
            finally:
                _kill(process)
    finally:
        watch.cancel()
        watch.join()  # Some tests count threads.


def run(command: Sequence[str | Path], *, limit: float = LIMIT, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a process to its end and return it with its output as text; beyond the limit it is killed and the test fails.

    Options are those of `subprocess.run`.
    """
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    if "input" not in given:
        given["stdin"] = subprocess.DEVNULL
    with default_signals():
        return subprocess.run(command, timeout=limit, check=False, **given)


def output_of(command: Sequence[str | Path], *, limit: float = LIMIT, **options: Any) -> str:
    """Run a process to its end and return its output; fail with its errors unless it exits with 0."""
    done = run(command, limit=limit, **options)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-4000:]}"
    return str(done.stdout)


def python(program: str, *options: str) -> list[str]:
    """Return the command that runs a program in this Python, with more options of the interpreter."""
    return [sys.executable, *options, "-c", program]


def importing() -> Mapping[str, str]:
    """Return an environment in which a process imports from the same places as this one."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _kill(process: subprocess.Popen[Any]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it has ended, and so has what it started
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
