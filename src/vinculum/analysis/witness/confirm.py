"""Confirmation by ONNX Runtime: it runs the model, with its divisors exposed, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from vinculum.analysis.findings import Effect
from vinculum.analysis.witness.probe import Outcome, Probe
from vinculum.analysis.witness.targets import Target
from vinculum.sandbox import Answer, End, Isolated, Limits


class OnnxRuntime:
    """Runs a model there; nothing at all if it is not installed.

    Parameters
    ----------
    content : bytes
        The model, complete.
    outputs : sequence of str
        Its own outputs.
    targets : sequence of Target
        The findings to show.
    limits : Limits
        The limits of a run.
    """

    def __init__(self, content: bytes, outputs: Sequence[str], targets: Sequence[Target], limits: Limits) -> None:
        self._process: Isolated | None = None
        self._fails = False  # To start it again takes longer than a run of ours.
        self._last: tuple[Mapping[str, Any], Answer] | None = None
        if find_spec("onnxruntime") is not None:
            read = [target for target in targets if target.value]
            maker = f"{Probe.__module__}:{Probe.__name__}"
            self._process = Isolated(maker, "onnxruntime", content, outputs, read, limits=limits, called="ONNX Runtime")
            self.title = f"onnxruntime {version('onnxruntime')}"

    def outcome(self, targets: Sequence[Target], inputs: Mapping[str, Any]) -> Outcome | None:
        """Return the outcome of a run if its values suffice for the targets; this is the faster runtime."""
        # An integer divided by zero may crash it.
        if self._fails or any(t.wanted != "zero" or t.is_inside or t.rule == "integer-zero-divisor" for t in targets):
            return None
        answer = self._answer(inputs)
        if answer is None or answer.end is not End.RETURNED:
            self._fails = answer is not None and answer.end is not End.REFUSED
            return None
        outcome: Outcome = answer.value
        return outcome

    def look(self, target: Target, inputs: Mapping[str, Any]) -> tuple[bool | None, str, tuple[Effect, ...]]:
        """Return whether it shows a finding, in words, and the effects on the outputs.

        None if it cannot run the model, or shows nothing. A crash in an integer division shows the finding too.
        """
        answer = self._answer(inputs)
        if answer is None:
            return None, "", ()
        if answer.end is End.CRASHED:
            return True, f"{self.title} dies: {answer.words}", ()
        if answer.end is End.REFUSED and "by zero" in answer.words:
            return True, f"{self.title} refuses", ()
        if answer.end is not End.RETURNED:
            return None, "", ()
        outcome: Outcome = answer.value
        met = outcome.met.get(target.key)
        if met is not None:
            return met.distance == 0, self.title, outcome.effects
        return (True if outcome.effects else None), self.title, outcome.effects

    def _answer(self, inputs: Mapping[str, Any]) -> Answer | None:
        """Return the result of a run; the last one is cached for several callers."""
        if self._process is None:
            return None
        if self._last is None or self._last[0] is not inputs:
            self._last = inputs, self._process.call("run", inputs)
        return self._last[1]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
