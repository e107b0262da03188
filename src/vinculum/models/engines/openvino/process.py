"""OpenVINO in a process of its own: what it dies of there is an error here."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from threading import Lock
from typing import Any

from vinculum.errors import ModelError
from vinculum.models.limits import LimitError, seconds_left, waiting
from vinculum.sandbox import End, Isolated, Limits

# A model takes what it takes: what hangs is ended by Ctrl-C, what takes all memory by the system.
_LIMITS = Limits(seconds=float("inf"), start=float("inf"), memory=sys.maxsize)

_COMPILING = 30.0  # Seconds that a run which only tries inputs out is given on top of its own.


class OpenVinoProcess:
    """An object beside OpenVINO, asked by one thread at a time; it is made when it is first asked.

    - `maker`: as `Isolated` takes it.
    - `*arguments`: what the maker is called with.
    """

    def __init__(self, maker: str, *arguments: object) -> None:
        self._maker, self._arguments = maker, arguments
        self._lock = Lock()
        self._started: dict[int, Isolated] = {}

    def call(self, method: str, *arguments: object) -> Any:
        """Return what a method returned.

        ModelError if the process ended, OpenVINO refused, or the run takes longer than it may (`LimitError`).
        """
        with self._lock:
            # A forked child shares the pipes of ours: it needs a process of its own.
            if os.getpid() not in self._started:
                self._started[os.getpid()] = Isolated(self._maker, *self._arguments, limits=_LIMITS)
            left = seconds_left()
            seconds = None if left is None else left + _COMPILING
            with waiting():
                answer = self._started[os.getpid()].call(method, *arguments, seconds=seconds)
        if answer.end is End.RETURNED:
            return answer.value
        if answer.end is End.HUNG:
            raise LimitError(f"OpenVINO takes longer than a trial run may: {answer.words}")
        ended = "" if answer.end in (End.REFUSED, End.UNSUPPORTED) else "its process ended: "
        raise ModelError(f"the model cannot be run by OpenVINO: {ended}{answer.words}")


def check_installed(who: str) -> None:
    """Refuse to go on without OpenVINO."""
    if find_spec("openvino") is None:
        raise ModelError(f"{who} needs the package openvino; install it: pip install 'vinculum-div[openvino]'")
