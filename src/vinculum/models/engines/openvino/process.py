"""OpenVINO in a child process, so that a crash becomes an error here; and an IR that runs in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import count
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from vinculum.errors import ModelError
from vinculum.models.engines.openvino.cut_model import NAME, Request
from vinculum.models.execution import RunContext
from vinculum.models.limits import LimitError, seconds_left, waiting
from vinculum.models.openvino_ir.program import DivideStep, ParameterStep, check_inputs, refuse_onnxruntime
from vinculum.models.openvino_ir.xml import renamed
from vinculum.sandbox import End, Isolated, Limits

# No limits, since a model's needs are not known: Ctrl-C ends a run that hangs, the system one that exhausts the memory.
_LIMITS = Limits(seconds=float("inf"), start=float("inf"), memory=sys.maxsize)

_COMPILING = 30.0  # Seconds for compiling, added to the time limit of a trial run.
_MAKER = "vinculum.models.engines.openvino.cut_model:CutModel"


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
        """Return the result of a method.

        ModelError if the process ended, OpenVINO refused, or the time limit was exceeded (`LimitError`).
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
        ended = "" if answer.end in (End.REFUSED, End.UNSUPPORTED) else "its process ended: "
        raise ModelError(f"the model cannot be run by OpenVINO: {ended}{answer.words}")


def check_installed(who: str) -> None:
    """Check that OpenVINO is installed; ModelError if not."""
    if find_spec("openvino") is None:
        raise ModelError(f"{who} needs the package openvino; install it: pip install 'vinculum-div[openvino]'")


class CutProgram:
    """An IR of any layers, cut at its Divides; the parts between them are compiled at the first run and kept.

    - `content`: of the ``.xml``.
    - `data`: the path of the ``.bin``.
    - `parameters`: the inputs.
    - `divides`: the divisions by the numbers of their layers, bodies included.
    - `results`: the names of the outputs by the numbers of the Results.
    - `foreign`: the title of a layer that only OpenVINO runs.
    """

    def __init__(
        self,
        content: bytes,
        data: Path,
        parameters: tuple[ParameterStep, ...],
        divides: Mapping[int, DivideStep],
        results: Mapping[int, str],
        foreign: str | None = None,
    ) -> None:
        self._content = content
        self._data = data.absolute()
        self._parameters = parameters
        self._divides = divides
        self._results = results
        self._foreign = foreign
        self._numbers = count()
        self._lock = Lock()
        self._started: OpenVinoProcess | None = None

    def execute(self, arrays: Mapping[str, Any], execution: RunContext) -> dict[str, Any]:
        """Return the outputs for validated inputs."""
        check_inputs(self._parameters, arrays)
        process, run = self._process(), next(self._numbers)
        answer = process.call("start", run, dict(arrays))
        left = seconds_left()
        deadline = inf if left is None else monotonic() + left  # Wall time: most work is done in the other process.
        try:
            while isinstance(answer, Request):
                if monotonic() > deadline:
                    raise LimitError("a loop takes longer than a trial run may")
                quotient = self._divides[answer.number].compute(execution, *answer.operands)
                answer = process.call("resume", run, quotient)
        except BaseException:
            process.call("stop", run)
            raise
        return {name: answer[number] for number, name in self._results.items()}

    def prepare(self) -> None:
        """Let OpenVINO read and compile the model."""
        self._process().call("prepare")

    def read_data(self) -> None:
        """Do nothing: OpenVINO maps the ``.bin`` for as long as its process lives."""

    def in_engine(self, engine: str) -> CutProgram:
        """Return the program itself; refuse ONNX Runtime."""
        refuse_onnxruntime(engine)
        return self

    def _process(self) -> OpenVinoProcess:
        check_installed(self._foreign or "the engine 'openvino'")
        with self._lock:
            if self._started is None:
                xml = renamed(self._content, ("Divide", "Result"), NAME)
                self._started = OpenVinoProcess(_MAKER, xml, self._data)
            return self._started

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without OpenVINO's process."""
        return {name: value for name, value in vars(self).items() if name not in ("_numbers", "_lock", "_started")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle; OpenVINO's process starts at the next run."""
        vars(self).update(state, _numbers=count(), _lock=Lock(), _started=None)
