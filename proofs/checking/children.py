"""Starts the programs that the proofs need: each ends within a limit, and all of them can be stopped at once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from proofs.checking.provers import ProofError

_running: set[subprocess.Popen[str]] = set()


def told(
    command: Sequence[str], limit: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program, and return its exit code and what it printed.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    limit : float
        How many seconds it may take.
    environment : mapping, optional
        Of the program, if it is not ours.

    Raises
    ------
    ProofError
        If it takes longer. It and what it started is stopped then, and also if we are interrupted.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,  # a group of its own, so that Why3's server and its provers are stopped with it
    ) as child:
        _running.add(child)
        try:
            output, errors = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            raise ProofError(f"{command[0]} did not end within {limit:.0f} s") from None
        finally:
            if child.poll() is None:
                _kill(child)
            _running.discard(child)
    return subprocess.CompletedProcess(command, child.returncode, output, errors)


def stop_all() -> None:
    """Stop every program that runs; whoever waits for one is told that it ended."""
    for child in list(_running):
        _kill(child)


def _kill(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
