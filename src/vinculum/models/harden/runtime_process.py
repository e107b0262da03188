"""A foreign runtime in a process of its own: if a model kills it, that is a result, and not our end."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.sandbox import Answer, End, Isolated, Limits

NAMES = {
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "reference": "the onnx package's reference evaluator",
}
"""The runtimes that models can be run in, and what sentences call them."""

_CHILD = "vinculum.models.engines.model_runner:ModelRunner"
_SECONDS = 300.0
_ANY_SIZE = sys.maxsize  # A whole model takes what it takes.


@dataclass(frozen=True, eq=False)
class Case:
    """A model to be run."""

    model: bytes | str  # Serialised, or the path of its file.
    inputs: Mapping[str, Any] | None  # None if it is only to be loaded.


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a case: outputs, or what went wrong."""

    outputs: tuple[NDArray[Any], ...] = ()  # In the model's order; none if something went wrong.
    problem: str | None = None  # What the runtime said, or how the process ended: ``"died of SIGFPE"``.
    died: bool = False  # Whether it was the end of the process.


def check_installed(runtime: str) -> None:
    """Refuse to go on without a runtime's package.

    ModelError if it is not installed; the line says how to install it.
    """
    if runtime != "reference" and find_spec(runtime) is None:
        raise ModelError(
            f"the package {runtime}, without which nothing can be validated, is not installed: "
            f"pip install 'vinculum-div[{runtime}]'"
        )


def run_cases(runtime: str, cases: Iterable[Case], seconds: float = _SECONDS) -> Generator[Outcome, None, None]:
    """Yield the outcome of each case; after one that was the end of the process, nothing is run.

    - `runtime`: which package is to run them.
    - `cases`: one or more.
    - `seconds`: how long each may take.
    """
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
        how = "died of" if answer.words.startswith("SIG") else "ended:"
        return Outcome(problem=f"{how} {answer.words}", died=True)
    if answer.end is End.HUNG:
        return Outcome(problem=f"did not end within {seconds:.0f} seconds", died=True)
    return Outcome(problem=answer.words)
