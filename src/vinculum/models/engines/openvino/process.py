"""OpenVINO in a child process, so that a crash becomes an error here."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from threading import Lock
from typing import Any

from vinculum.errors import ModelError, VinculumError
from vinculum.models.limits import LimitError, seconds_left, waiting
from vinculum.sandbox import End, Isolated, Limits

# No limits, since a model's needs are not known: Ctrl-C ends a run that hangs, the system one that exhausts the memory.
_LIMITS = Limits(seconds=float("inf"), start=float("inf"), memory=sys.maxsize)

_COMPILING = 30.0  # Seconds for compiling, added to the time limit of a trial run.


class OpenVinoProcess:
    """An object in OpenVINO's process, called by one thread at a time; the process starts at the first call.

    - `maker`: as `Isolated` takes it.
    - `*arguments`: of the maker.
    """

    def __init__(self, maker: str, *arguments: object) -> None:
        self._maker, self._arguments = maker, arguments
        self._lock = Lock()
        self._started: dict[int, Isolated] = {}

    def call(self, method: str, *arguments: object) -> Any:
        """Return the result of a method; a VinculumError that it raises is raised here.

        ModelError if the process ended, or the time limit was exceeded (`LimitError`).
        """
        with self._lock:
            # A forked child shares this process's pipes to OpenVINO, so it starts a process of its own.
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
        if isinstance(answer.value, VinculumError):
            raise answer.value
        ended = "" if answer.end in (End.REFUSED, End.UNSUPPORTED) else "its process ended: "
        raise ModelError(f"the model cannot be run by OpenVINO: {ended}{answer.words}")


def check_installed(who: str) -> None:
    """Check that OpenVINO is installed; ModelError if not."""
    if find_spec("openvino") is None:
        raise ModelError(f"{who} needs the package openvino; install it: pip install 'vinculum-div[openvino]'")
