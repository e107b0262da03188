"""Helper threads do not change how a process forks, is interrupted, and exits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests import processes
from tests.kernels import test_environment
from tests.optional import needs_core

pytestmark = [
    needs_core(),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither fork nor such signals"),
]

# Divides on eight threads, whatever the number of processors. All other threads of the process are helpers.
PROGRAM = """
import atexit, os, signal, sys, threading, time, warnings
import numpy as np
import psutil
import vinculum
from tests.kernels.many_threads import allowed

warnings.simplefilter("ignore", DeprecationWarning)  # of forks of a process that has threads: they are the subject
eight = allowed(8)
eight.__enter__()
A = np.arange(1, 400_001, dtype=np.int32)
B = np.arange(1, 400_001, dtype=np.int32)[::-1] % 977 + 1
EXPECTED = A // B

def divide():
    assert np.array_equal(vinculum.div(A, B), EXPECTED)
    few = np.full(16, 7, np.int32)
    assert (vinculum.div(few, few) == 1).all()

def assert_helpers(expected):
    '''Fail unless there are so many threads besides this one, soon; others may be about to end.'''
    end = time.monotonic() + 20
    while (found := psutil.Process().num_threads() - 1) != expected:
        assert found > expected and time.monotonic() < end, (found, expected)

def fall_asleep():
    time.sleep(0.05)  # a helper that is idle for that long sleeps

