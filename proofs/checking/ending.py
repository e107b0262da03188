"""How the programs of this package end: with what they find, or with one line that says what keeps them from it."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from subprocess import TimeoutExpired
from types import FrameType
from typing import NoReturn

from proofs.checking.provers import ProofError

BROKEN = 2
# A job that a script starts in the background ignores SIGINT; ours ends all the same, since it has provers to stop.
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Arguments(argparse.ArgumentParser):
    """A parser of command lines that says in one line what is wrong with one."""

    def error(self, message: str) -> NoReturn:
        """Print the line, and end."""
        self.exit(BROKEN, f"error: {message}\n")


def ended(program: Callable[[], int]) -> int:
    """Return a program's exit code: its own, 2 with one line of what went wrong, or 128 and the signal that stopped it.

    Parameters
    ----------
    program : callable
        Does the work and returns 0 if all is well, 1 if it found a fault.
    """
    # Who calls with `nohup` wants no end when the terminal goes.
    before = {each: signal.getsignal(each) for each in _STOPPING}
    heard = [each for each in _STOPPING if each != signal.SIGHUP or before[each] != signal.SIG_IGN]
    try:
        for each in heard:
            signal.signal(each, _interrupt)
        return program()
    except (ProofError, OSError, UnicodeError, TimeoutExpired) as error:
        print(f"error: {error}", file=sys.stderr)
        return BROKEN
    except KeyboardInterrupt as interruption:
        print("interrupted", file=sys.stderr)
        return 128 + int(*interruption.args)
    finally:
        for each in heard:
            signal.signal(each, before[each])


def _interrupt(number: int, _frame: FrameType | None) -> None:
    for each in _STOPPING:
        signal.signal(each, signal.SIG_IGN)  # what is under way now is the cleaning up
    raise KeyboardInterrupt(number)
