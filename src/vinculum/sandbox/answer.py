"""The outcome of a call in a subprocess."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from enum import Enum
from typing import Any


class End(Enum):
    """How a call ended."""

    RETURNED = "returned"
    REFUSED = "refused"
    UNSUPPORTED = "not supported"
    CRASHED = "crashed"
    HUNG = "hung"
    OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True, eq=False)
class Answer:
    """The outcome of a call: how it ended, and the value returned, or None.

    `words` is one line: the error's message, ``"SIGFPE"`` or ``"exit code 7"`` after a crash, the limit that it
    exceeded; empty if it returned.
    """

    end: End
    value: Any = None
    words: str = ""


class UnsupportedError(Exception):
    """A runtime does not support the operator version, element type or attribute: not a wrong division."""


class CrashedError(Exception):
    """A runtime in a subprocess crashed, or its output cannot be parsed.

    Parameters
    ----------
    how : int or str
        The return code of `subprocess`, -8 for SIGFPE; or one line that describes what happened.
    """

    def __init__(self, how: int | str) -> None:
        super().__init__(death_words(how) if isinstance(how, int) else how)


def death_words(code: int) -> str:
    """Return how a process ended, by its return code: ``"SIGFPE"``, ``"exit code 7"``."""
    if os.name == "posix" and code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"
