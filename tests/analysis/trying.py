"""Runs one operator on operands at the edges of their types, and compares the results with the analysis.

What computes is a `Session`: our own engine here, ONNX Runtime in tests/runtimes/analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from tests.analysis.containment import complaint, looked_at
from tests.analysis.operands import drawn
from tests.analysis.operators import TRIALS, Trial
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.models.source import source_of


class Session(Protocol):
    """A model that can be run."""

    def run(self, names: None, inputs: Mapping[str, NDArray[Any]], /) -> list[Any]:
        """Return all outputs."""


Maker = Callable[[ModelProto], Session]


class Engine:
    """A session of our own engine, in which ONNX's reference evaluator computes everything but divisions."""

    def __init__(self, model: ModelProto) -> None:
        self._names = [value.name for value in model.graph.output]
        self._model = source_of(model).model(use_up=True)

    def run(self, names: None, inputs: Mapping[str, NDArray[Any]], /) -> list[Any]:
        with np.errstate(all="ignore"):
            results = self._model.run(inputs)
        return [results[name] for name in self._names]


def single(trial: Trial, element_type: str) -> ModelProto:
    """Return a model of one node."""
    inputs, initializers, names = [], [], []
    for place, operand in enumerate(trial.operands):
        names.append("" if operand is None else f"x{place}")
        if isinstance(operand, tuple):
            dtype, shape = operand[2:] if _is_of_integers(operand) else (element_type, operand)
            code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            inputs.append(helper.make_tensor_value_info(names[-1], code, shape))
        elif operand is not None:
            array = np.asarray(operand)
            array = array.astype(element_type) if array.dtype == np.float32 and element_type != "uint8" else array
            initializers.append(numpy_helper.from_array(array, names[-1]))
    results = [f"y{place}" for place in range(trial.results)]
    node = helper.make_node(trial.operator, names, results, domain=trial.domain, **trial.attributes)
    outputs = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph([node], "one", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", trial.opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _is_of_integers(operand: tuple[Any, ...]) -> bool:
    return len(operand) == 4 and isinstance(operand[3], tuple)


def complaints(
    trial: Trial,
    element_type: str,
    seed: int,
    rounds: int,
    session: Maker = Engine,
    tame_every: int = 0,
    left: Callable[[AbstractTensor], AbstractTensor] = lambda known: known,
) -> Iterator[str]:
    """Yield the results outside of their bounds; some rounds may use tame operands.

    - `left`: returns what the analysis gets to know of an operand.
    """
    model, run = _loaded(trial, element_type, session)
    rng = np.random.default_rng(seed)
    for count in range(rounds):
        tame = trial.tame or (tame_every > 0 and count % tame_every == 0)
        given: dict[str, AbstractTensor] = {}
        arrays: dict[str, Any] = {}
        for value in model.graph.input:
            operand = trial.operands[int(value.name[1:])]
            if _is_of_integers(operand):
                low, high, dtype, shape = operand
                arrays[value.name] = rng.integers(low, high, shape, dtype=dtype, endpoint=True)
            else:
                known, arrays[value.name] = drawn(rng, element_type, operand, tame=tame)
                given[value.name] = left(known)
        if not trial.is_taken(*arrays.values()):
            continue
        interpreter, scope = looked_at(model, given, infer=False)
        assert not interpreter.unknown, trial
        for place, array in enumerate(run.run(None, arrays)):
            said = complaint(scope.values[f"y{place}"], np.asarray(array))
            if said:
                yield f"{trial} {element_type}: {said}; of {arrays}, declared {[k.box for k in given.values()]}"


@cache
def _loaded(trial: Trial, element_type: str, session: Maker) -> tuple[ModelProto, Session]:
    model = single(trial, element_type)
    return model, session(model)


OTHER_FLOATS = ("float16", "float64")


def of_every_type(operator: str, trials: Iterable[Trial] = TRIALS) -> list[tuple[Trial, str]]:
    """Return an operator's trials with each of its element types; those in float32 also in float16 and float64."""
    trials = [trial for trial in trials if trial.operator == operator]
    return [(t, name) for t in trials for name in dict.fromkeys((*t.types, *OTHER_FLOATS * ("float32" in t.types)))]
