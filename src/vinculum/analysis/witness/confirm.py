"""ONNX Runtime's word on a witness: the unmodified model run by it, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from onnx import ModelProto

from vinculum.analysis.findings import Effect
from vinculum.analysis.witness.probe import effects_of
from vinculum.analysis.witness.targets import Target
from vinculum.models.engines.exposed import ExposedModel
from vinculum.sandbox import End, Isolated, Limits


class OnnxRuntime:
    """Runs a model there and tells what becomes of its outputs and of some values.

    Parameters
    ----------
    content : bytes
        The model, complete.
    outputs : sequence of str
        Its own outputs.
    exposed : sequence of str
        The values of its graph that it is to hand out too.
    limits : Limits
        What a run may take.
    """

    def __init__(self, content: bytes, outputs: Sequence[str], exposed: Sequence[str], limits: Limits) -> None:
        self._outputs, self._exposed = tuple(outputs), tuple(exposed)
        self._process = None
        if find_spec("onnxruntime") is not None:
            maker = f"{ExposedModel.__module__}:{ExposedModel.__name__}"
            self._process = Isolated(maker, "onnxruntime", content, limits=limits, called="ONNX Runtime")
            self.title = f"onnxruntime {version('onnxruntime')}"

    def look(self, target: Target, inputs: Mapping[str, Any]) -> tuple[bool | None, str, tuple[Effect, ...]]:
        """Return whether it shows a finding, in which words, and what becomes of the outputs.

        None if it cannot run the model, or tells nothing. It may die of an integer division: that shows it too.
        """
        if self._process is None:
            return None, "", ()
        names = dict.fromkeys((*self._outputs, *self._exposed))
        answer = self._process.call("values", tuple(names), inputs)
        if answer.end is End.CRASHED:
            return True, f"{self.title} dies: {answer.words}", ()
        if answer.end is End.REFUSED and "by zero" in answer.words:
            return True, f"{self.title} refuses", ()
        if answer.end is not End.RETURNED:
            return None, "", ()
        effects = tuple(effects_of({name: answer.value[name] for name in self._outputs}))
        value = inputs.get(target.value, answer.value.get(target.value))
        if effects or (isinstance(value, np.ndarray) and target.is_shown_by(value)):
            return True, self.title, effects
        return (False if target.wanted else None), self.title, effects

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()


def exposable(model: ModelProto, names: Sequence[str]) -> list[str]:
    """Return those of these values that nodes of the main graph make."""
    made = {name for node in model.graph.node for name in node.output}
    return [name for name in dict.fromkeys(names) if name in made]
