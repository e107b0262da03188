"""No test hangs: one that does is ended with every thread's stack, and the others go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processes

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
HANGING = """
import ctypes, os, threading, pytest

def test_waits_in_python():
    threading.Thread(target=threading.Event().wait, name="helper of the test", daemon=True).start()
    threading.Event().wait()

@pytest.mark.skipif(os.name != "posix", reason="it waits by POSIX threads")
def test_waits_in_compiled_code():
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    for _ in range(2):
        library.pthread_mutex_lock(mutex)

def test_passes():
    pass
"""


def test_the_others_go_on(tmp_path: Path) -> None:
    """With the settings of the project, but for fewer seconds; in processes of pytest-xdist, as `make test` has it."""
    (tmp_path / "test_hanging.py").write_text(HANGING)
    command = [sys.executable, "-m", "pytest", "-c", str(PYPROJECT), f"--rootdir={tmp_path}", "-p", "no:cacheprovider"]
    limits = ["-o", "timeout=1", "-o", "faulthandler_timeout=3"]
    plugins = ["-p", "xdist", "-p", "pytest_timeout"]  # What else is installed is imported for nothing.
    without = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = processes.run([*command, *limits, *plugins, "-n1", str(tmp_path)], stderr=subprocess.STDOUT, env=without)
    assert done.returncode == 1, done.stdout
    assert "2 failed, 1 passed" in done.stdout
    assert "Stack of helper of the test" in done.stdout
    assert "Timeout (0:00:03)!" in done.stdout
    assert "in test_waits_in_compiled_code" in done.stdout


class TestProcesses:
    """What `tests.processes` starts ends in time, and can be interrupted."""

    @pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT to ignore")
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
    def test_where_interruptions_are_ignored(self, number: signal.Signals) -> None:
        """As in the background of a shell, and under nohup."""
        before = signal.signal(number, signal.SIG_IGN)
        try:
            ending = processes.python(f"import os; os.kill(os.getpid(), {number:d}); print('not interrupted')")
            assert processes.run(ending).stdout == ""
            assert signal.getsignal(number) is signal.SIG_IGN
        finally:
            signal.signal(number, before)
