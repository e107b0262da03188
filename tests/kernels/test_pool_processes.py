"""Threads that help leave no trace on a process: it forks, is interrupted, and ends as if there were none."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from tests.kernels.processes import run, same_cache, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor such signals")

# Divides on eight threads, whatever processors there are.
PROGRAM = """
import atexit, os, signal, sys, threading, time
import numpy as np
import vinculum
from vinculum.kernels import pool as pools
from vinculum.kernels import thread_limit

thread_limit.usable_processors = lambda: 8
A = np.arange(1, 400_001, dtype=np.int32)
B = np.arange(1, 400_001, dtype=np.int32)[::-1] % 977 + 1
EXPECTED = A // B

def divide():
    assert np.array_equal(vinculum.div(A, B), EXPECTED)
    few = np.full(16, 7, np.int32)
    assert (vinculum.div(few, few) == 1).all()

def helpers():
    return sum(thread.name.startswith("vinculum-") for thread in threading.enumerate())

def asleep():
    for _ in range(20_000):
        if all(helper.asleep for helper in pools.pool()._helpers):
            return
        time.sleep(0.001)
    raise AssertionError("a helper does not go to sleep")

def status(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def assert_clean(program: str, *, code: int = 0, output: str = "", errors: str = "") -> None:
    """Run a program to its end; fail unless that is all that it says."""
    process = start(["-W", "ignore::DeprecationWarning", "-c", PROGRAM + program], same_cache())
    told = process.communicate(timeout=120)
    assert (process.returncode, told[0].strip(), told[1].strip()[-2000:]) == (code, output, errors)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
class TestFork:
    """A child has none of its parent's helpers, and starts its own when it wants them."""

    def test_a_child_and_a_grandchild_divide(self) -> None:
        assert_clean("""
divide()
assert helpers() == 7
for generation in range(3):
    child = os.fork()
    if child:
        code = status(child)
        divide()
        assert helpers() == 7
        if generation:
            os._exit(code)
        sys.exit(code)
    assert helpers() == 0
    divide()
    assert helpers() == 7
""")

    def test_a_child_that_divides_nothing(self) -> None:
        assert_clean("""
divide()
child = os.fork()
if child:
    assert status(child) == 3
    divide()
else:
    sys.exit(3)
""")

    def test_while_other_threads_divide(self) -> None:
        """The helpers may be in the midst of a division of the parent's, and their locks be held."""
        assert_clean("""
divide()
ended = False

def go_on():
    while not ended:
        divide()

threads = [threading.Thread(target=go_on) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if not child:
        divide()
        os._exit(0)
    assert status(child) == 0
ended = True
for thread in threads:
    thread.join()
divide()
""")

    def test_a_pool_of_processes(self) -> None:
        assert_clean("""
import multiprocessing

def total(n):
    divide()
    return int(vinculum.div(A, np.int32(n)).sum())

divide()
with multiprocessing.get_context("fork").Pool(3) as processes:
    assert processes.map(total, range(1, 13)) == [int((A // n).sum()) for n in range(1, 13)]
divide()
""")


class TestEnd:
    """The process ends at once and silently, with the code that it should."""

    @pytest.mark.parametrize("state", ["", "asleep()", "time.sleep(0.00005)"], ids=["spinning", "asleep", "in between"])
    def test_clean(self, state: str) -> None:
        assert_clean(f"divide()\n{state}")

    def test_an_exception(self) -> None:
        process = start(["-c", PROGRAM + "divide()\nraise ValueError('the end')"], same_cache())
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == 1
        assert errors.splitlines()[-1] == "ValueError: the end"
        assert errors.count("Traceback") == 1

    def test_an_exception_in_what_runs_at_the_end(self) -> None:
        process = start(["-c", PROGRAM + "atexit.register(lambda: 1 / 0)\ndivide()"], same_cache())
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == 0
        assert errors.splitlines()[-1] == "ZeroDivisionError: division by zero"
        assert errors.count("Traceback") == 1

    def test_a_division_at_the_end(self) -> None:
        """Before the helpers have ended, and after."""
        assert_clean(
            """
atexit.register(lambda: (divide(), print("after", flush=True)))
divide()
atexit.register(lambda: (divide(), print("before", flush=True)))
""",
            output="before\nafter",
        )

    def test_a_first_division_at_the_end(self) -> None:
        assert_clean('atexit.register(lambda: (divide(), print("divided", flush=True)))', output="divided")

    @pytest.mark.parametrize("end", ["sys.exit(4)", "os._exit(4)"])
    def test_while_a_daemon_divides(self, end: str) -> None:
        assert_clean(
            f"""
begun = threading.Event()

def go_on():
    while True:
        divide()
        begun.set()

for _ in range(3):
    threading.Thread(target=go_on, daemon=True).start()
begun.wait()
time.sleep(0.02)
{end}
""",
            code=4,
        )

    def test_while_a_thread_divides_that_is_waited_for(self) -> None:
        assert_clean(
            """
def go_on():
    for _ in range(100):
        divide()
    print("done", flush=True)

threading.Thread(target=go_on).start()
time.sleep(0.02)
""",
            output="done",
        )


class TestLimitOfOne:
    """`set_threads(1)` starts no thread."""

    def test_no_thread(self) -> None:
        assert_clean("""
vinculum.set_threads(1)
divide()
assert threading.enumerate() == [threading.main_thread()]
with vinculum.threads(8):
    assert vinculum.get_threads() == 8
    divide()
assert helpers() == 7
""")

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux sets a process's affinity")
    def test_one_processor(self) -> None:
        program = """
import os, threading
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
import vinculum
a = np.ones(2_000_000, np.int32)
assert (vinculum.div(a, a) == 1).all()
print([thread.name for thread in threading.enumerate()])
"""
        assert run(["-c", program], same_cache()) == "['MainThread']\n"

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux sets a process's affinity")
    def test_more_threads_than_processors(self) -> None:
        """Whoever waits for a helper that has no processor lets it have one."""
        assert_clean("""
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for _ in range(50):
    divide()
assert helpers() == 7
""")


class TestInterrupt:
    """A signal ends a program between two divisions, and what is divided afterwards is right."""

    def test_keyboard_interrupt(self) -> None:
        # The first division loads compiled code, and what loads it does not expect to be interrupted.
        program = """
divide()
interrupted = 0
while interrupted < 20:
    try:
        print("ready", flush=True)
        while True:
            divide()
    except KeyboardInterrupt:
        interrupted += 1
        divide() if interrupted % 2 else asleep()
signal.signal(signal.SIGINT, signal.SIG_IGN)
divide()
assert helpers() == 7
print(len(pools.pool()._helpers), pools.pool().state[pools._TAKEN], flush=True)
"""
        process = start(["-c", PROGRAM + program], same_cache())
        assert process.stdout is not None
        for turn in range(20):
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.001 * turn)
            process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
        assert (process.returncode, output, errors) == (0, "7 0\n", "")

    def test_it_ends_the_process_as_usual(self) -> None:
        process = start(
            ["-c", PROGRAM + "divide()\nprint('ready', flush=True)\nwhile True:\n    divide()"], same_cache()
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=120)[1]
        assert process.returncode == -signal.SIGINT
        assert errors.splitlines()[-1] == "KeyboardInterrupt"

    def test_a_handler_that_divides_itself(self) -> None:
        assert_clean("""
divided = 0

def handle(number, frame):
    global divided
    divide()
    divided += 1
    if divided < 30:  # once more; a timer that repeats would interrupt the handler too
        signal.setitimer(signal.ITIMER_REAL, 0.001)

divide()
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.001)
while divided < 30:
    divide()
""")
