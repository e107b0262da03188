"""One run of a model in our engine, and what each division in question met; it lives in a process of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto

from vinculum.analysis.findings import Effect
from vinculum.models.execution import DivisionRecord
from vinculum.models.onnx.model import model_of

_MOST_HANDED_BACK = 4096  # Elements of a divisor.

Place = tuple[str, str]
"""The scope and the node of a finding."""


@dataclass(frozen=True, eq=False)
class Met:
    """What a divisor was in a run.

    Attributes
    ----------
    smallest : float
        Its smallest magnitude.
    divisor : ndarray of float64, optional
        All of it, if it is small and the node was executed once.
    """

    smallest: float
    divisor: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run came to.

    Attributes
    ----------
    met : Mapping of Place to Met
        The divisions in question that were executed.
    effects : tuple of Effect
        The outputs that are no numbers.
    seconds : float
        Processor time.
    """

    met: Mapping[Place, Met]
    effects: tuple[Effect, ...]
    seconds: float


class Probe:
    """Runs a model.

    Parameters
    ----------
    content : bytes
        The model, complete.
    places : sequence of Place
        Where the divisions in question are.
    exposed : Mapping of str to Place
        Values of the main graph that are divisors of nodes that are no divisions: Mod and the like.
    """

    def __init__(self, content: bytes, places: Sequence[Place], exposed: Mapping[str, Place]) -> None:
        proto = ModelProto.FromString(content)
        self._own = [value.name for value in proto.graph.output]
        self._exposed = dict(exposed)
        have = {*self._own, *(value.name for value in proto.graph.input)}
        for name in exposed:
            if name not in have:
                proto.graph.output.add(name=name)
        self._places = frozenset(places)
        self._model = model_of(proto, Path("model"))
        self._model.prepare()

    def run(self, inputs: Mapping[str, Any]) -> Outcome:
        """Return what a run on inputs comes to; an error of ours if it cannot be run on them."""
        start = process_time()
        met: dict[Place, Met] = {}

        def observe(record: DivisionRecord) -> None:
            place = (record.division.path, record.division.name)
            if place in self._places:
                _meet(met, place, record.divisor)

        results = self._model.run(inputs, zero_divisor="zero", observer=observe)
        for name, place in self._exposed.items():
            value = inputs.get(name, results.get(name))
            if value is not None:
                _meet(met, place, value)
        effects = tuple(effects_of({name: results[name] for name in self._own}))
        return Outcome(met, effects, process_time() - start)


def _meet(met: dict[Place, Met], place: Place, divisor: NDArray[Any]) -> None:
    before = met.get(place)
    values = divisor.astype(np.float64)
    smallest = float(np.fmin.reduce(np.abs(values), axis=None, initial=inf))
    small = values if before is None and values.size <= _MOST_HANDED_BACK else None
    met[place] = Met(smallest if before is None else min(smallest, before.smallest), small)


def effects_of(outputs: Mapping[str, Any]) -> Iterable[Effect]:
    """Return the outputs that hold NaN, and those that hold infinities without any."""
    for name, value in outputs.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fV" or "int" in value.dtype.name:
            continue
        wide = value.astype(np.float64)
        nan, infinite = int(np.isnan(wide).sum()), int(np.isinf(wide).sum())
        if nan or infinite:
            yield Effect(name, "NaN" if nan else "infinite", nan or infinite)
