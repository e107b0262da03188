"""What becomes of a call in another process."""

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
    """What became of a call.

    Attributes
    ----------
    end : End
        How it ended.
    value : object
        What was returned; None if nothing was.
    words : str
        One line: the error's message, ``"SIGFPE"`` or ``"exit code 7"`` if it died, the limit that it went beyond;
        empty if it returned.
    """

    end: End
    value: Any = None
    words: str = ""


class UnsupportedError(Exception):
    """A runtime says that it has no such operator version, element type or attribute at all: no fault in a division."""


class CrashedError(Exception):
    """A runtime that answers from a process of its own has died there, or writes what cannot be understood.

    Parameters
    ----------
    how : int or str
        The return code of `subprocess`, -8 for SIGFPE; or one line that says what happened.
    """

    def __init__(self, how: int | str) -> None:
        super().__init__(death_words(how) if isinstance(how, int) else how)


def death_words(code: int) -> str:
    """Return what a process died of, by its return code: ``"SIGFPE"``, ``"exit code 7"``."""
    if os.name == "posix" and code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"
