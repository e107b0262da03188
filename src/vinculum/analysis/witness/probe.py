"""Runs of a model in processes of their own: how near each division came, and what ONNX Runtime says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.analysis.findings import Effect, Key, Witness
from vinculum.analysis.witness.inner import Bounds, Cutter
from vinculum.analysis.witness.targets import Target, distance
from vinculum.models.engines.exposed import ExposedModel, onnxruntime_title
from vinculum.models.execution import DivisionRecord
from vinculum.sandbox import Answer, End, Isolated, Limits

_MOST_HANDED_BACK = 4096  # Elements of a divisor.


@dataclass(frozen=True, eq=False)
class Met:
    """The operands that a run met at a node."""

    distance: float  # How far it is from showing the finding: 0 if it does; of a zero divisor its smallest magnitude.
    # All of it, if a zero in it is looked for, it is small, and the node was executed once.
    divisor: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a run."""

    met: Mapping[Key, Met]  # The findings whose nodes were executed.
    effects: tuple[Effect, ...]  # The outputs that hold NaN or infinities.
    seconds: float  # Processor time.


class Probe:
    """Runs a complete model in an engine, its own outputs and what shows targets exposed.

    Only our engine reports divisions that do not show in a value of the main graph.
    """

    def __init__(self, engine: str, content: bytes, outputs: Sequence[str], targets: Sequence[Target]) -> None:
        self._outputs = tuple(outputs)
        self._divisions: dict[tuple[str, str], list[Target]] = {}
        self._read: list[Target] = []
        for target in targets:
            if target.is_division and engine == "reference":
                self._divisions.setdefault(target.key[1:], []).append(target)
            else:
                self._read.append(target)
        self._met: dict[Key, Met] = {}
        self._model = ExposedModel(engine, content, self._observe)
        self._content = content

    def run(self, inputs: Mapping[str, Any]) -> Outcome:
        """Return the result of a run on inputs; an error of ours if it cannot be run on them."""
        start = process_time()
        self._met = {}
        names = tuple(dict.fromkeys((*self._outputs, *(target.value for target in self._read))))
        results = self._model.values(names, inputs)
        for target in self._read:
            value = inputs.get(target.value, results.get(target.value))
            if isinstance(value, np.ndarray):
                self._met[target.key] = _met_in(target, value)
        effects = tuple(effects_of({name: results.get(name) for name in self._outputs}))
        return Outcome(self._met, effects, process_time() - start)

    def inner(
        self, divisor: str, inputs: Mapping[str, Any], bounds: Mapping[str, Bounds], seconds: float
    ) -> Witness | None:
        """Return what `Cutter.find` does."""
        return Cutter(self._content).find(divisor, inputs, bounds, seconds)

    def _observe(self, record: DivisionRecord) -> None:
        for target in self._divisions.get((record.division.path, record.division.name), ()):
            before, near = self._met.get(target.key), distance(target.rule, record)
            small = before is None and target.is_zero and record.divisor.size <= _MOST_HANDED_BACK
            divisor = record.divisor.astype(np.float64) if small else None
            self._met[target.key] = Met(near if before is None else min(near, before.distance), divisor)


def _met_in(target: Target, value: NDArray[Any]) -> Met:
    if target.wanted != "zero":
        return Met(0.0 if target.is_shown_by(value) else inf)
    wide = value.astype(np.float64)
    near = float(np.fmin.reduce(np.abs(wide), axis=None, initial=inf))
    return Met(near, wide if wide.size <= _MOST_HANDED_BACK else None)


def effects_of(outputs: Mapping[str, Any]) -> Iterable[Effect]:
    """Return the outputs that hold NaN, and those that hold infinities without any."""
    for name, value in outputs.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fV" or "int" in value.dtype.name:
            continue
        nan, infinite = int(np.isnan(value).sum()), int(np.isinf(value).sum())
        if nan or infinite:
            yield Effect(name, "NaN" if nan else "infinite", nan or infinite)


class OnnxRuntime:
    """A `Probe` there, each run within limits; nothing at all if it is not installed."""

    def __init__(self, content: bytes, outputs: Sequence[str], targets: Sequence[Target], limits: Limits) -> None:
        self._process: Isolated | None = None
        self._fails = False  # To start it again takes longer than a run of ours.
        self._last: tuple[Mapping[str, Any], Answer] | None = None
        self.title = onnxruntime_title()
        if self.title:
            read = [target for target in targets if target.value]
            maker = f"{Probe.__module__}:{Probe.__name__}"
            self._process = Isolated(maker, "onnxruntime", content, outputs, read, limits=limits, called="ONNX Runtime")

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
