"""ONNX Runtime, running a whole model; this object lives in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.conformance.question import Question
from vinculum.conformance.runtimes.onnxruntime import OnnxRuntime


class OnnxRuntimeAudit:
    """Runs model files.

    Parameters
    ----------
    options : Mapping of str to str
        As the runtime of the conformance suite takes them.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._runtime = OnnxRuntime(options)

    def run(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of a model, in its order, by ONNX Runtime's own reading of the file."""
        return list(self._runtime.run(str(file), inputs).values())

    def divide(self, question: Question) -> NDArray[Any]:
        """Return the quotient of one division in a model of its own."""
        return self._runtime.answer(question)
