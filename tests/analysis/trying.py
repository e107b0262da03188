"""One operator on operands at the edges of their types: what is computed against what the analysis says.

What computes is a `Session`: our own engine here, ONNX Runtime in tests/runtimes/analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    """A session of our own engine, which has ONNX's reference evaluator compute what is no division."""

    def __init__(self, model: ModelProto) -> None:
        self._names = [value.name for value in model.graph.output]
        self._model = source_of(model).model(use_up=True)

    def run(self, names: None, inputs: Mapping[str, NDArray[Any]], /) -> list[Any]:
        with np.errstate(all="ignore"):
            results = self._model.run(inputs)
        return [results[name] for name in self._names]


def single(trial: Trial, element_type: str) -> ModelProto:
    """Return a model of one node."""
    code = helper.np_dtype_to_tensor_dtype(np.dtype(element_type))
    inputs, initializers, names = [], [], []
    for place, operand in enumerate(trial.operands):
        names.append(f"x{place}")
        if isinstance(operand, tuple):
            inputs.append(helper.make_tensor_value_info(names[-1], code, operand))
        else:
            array = np.asarray(operand)
            array = array.astype(element_type) if array.dtype == np.float32 and element_type != "uint8" else array
            initializers.append(numpy_helper.from_array(array, names[-1]))
    results = [f"y{place}" for place in range(trial.results)]
    node = helper.make_node(trial.operator, names, results, **trial.attributes)
    outputs = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph([node], "one", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", trial.opset)], ir_version=9)


def complaints(trial: Trial, element_type: str, seed: int, rounds: int, session: Maker = Engine) -> Iterator[str]:
    """Yield what is computed outside of what is known."""
    model, run = _loaded(trial, element_type, session)
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        given: dict[str, AbstractTensor] = {}
        arrays: dict[str, Any] = {}
        for value in model.graph.input:
            shape = tuple(d.dim_value for d in value.type.tensor_type.shape.dim)
            given[value.name], arrays[value.name] = drawn(rng, element_type, shape, tame=trial.tame)
        if trial.where is not None and not trial.where(*arrays.values()):
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


def of_every_type(operator: str) -> list[tuple[Trial, str]]:
    """Return an operator's trials with each of its element types; those in float32 also in float16 and float64."""
    trials = [trial for trial in TRIALS if trial.operator == operator]
    return [(t, name) for t in trials for name in dict.fromkeys((*t.types, *OTHER_FLOATS * ("float32" in t.types)))]
