"""How a run of a model shows findings: how near each division comes, and what ONNX Runtime says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto

from vinculum.analysis.domain.formats import FORMATS
from vinculum.analysis.findings import Effect, Finding, Key, Witness
from vinculum.analysis.hazards.hazard import DIVISOR
from vinculum.analysis.transfer.operators import divides_inside
from vinculum.analysis.witness.inner import Bounds, Cutter
from vinculum.models.engines.exposed import ExposedModel, onnxruntime_title
from vinculum.models.execution import DivisionRecord
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.scopes import name_of
from vinculum.sandbox import Answer, End, Isolated, Limits
from vinculum.spec.element_types import by_numpy_name

_MOST_HANDED_BACK = 4096  # Elements of a divisor.
_ZERO = frozenset({"zero-divisor", "zero-over-zero", "integer-zero-divisor"})
_OF_DIVISIONS = frozenset({"quotient-overflow", "min-over-minus-one", "subnormal-divisor"})
_DIVISOR = {**DIVISOR, "QuantizeLinear": 1}


@dataclass(frozen=True)
class Target:
    """A finding to show."""

    key: Key  # Which it is.
    is_division: bool  # Whether our engine reports each of its divisions.
    value: str = ""  # The value of the main graph that shows the same; empty if there is none.
    # What that value has an element of: ``"zero"``, ``"not finite"``, ``"subnormal"``; empty if it tells nothing.
    wanted: str = ""
    is_inside: bool = False  # Whether the divisor is inside an operator, which every runtime computes in its own way.

    @property
    def rule(self) -> str:
        """The hazard's code."""
        return self.key[0]

    @property
    def is_zero(self) -> bool:
        """Whether a zero divisor shows it."""
        return self.rule in _ZERO


def target(finding: Finding, model: ModelProto) -> Target | None:
    """Return how a run of a model shows a finding; None if runs cannot show it."""
    key = finding.key
    is_division = finding.operator in DIVIDES
    if finding.rule not in (_ZERO if not is_division else _ZERO | _OF_DIVISIONS):
        return None
    constants = {tensor.name for tensor in model.graph.initializer}
    constants |= {node.output[0] for node in model.graph.node if node.op_type == "Constant"}
    node = None if finding.scope else _node(finding, model)
    if node is not None and (
        name_of(node) != finding.node or (divides_inside(node.domain, node.op_type) and node.op_type not in _DIVISOR)
    ):
        return _inside(key, node)
    if node is None or finding.rule == "min-over-minus-one":
        return Target(key, is_division) if is_division else None
    if finding.rule == "quotient-overflow" or node.op_type not in _DIVISOR:
        return Target(key, is_division, str(node.output[0]), "not finite")
    divisor = str(node.input[_DIVISOR[node.op_type]])
    if divisor in constants:  # No run exposes it.
        return Target(key, is_division) if is_division else None
    return Target(key, is_division, divisor, "subnormal" if finding.rule == "subnormal-divisor" else "zero")


def _inside(key: Key, node: NodeProto) -> Target:
    """Return how a run shows a zero divisor that no node of the model computes: by what the whole operator returns."""
    if node.op_type == "DynamicQuantizeLinear":
        return Target(key, False, str(node.output[1]), "zero", is_inside=True)
    return Target(key, False, str(node.output[0]), "not finite", is_inside=True)


def _node(finding: Finding, model: ModelProto) -> NodeProto | None:
    """Return the node of the main graph that a finding is about, or in whose defining body it is."""
    names = (finding.node, finding.node.rpartition("/")[0])
    found = {name_of(node): node for node in model.graph.node if name_of(node) in names}
    return next((found[name] for name in names if name in found), None)


def distance(rule: str, record: DivisionRecord) -> float:
    """Return how far a division is from showing a finding of a rule: 0 if it does."""
    if rule in _ZERO:
        return float(np.fmin.reduce(np.abs(record.divisor.astype(np.float64)), axis=None, initial=inf))
    if rule == "subnormal-divisor":
        shown = bool(_subnormal(record.divisor).any())
        return 0.0 if shown else distance("zero-divisor", record) or inf
    if rule == "quotient-overflow":
        if np.isinf(record.quotient).any() and bool((record.divisor != 0).all()):
            return 0.0
        largest = float(np.fmax.reduce(np.abs(record.quotient.astype(np.float64)), axis=None, initial=0.0))
        return 1 / largest if 0 < largest < inf else inf
    if record.dividend is None:
        return inf
    smallest = by_numpy_name(record.dividend.dtype.name).minimum
    shown = bool((np.equal(record.dividend, smallest) & np.equal(record.divisor, -1)).any())
    return 0.0 if shown else inf


def _subnormal(value: NDArray[Any]) -> NDArray[np.bool_]:
    form = FORMATS.get(value.dtype.name)
    magnitude = np.abs(value.astype(np.float64))
    return np.asarray((magnitude > 0) & (magnitude < (0 if form is None else form.smallest_normal)))


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
    """Return how far a value of the main graph is from showing a finding."""
    if target.wanted != "zero":
        shown = _subnormal(value) if target.wanted == "subnormal" else ~np.isfinite(value)
        return Met(0.0 if shown.any() else inf)
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
