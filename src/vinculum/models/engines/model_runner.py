"""Whole models in another runtime, in a child process, so that a crash is a result and does not end this process.

The child imports this module too, so it imports little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.errors import MissingPackageError
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.text import pip_install

NAMES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "reference": "the onnx package's reference evaluator"}
"""The runtimes that models can be run in, and their names in messages."""

_CHILD = "vinculum.models.engines.model_runner:ModelRunner"
_SECONDS = 300.0
_ANY_SIZE = sys.maxsize  # The memory that a whole model needs is not known.
Model = bytes | str
"""A serialised model, or the path of a file."""
Feeds = Mapping[str, Any] | None
"""The inputs; None to only load the model."""


@dataclass(frozen=True, eq=False)
class Case:
    """A model to be run."""

    model: Model
    inputs: Feeds


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a case: outputs, or a problem."""

    outputs: tuple[NDArray[Any], ...] = ()  # In the model's order; empty if there was a problem.
    problem: str | None = None  # The runtime's message, or how the process ended: ``"crashed with SIGFPE"``.
    died: bool = False  # Whether the process ended.


def check_installed(runtime: str) -> None:
    """Check that a runtime's package is installed.

    MissingPackageError if it is not; the message tells how to install it.
    """
    if runtime != "reference" and find_spec(runtime) is None:
        needed = f"the validation needs the package {runtime}, which is not installed"
        raise MissingPackageError(f"{needed}: {pip_install(runtime)}")


def run_cases(runtime: str, cases: Iterable[Case], seconds: float = _SECONDS) -> Generator[Outcome, None, None]:
    """Yield the outcome of each case, up to the first that ends the process."""
    with Isolated(_CHILD, runtime, limits=Limits(seconds=seconds, memory=_ANY_SIZE)) as runner:
        for case in cases:
            outcome = _outcome(runner.call("run", case.model, case.inputs), seconds)
            yield outcome
            if outcome.died:
                return


def _outcome(answer: Answer, seconds: float) -> Outcome:
    if answer.end is End.RETURNED:
        return Outcome(outputs=tuple(answer.value))
    if answer.end is End.CRASHED:
        how = "crashed with" if answer.words.startswith("SIG") else "ended:"
        return Outcome(problem=f"{how} {answer.words}", died=True)
    if answer.end is End.HUNG:
        return Outcome(problem=f"did not end within {seconds:.0f} seconds", died=True)
    return Outcome(problem=answer.words)


def run_onnxruntime(model: Model, feeds: Feeds) -> list[Any]:
    """Run a model in ONNX Runtime on the CPU."""
    from vinculum.models.engines.onnxruntime.running import run
    from vinculum.models.engines.onnxruntime.session import new_session

    session = new_session(model)
    return [] if feeds is None else run(session, [output.name for output in session.get_outputs()], feeds)


def run_openvino(model: Model, feeds: Feeds) -> list[Any]:
    """Run a model in OpenVINO on the CPU, in the precision that the model declares."""
    import openvino

    from vinculum.models.engines.openvino.tensors import IN_FLOAT32

    core = openvino.Core()
    read = core.read_model(model, b"") if isinstance(model, bytes) else core.read_model(model)
    compiled = core.compile_model(read, "CPU", IN_FLOAT32)
    if feeds is None:
        return []
    results = compiled.create_infer_request().infer(dict(feeds))
    return [np.array(results[port]) for port in compiled.outputs]


def run_reference(model: Model, feeds: Feeds) -> list[Any]:
    """Run a model in the onnx package's reference evaluator."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    proto = onnx.ModelProto.FromString(model) if isinstance(model, bytes) else onnx.load(model)
    evaluator = ReferenceEvaluator(proto)
    return [] if feeds is None else list(evaluator.run(None, dict(feeds)))


_RUNNERS: dict[str, Callable[[Model, Feeds], list[Any]]] = {
    "onnxruntime": run_onnxruntime,
    "openvino": run_openvino,
    "reference": run_reference,
}


class ModelRunner:
    """A runtime that models can be run in."""

    def __init__(self, runtime: str) -> None:
        self._run = _RUNNERS[runtime]

    def run(self, model: Model, feeds: Feeds) -> list[Any]:
        """Return the outputs that the runtime computes; none if the model is only loaded."""
        return self._run(model, feeds)
