"""An IR that OpenVINO runs in a process of its own, but for its divisions, which our engine computes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from vinculum.models.engines.openvino.cut_model import NAME, Request
from vinculum.models.engines.openvino.process import OpenVinoProcess, check_installed
from vinculum.models.execution import RunContext
from vinculum.models.limits import LimitError, seconds_left
from vinculum.models.openvino_ir.program import DivideStep, ParameterStep, check_inputs, refuse_onnxruntime
from vinculum.models.openvino_ir.xml import renamed

_MAKER = "vinculum.models.engines.openvino.cut_model:CutModel"


class CutProgram:
    """An IR of any layers, cut at its Divides; what lies between them is made ready at the first run and kept.

    - `parameters`: what goes in.
    - `divides`: the divisions by the numbers of their layers, bodies included.
    - `results`: what comes out is called, by the numbers of the Results.
    - `foreign`: the title of a layer that nobody but OpenVINO runs.
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
        """Return the outputs for inputs that have been checked."""
        check_inputs(self._parameters, arrays)
        process, run = self._process(), next(self._numbers)
        answer = process.call("start", run, dict(arrays))
        left = seconds_left()
        deadline = inf if left is None else monotonic() + left  # Most of the time passes in the other process.
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
        """Have OpenVINO read and compile the model."""
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
        """Travel to another process without the one that is started here."""
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_started")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrive there."""
        vars(self).update(state, _lock=Lock(), _started=None)
