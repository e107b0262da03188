"""The program while it imports its modules."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.processes import importing, python, run

_INTERRUPTED_WHILE_IMPORTING = """
import os, runpy, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "vinculum.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["vinculum", "info"]
runpy.run_module("vinculum", run_name="__main__")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_an_interruption_while_modules_are_imported_shows_no_traceback() -> None:
    done = run(python(_INTERRUPTED_WHILE_IMPORTING), env=importing())
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_a_command_handles_interruptions() -> None:
    program = """
import signal, sys
from vinculum.__main__ import main
sys.argv = ["vinculum", "--version"]
print(main(), callable(signal.getsignal(signal.SIGINT)))
"""
    assert run(python(program), env=importing()).stdout.splitlines()[-1] == "0 True"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_command_in_the_background_goes_on_ignoring_them() -> None:
    """A shell starts background processes with SIGINT ignored."""
    background = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{_INTERRUPTED_WHILE_IMPORTING}"
    done = run(python(background), env=importing())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("vinculum ")
