"""Sandbox processes that hang, use up memory, die at any moment or lose their parent; calls return all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.processes import importing, python, run, started
from tests.sandbox.conftest import started_anew
from tests.sandbox.test_isolated import A_WHILE, HANG, MIB, SUBJECT, ended, posix, subject
from vinculum.sandbox import End, Isolated, Limits

__all__ = ["started_anew", "subject"]

pytestmark = pytest.mark.usefixtures("started_anew")

WRITE_RUBBISH = f"""
for descriptor in range(3, 20):
    with suppress(OSError):
        os.write(descriptor, b"rubbish" * 10)
{HANG}
"""
EAT = f"eaten = bytearray(b'x') * given\n{HANG}"
EAT_ELSEWHERE = f"""
run(python(f"import time; eaten = bytearray(b'x') * {{given}}; {HANG.replace("FOREVER", "600")}"), limit=FOREVER)
"""
LEAVE_CHILD = "answer = subprocess.Popen(python('import time; time.sleep(600)')).pid"
HANGS = (HANG, "while True: pass")


@pytest.fixture
def closed() -> Iterator[Isolated]:
    """Return an object of its own, which the test may close."""
    with Isolated(SUBJECT, limits=Limits(seconds=A_WHILE)) as isolated:
        yield isolated


def gone(process: int) -> bool:
    """Return whether a process ends soon; its new parent may not have waited for it yet."""
    deadline = time.monotonic() + A_WHILE
    with suppress(psutil.NoSuchProcess):
        ending = psutil.Process(process)
        while ending.status() != psutil.STATUS_ZOMBIE or ending.num_threads() > 1:  # Its first thread may end first.
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
    return True


class TestDeath:
    """A process may die at any moment; the next call uses a new object."""

    @posix
    def test_a_signal_without_a_name(self, subject: Isolated) -> None:
        number = signal.SIGRTMIN + 1
        assert ended(subject.call("same", None))[0] is End.RETURNED
        os.kill(subject.call("process").value, number)
        # The next call may still reach the dying process; the one after it cannot.
        answers = [subject.call("count") for _ in range(2)]
        assert answers[0].words in ("", f"signal {number}")
        assert answers[1].end is End.RETURNED

    @posix
    @pytest.mark.parametrize(
        ("program", "words"),
        [(WRITE_RUBBISH, "what it wrote to the answer pipe is not an answer"), (f"os.closerange(3, 20)\n{HANG}", "")],
    )
    def test_pipes_that_are_tampered_with(self, subject: Isolated, program: str, words: str) -> None:
        start = time.monotonic()
        answer = subject.call("do", program)
        assert answer.end is End.CRASHED
        assert words in answer.words
        assert time.monotonic() - start < A_WHILE
        assert subject.call("count").value == 1

    def test_a_death_between_two_calls(self, subject: Isolated) -> None:
        die_later = "threading.Timer(0.1, os._exit, [5]).start()\nanswer = os.getpid()"
        assert gone(subject.call("do", die_later).value)
        assert subject.call("count").value == 1

    def test_a_death_during_a_large_call(self, subject: Isolated) -> None:
        """The process dies while it is sent more than a pipe holds."""
        process = subject.call("process").value
        killing = threading.Timer(0.05, os.kill, [process, getattr(signal, "SIGKILL", 9)])
        killing.start()
        answers = [subject.call("same", np.zeros(4 * MIB)) for _ in range(4)]
        assert {answer.end for answer in answers} <= {End.RETURNED, End.CRASHED}
        killing.join()
        assert gone(process)
        assert subject.call("count").end is End.RETURNED


class TestOutOfMemory:
    """A call that takes more memory than the limit is ended."""

    def test_more_than_the_limit(self) -> None:
        with Isolated(SUBJECT, limits=Limits(seconds=A_WHILE, memory=512 * MIB)) as isolated:
            words = "it took more than 0.5 GiB of memory"
            assert ended(isolated.call("do", EAT, 1024 * MIB)) == (End.OUT_OF_MEMORY, words)
            assert isolated.call("count").value == 1

    @posix
    def test_memory_of_child_processes_counts(self) -> None:
        with Isolated(SUBJECT, limits=Limits(seconds=A_WHILE, memory=400 * MIB)) as isolated:
            words = "it took more than 400 MiB of memory"
            assert ended(isolated.call("do", EAT_ELSEWHERE, 512 * MIB)) == (End.OUT_OF_MEMORY, words)

    def test_less_than_the_limit(self) -> None:
        with Isolated(SUBJECT, limits=Limits(seconds=1.0, memory=1024 * MIB)) as isolated:
            assert isolated.call("do", EAT, 256 * MIB).end is End.HUNG


class TestTheEnd:
    """No process is left behind, even if this one is killed."""

    @posix
    def test_child_processes_end_too(self, closed: Isolated) -> None:
        process = closed.call("do", LEAVE_CHILD).value
        closed.close()
        assert gone(process)

    def test_closing_from_another_thread(self, closed: Isolated, tmp_path: Path) -> None:
        process, begun = closed.call("process").value, tmp_path / "begun"

        def close() -> None:
            while not begun.exists():
                time.sleep(0.005)
            closed.close()

        closing = threading.Thread(target=close)
        closing.start()
        assert closed.call("do", f"Path(given).touch()\n{HANG}", str(begun)).end is End.CRASHED
        closing.join()
        assert gone(process)

    @posix
    @pytest.mark.parametrize("program", HANGS)
    def test_an_orphan_ends(self, program: str) -> None:
        """If this process is killed, the sandbox process ends, whatever it is doing."""
        assert gone(_orphan(program, signal.SIGKILL))

    @posix
    def test_child_processes_of_an_orphan_end_too(self) -> None:
        """Such as the program behind ``command:``, which may hang and not read its pipe."""
        assert gone(_orphan(HANG, signal.SIGKILL, LEAVE_CHILD))

    @posix
    def test_an_interruption(self) -> None:
        """Ctrl-C ends the process, so that its answer to one call is not taken for that to a later one."""
        assert gone(_orphan(HANG, signal.SIGINT))


def _orphan(program: str, end: signal.Signals, told: str = "answer = os.getpid()") -> int:
    """End a parent by a signal during a call; return what `told` answered before, by default the sandbox process."""
    lines = (
        "from vinculum.sandbox import Isolated, Limits",
        f"isolated = Isolated({SUBJECT!r}, limits=Limits(seconds=500))",
        f"print(isolated.call('do', {told!r}).value, flush=True)",
        f"isolated.call('do', {program!r})",
    )
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with started(python("\n".join(lines)), stdout=pipe, stderr=nowhere, env=importing()) as parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        time.sleep(0.3)  # The call has begun by then.
        parent.send_signal(end)
        parent.wait()
    return process


@posix
def test_writing_to_a_dead_process_does_not_end_a_program_by_sigpipe() -> None:
    """The command line gives SIGPIPE its default effect, for readers that close its output."""
    program = """
import signal
from vinculum.sandbox.process import ChildProcess

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
process = ChildProcess()
process._process.kill()
process._process.wait()
answer = process.ask(b"anything", 60, 1 << 40)
print(answer.end.value, answer.words)
"""
    done = run(python(program), env=importing())
    assert (done.returncode, done.stdout) == (0, "crashed SIGKILL\n"), done.stderr