def forked(run):
    '''Run a function in a fork that then exits normally, within two minutes; return its exit code.'''
    child = os.fork()
    if not child:
        signal.alarm(120)
        run()
        sys.exit()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def assert_clean(program: str, output: str = "") -> None:
    """Run a program; fail unless it exits with 0 and prints exactly this."""
    done = processes.run(processes.python(PROGRAM + program), env=processes.importing())
    assert (done.stderr.strip()[-2000:], done.stdout.strip(), done.returncode) == ("", output, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
class TestFork:
    """A child has no helpers of its parent, and starts its own when it needs them."""

    def test_children_grandchildren_and_pools_of_processes(self) -> None:
        assert_clean("""
import multiprocessing

def divide_as_the_first():
    assert_helpers(0)
    divide()
    assert_helpers(7)

def divide_and_fork():
    divide_as_the_first()
    assert forked(divide_as_the_first) == 0
    divide()

def total(n):
    divide()
    return int(vinculum.div(A, np.int32(n)).sum())

divide_as_the_first()
assert forked(divide_and_fork) == 0
assert forked(lambda: sys.exit(3)) == 3  # divides nothing
assert_helpers(7)
with multiprocessing.get_context("fork").Pool(3) as processes:
    assert processes.map(total, range(1, 13)) == [int((A // n).sum()) for n in range(1, 13)]
divide()
""")

    def test_during_the_first_division_of_other_threads(self) -> None:
        """The child can use modules that those threads are importing."""
        program = """
import os, threading, signal
import numpy as np, vinculum
a = np.arange(1, 100)
threads = [threading.Thread(target=lambda: vinculum.div(a, a)) for _ in range(2)]
for thread in threads:
    thread.start()
child = os.fork()
if not child:
    signal.alarm(60)
    vinculum.div(a, a)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
        for _ in range(5):
            done = processes.run(processes.python(program, "-W", "ignore"), env=processes.importing())
            assert (done.stderr, done.returncode) == ("", 0)

    def test_while_other_threads_divide(self) -> None:
        """Helpers may be in the middle of a division, with locks held, when the parent forks."""
        assert_clean("""
divide()
ended = False

def go_on():
    while not ended:
        divide()

threads = [threading.Thread(target=go_on) for _ in range(3)]
for thread in threads:
    thread.start()
codes = [forked(lambda: (divide(), os._exit(0))) for _ in range(20)]
ended = True
for thread in threads:
    thread.join()
assert codes == [0] * 20
divide()
""")


class TestEnd:
    """The process exits at once, silently, and with its own exit code."""

    def test_clean(self) -> None:
        """While helpers look for work, while they sleep, and in between; forked or not."""
        assert_clean("""
assert forked(lambda: (divide(), time.sleep(0.00005))) == 0
assert forked(lambda: (divide(), fall_asleep())) == 0
assert forked(divide) == 0
divide()
""")

    def test_an_exception(self) -> None:
        """Only its own traceback is printed, in the program and at exit."""
        program = """
assert forked(lambda: (atexit.register(lambda: 1 / 0), divide())) == 0
divide()
raise ValueError('the end')
"""
        done = processes.run(processes.python(PROGRAM + program), env=processes.importing())
        assert done.returncode == 1
        assert "ZeroDivisionError: division by zero" in done.stderr.splitlines()
        assert done.stderr.splitlines()[-1] == "ValueError: the end"
        assert done.stderr.count("Traceback") == 2

    def test_a_division_at_the_end(self) -> None:
        """The first division of the process, or one before the helpers end and one after."""
        assert_clean(
            """
assert forked(lambda: atexit.register(lambda: (divide(), print("first", flush=True)))) == 0
atexit.register(lambda: (divide(), print("after", flush=True)))
divide()
atexit.register(lambda: (divide(), print("before", flush=True)))
""",
            output="first\nbefore\nafter",
        )

    def test_while_others_divide(self) -> None:
        """Daemon threads, which are not waited for, and a thread that is."""
        assert_clean(
            """
def divide_in_daemons():
    begun = threading.Event()

    def go_on():
        while True:
            divide()
            begun.set()

    for _ in range(3):
        threading.Thread(target=go_on, daemon=True).start()
    begun.wait()
    time.sleep(0.02)

assert forked(lambda: (divide_in_daemons(), sys.exit(4))) == 4
assert forked(lambda: (divide_in_daemons(), os._exit(5))) == 5

def go_on():
    for _ in range(100):
        divide()
    print("done", flush=True)

threading.Thread(target=go_on).start()
time.sleep(0.02)
""",
            output="done",
        )


class TestNumberOfHelpers:
    """As many helpers as are set, and none for one thread or few elements."""

    def test_as_many_as_are_set(self) -> None:
        assert_clean("""
vinculum.set_threads(1)
divide()
vinculum.set_threads(None)
vinculum.div(np.ones(1000, "f4"), np.ones(1000, "f4"))
vinculum.div(np.ones((1000, 3), "f4").T, np.ones((1000, 3), "f4").T)
assert_helpers(0)
for count, expected in ((2, 1), (3, 2), (2, 2), (8, 7), (1, 7)):
    with vinculum.threads(count):
        assert vinculum.get_threads() == count
        divide()
    assert_helpers(expected)
for _ in range(20):
    fall_asleep()
    divide()
assert_helpers(7)
""")

    @pytest.mark.skipif(*test_environment.pytestmark.args, **test_environment.pytestmark.kwargs)
    def test_they_divide_in_the_default_environment(self) -> None:
        """Also helpers that are started or woken by a thread with another floating-point environment."""
        assert_clean("""
from tests.kernels.comparing import DTYPES, assert_same, lenient
from tests.kernels.test_environment import CONTROL, operands, switched_to

given = {name: operands(name, (600, 600)) for name in DTYPES}

def divided():
    return {name: vinculum.div(*pair, **lenient(name)) for name, pair in given.items()}

with switched_to(CONTROL):
    results = divided()
with vinculum.threads(1):
    expected = divided()
for name in DTYPES:
    assert_same(results[name], expected[name])
""")

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux sets a process's affinity")
    def test_on_one_processor(self) -> None:
        """No helpers by default; a thread that waits for a helper without a processor yields to it."""
        assert_clean("""
def divide_on_one(processors):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for _ in range(50):
        divide()
    assert_helpers(processors - 1)

def divide_by_default():
    eight.__exit__(None, None, None)
    divide_on_one(1)

assert forked(divide_by_default) == 0
assert forked(lambda: divide_on_one(8)) == 0
""")

    @pytest.mark.skipif(
        not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="needs two processors on Linux"
    )
    def test_helpers_have_the_affinity_of_the_calling_thread(self) -> None:
        """Also if it has changed since they were started; they run nowhere else in between."""
        assert_clean("""
everywhere = os.sched_getaffinity(0)
first, second = sorted(everywhere)[:2]
vinculum.set_threads(2)
divide()
(helper,) = set(map(int, os.listdir("/proc/self/task"))) - {threading.get_native_id()}
while os.sched_getaffinity(helper) != everywhere:
    fall_asleep()  # It was woken beside this thread, and has not run yet: it would return to all processors later.
before = everywhere
for allowed in ({first}, {second}, everywhere, {first, second}, {first}):
    os.sched_setaffinity(0, allowed)
    end = time.monotonic() + 60
    while os.sched_getaffinity(helper) != allowed:
        fall_asleep()
        divide()
        assert (found := os.sched_getaffinity(helper)) <= allowed | before, (found, allowed, before)
        assert time.monotonic() < end
    for _ in range(20):
        divide()
        assert (found := os.sched_getaffinity(helper)) <= allowed, (found, allowed, before)
    while os.sched_getaffinity(helper) != allowed:
        fall_asleep()  # It was woken beside this thread, and has not run yet.
    before = allowed
""")

    @pytest.mark.skipif(sys.platform != "linux", reason="a thread needs more address space than is left on Linux")
    def test_a_system_that_starts_no_thread(self) -> None:
        """The division is right without helpers, and later ones have them again."""
        assert_clean("""
import resource

quotients = np.empty_like(A)
with vinculum.threads(1):
    divide()
process = psutil.Process()
unlimited = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (process.memory_info().vms + (4 << 20), unlimited[1]))
try:
    threading.Thread(target=divide).start()
