"""A foreign runtime in a process of its own: if a model kills it, that is a result, and not our end."""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import ModelError

NAMES = {
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "reference": "the onnx package's reference evaluator",
}
"""The runtimes that models can be run in, and what sentences call them."""

_SECONDS = 300.0
_CHILD = Path(__file__).with_name("runtime_child.py")


@dataclass(frozen=True, eq=False)
class Case:
    """A model to be run.

    Attributes
    ----------
    model : bytes or str
        Serialised, or the path of its file.
    inputs : Mapping of str to array, or None
        None if it is only to be loaded.
    """

    model: bytes | str
    inputs: Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a case: outputs, or what went wrong.

    Attributes
    ----------
    outputs : tuple of array
        In the model's order; none if something went wrong.
    problem : str or None
        What the runtime said, or how the process ended: ``"died of SIGFPE"``.
    died : bool
        Whether it was the end of the process.
    """

    outputs: tuple[NDArray[Any], ...] = ()
    problem: str | None = None
    died: bool = False


def check_installed(runtime: str) -> None:
    """Refuse to go on without a runtime's package.

    Raises
    ------
    ModelError
        If it is not installed; the line says how to install it.
    """
    if runtime != "reference" and find_spec(runtime) is None:
        raise ModelError(
            f"the package {runtime}, without which nothing can be proven, is not installed: "
            f"pip install 'vinculum[{runtime}]'"
        )


def run_cases(runtime: str, cases: Sequence[Case], seconds: float = _SECONDS) -> list[Outcome]:
    """Return the outcome of each case; after one that was the end of the process, nothing is run.

    Parameters
    ----------
    runtime : {"onnxruntime", "openvino", "reference"}
        Which package is to run them.
    cases : sequence of Case
        One or more.
    seconds : float
        How long the process may take in all.
    """
    job = (runtime, [(case.model, case.inputs) for case in cases])
    # -P: the folder of the file, in which modules of ours lie, must not become a place to import from.
    command = [sys.executable, "-P", str(_CHILD)]
    # A file and not a pipe: a child that dies before it has read everything must not end us by SIGPIPE.
    with TemporaryFile() as file:
        pickle.dump(job, file)
        file.seek(0)
        try:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=seconds, check=False)
            written, end = done.stdout, _end(done.returncode)
        except subprocess.TimeoutExpired as error:
            written, end = error.stdout or b"", f"did not end within {seconds:.0f} seconds"
    outcomes = [_outcome(*result) for result in _results(written)]
    if len(outcomes) < len(cases):
        outcomes.append(Outcome(problem=end, died=True))
    return outcomes


def _results(written: bytes) -> list[tuple[str, Any]]:
    stream = io.BytesIO(written)
    results: list[tuple[str, Any]] = []
    while True:
        try:
            results.append(pickle.load(stream))  # Our own process wrote it, through a pipe that nobody else has.
        except (EOFError, pickle.UnpicklingError):
            return results


def _outcome(kind: str, value: Any) -> Outcome:
    return Outcome(outputs=tuple(value)) if kind == "outputs" else Outcome(problem=str(value))


def _end(code: int) -> str:
    """Return how a process ended that did not run all its cases."""
    if os.name == "posix" and code < 0:
        try:
            return f"died of {signal.Signals(-code).name}"
        except ValueError:
            return f"died of signal {-code}"
    return f"ended with code {code}"
