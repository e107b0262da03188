"""One operator on operands at the edges of their types: what a runtime computes against what the analysis says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, helper, numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, NotImplemented

from tests.analysis.containment import complaint, looked_at
from tests.analysis.operands import drawn
from tests.analysis.operators import TRIALS, Trial
from vinculum.analysis.domain.abstract_tensor import AbstractTensor


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


def session(model: ModelProto, *, optimised: bool = False) -> Any:
    """Return a session of ONNX Runtime, which says nothing."""
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # It moves factors out of products of matrices, which then overflow although what the model says does not.
    without = ["MatMulScaleFusion"]
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=without
    )


def complaints(trial: Trial, element_type: str, seed: int, rounds: int) -> Iterator[str]:
    """Yield what a runtime computes outside of what is known."""
    model, run = _loaded(trial, element_type)
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


_FLOAT32_ALONE = ("ScatterND",)
"""What ONNX Runtime takes in float16 when it reads a model, and refuses when it runs it."""
_LOADED: dict[tuple[str, int, str], tuple[ModelProto, Any]] = {}


def _loaded(trial: Trial, element_type: str) -> tuple[ModelProto, Any]:
    key = (str(trial), trial.opset, element_type)
    if key not in _LOADED:
        model = single(trial, element_type)
        _LOADED[key] = model, session(model)
    return _LOADED[key]


def of_every_type(operator: str) -> list[tuple[Trial, str]]:
    """Return an operator's trials with each of its element types; those in float32 also in float16 and float64."""
    return [(trial, name) for trial in TRIALS if trial.operator == operator for name in _types(trial)]


def _types(trial: Trial) -> list[str]:
    if "float32" not in trial.types or trial.operator in _FLOAT32_ALONE:
        return list(trial.types)
    others = (name for name in ("float16", "float64") if name not in trial.types)
    return [*trial.types, *(name for name in others if _is_taken(trial, name))]


def _is_taken(trial: Trial, element_type: str) -> bool:
    """Tell whether ONNX Runtime has the operator in a type."""
    try:
        _loaded(trial, element_type)
    except (InvalidGraph, NotImplemented, Fail):
        return False
    return True
