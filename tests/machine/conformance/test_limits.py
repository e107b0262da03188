"""Limits of time and memory for runtimes; Ctrl-C leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import numpy as np
import psutil
import pytest

from tests import fake_runtime
from tests.conformance.asking import case
from tests.conformance.run.test_suite import A_WHILE, numbered
from tests.conformance.runtimes.test_command import FIVE_THIRDS, asked, command
from tests.fake_runtime import FakeRuntime
from tests.processes import importing, python, started
from vinculum.conformance.cases.case import Case
from vinculum.conformance.run.record import Kind
from vinculum.conformance.run.suite import ask
from vinculum.sandbox import End, Limits
from vinculum.spec.element_types import INT64


def test_a_leak_is_not_blamed_on_the_last_case() -> None:
    limits = Limits(seconds=A_WHILE, memory=288 << 20)  # One of the processes leaks more than that.
    found = ask(FakeRuntime(), numbered(20), f"{fake_runtime.__name__}:Leaks", limits=limits)
    assert [result.verdict.kind for result in found] == [Kind.EXACT] * 20


@pytest.mark.skipif(os.name != "posix", reason="such programs are asked on POSIX only")
def test_a_program_that_closes_its_output() -> None:
    """It has five seconds to end, and then counts as crashed."""
    ends = asked(command("--close"), FIVE_THIRDS, FIVE_THIRDS, FIVE_THIRDS)
    words = "it closed its standard output without an answer"
    assert ends == [(End.RETURNED, ""), (End.CRASHED, words), (End.RETURNED, "")]


def of_the_smallest() -> Case:
    dividend = np.array([np.iinfo(np.int64).min])
    return case(INT64, [dividend, [2]], dividend // 2)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT to send")
def test_an_interruption() -> None:
    """Ctrl-C ends a run at once, even if a runtime hangs."""
    lines = (
        "from tests.machine.conformance import test_limits as t",
        "print('ready', flush=True)",
        "limits = t.Limits(seconds=500)",
        "t.ask(t.fake_runtime.Sleeps(), [t.of_the_smallest()] * 2, 'tests.fake_runtime:Sleeps', limits=limits)",
    )
    pipe = subprocess.PIPE
    with started(python("\n".join(lines)), stdout=pipe, stderr=pipe, env=importing()) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        children = _children(run.pid, 2)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate()
    assert errors.endswith(b"KeyboardInterrupt\n")
    _, alive = psutil.wait_procs(children, A_WHILE)
    assert not alive


def _children(process: int, count: int) -> list[psutil.Process]:
    """Wait until a process has so many children, and return them."""
    deadline = time.monotonic() + A_WHILE
    while time.monotonic() < deadline:
        found: list[psutil.Process] = psutil.Process(process).children()
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError("no children were started")
