"""An object that lives in a process of its own: if it kills the process, hangs or takes all memory, that is a result.

The other process is `isolation_child`. It is handed calls one after the other and answers each as soon as it can.
"""

from __future__ import annotations

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


@dataclass(frozen=True)
class Limits:
    """What a call may take.

    Attributes
    ----------
    seconds : float
        For each call.
    start : float
        Seconds until the process is ready for its first.
    memory : int
        Bytes of resident memory, for the whole process.
    """

    seconds: float = 10.0
    start: float = 120.0
    memory: int = 4 << 30
