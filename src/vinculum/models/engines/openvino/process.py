"""OpenVINO in a child process, so that a crash becomes an error here; and a model in it, cut at its Divides."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import count
from math import inf
from threading import Lock
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import ModelError, VinculumError
from vinculum.models.engines.openvino.cut_model import Request
from vinculum.models.execution import LimitError, seconds_left, waiting
from vinculum.sandbox import End, Isolated, Limits
from vinculum.text import pip_install

# No limits, since a model's needs are not known: Ctrl-C ends a run that hangs, the system one that exhausts the memory.
_LIMITS = Limits(seconds=float("inf"), start=float("inf"), memory=sys.maxsize)

_COMPILING = 30.0  # Seconds for compiling, added to the time limit of a trial run.


Divide = Callable[[int, NDArray[Any], NDArray[Any]], NDArray[Any]]
"""Returns the quotient of a numbered division."""


class OpenVinoProcess:
    """An object in OpenVINO's process, called by one thread at a time; the process starts at the first call."""

    def __init__(self, maker: str, *arguments: object) -> None:
        self._maker, self._arguments = maker, arguments
        self._lock = Lock()
        self._started: dict[int, Isolated] = {}

    def call(self, method: str, *arguments: object) -> Any:
        """Return the result of a method; a VinculumError that making the object raises is raised here.

        ModelError if the method raises an error, the process ended, or the time limit was exceeded (`LimitError`).
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


class CutProcess(OpenVinoProcess):
    """A `CutModel`, whose arguments it takes; the parts are compiled at the first run and kept."""

    def __init__(self, *arguments: object) -> None:
        super().__init__("vinculum.models.engines.openvino.cut_model:CutModel", *arguments)
        self._runs = count()

    def run(self, inputs: Mapping[str, Any], divide: Divide) -> list[NDArray[Any]]:
        """Return the outputs in the model's order."""
        run = next(self._runs)
        answer = self.call("start", run, dict(inputs))
        left = seconds_left()
        deadline = inf if left is None else monotonic() + left  # Wall time: most work is done in the other process.
        try:
            while isinstance(answer, Request):
                if monotonic() > deadline:
                    raise LimitError("a loop takes longer than a trial run may")
                answer = self.call("resume", run, divide(answer.number, *answer.operands))
        except BaseException:
            self.call("stop", run)
            raise
        results: list[NDArray[Any]] = answer
        return results


def check_installed(who: str) -> None:
    """Check that OpenVINO is installed; ModelError if not."""
    if find_spec("openvino") is None:
        raise ModelError(f"{who} needs the package openvino; install it: {pip_install('openvino')}")