except RuntimeError:
    pass
else:
    raise AssertionError("the limit lets threads start")
vinculum.div(A, B, out=quotients)
assert process.num_threads() == 1
resource.setrlimit(resource.RLIMIT_AS, unlimited)
assert np.array_equal(quotients, EXPECTED)
divide()
assert_helpers(7)
""")


class TestInterrupt:
    """A signal is handled between two divisions or during a long one, and later divisions are right."""

    def test_keyboard_interrupt(self) -> None:
        """No helper is lost, and they help afterwards."""
        program = """
def caller_seconds(threads):
    with vinculum.threads(threads):
        begun = time.thread_time()
        vinculum.div(A, B)
        return time.thread_time() - begun

def assert_helped():
    '''Fail unless the helper takes a part of the caller's work, which it need not do every time.'''
    if len(os.sched_getaffinity(0)) == 1:
        return
    alone = min(caller_seconds(1) for _ in range(5))
    end = time.monotonic() + 60
    while caller_seconds(2) > 0.7 * alone:
        assert time.monotonic() < end, "nobody helps"

divide()
interrupted = 0
while interrupted < 20:
    try:
        print("ready", flush=True)
        while True:
            divide()
    except KeyboardInterrupt:
        interrupted += 1
        divide() if interrupted % 2 else fall_asleep()
signal.signal(signal.SIGINT, signal.SIG_IGN)
divide()
assert_helpers(7)
assert_helped()
"""
        pipe = subprocess.PIPE
        command = processes.python(PROGRAM + program)
        with processes.started(command, env=processes.importing(), stdout=pipe, stderr=pipe, text=True) as child:
            assert child.stdout is not None
            for turn in range(20):
                assert child.stdout.readline() == "ready\n"
                time.sleep(0.001 * turn)
                child.send_signal(signal.SIGINT)
            output, errors = child.communicate()
            assert (child.returncode, output, errors) == (0, "", "")

    def test_a_long_division_is_interrupted(self) -> None:
        """It stops long before its end."""
        program = """
vinculum.set_threads(1)
a, out = (np.full(1 << 30, 100, np.int8) for _ in range(2))
began = time.process_time()  # of this process only
vinculum.div(a, a, out=out)
whole = time.process_time() - began
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while True:  # a single division may end before signals are checked
        began = time.process_time()
        vinculum.div(a[:1], a, out=out)
except KeyboardInterrupt:
    took = time.process_time() - began
assert took < max(1, 0.75 * whole), (took, whole)
"""
        assert_clean(program)

    def test_a_handler_that_divides(self) -> None:
        """It may interrupt a division at any time."""
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
