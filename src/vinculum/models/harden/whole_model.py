"""The hardened model as a whole, loaded by the runtime that it is for and run once beside the original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto

from vinculum.errors import DifferenceError, ModelError, VinculumError
from vinculum.models.execution import Execution
from vinculum.models.harden.decision import Hardening
from vinculum.models.harden.runtime_process import NAMES, Case, run_cases
from vinculum.models.limits import limited
from vinculum.models.model import Model
from vinculum.models.onnx.typed_scopes import typed_scopes
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.sampling.input_sets import input_sets
from vinculum.text import quoted

_SECONDS = 60.0
_LARGEST_RESULT = 1 << 28  # Bytes, of an operator whose operand says how large its result is.
_PLAIN = ("bool", "float16", "float32", "float64", *(f"{s}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)))
_INTEGERS = (
    *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL),
    *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
)


def check_whole(original: Model, hardening: Hardening, file: Path, runtime: str) -> bool:
    """Load a hardened model's file in a runtime, run it once on drawn inputs, and return whether it was run.

    It is not run on inputs that the original cannot be run on either. Where every value of the model is an integer or
    a bool, the outputs are compared bit for bit; other operators' floats may differ from runtime to runtime, and on
    OpenVINO their integers do too.

    Raises
    ------
    DifferenceError
        If the runtime does not survive the model, refuses inputs that the original takes, or gives other outputs.
    ModelError
        If the runtime does not take the model.
    """
    inputs, expected = _run_original(original, hardening)
    cases = [Case(str(file), None)] + ([] if inputs is None else [Case(str(file), inputs)])
    outcomes = run_cases(runtime, cases)
    name = NAMES[runtime]
    for outcome in outcomes:
        if outcome.died:
            raise DifferenceError(f"{name} does not survive the hardened model: the process {outcome.problem}")
    if outcomes[0].problem is not None:
        raise ModelError(f"{name} does not take the hardened model: {_shortened(outcomes[0].problem)}")
    if inputs is None:
        return False
    if outcomes[1].problem is not None:
        reason = _shortened(outcomes[1].problem)
        raise DifferenceError(f"{name} does not run the hardened model on inputs that the original takes: {reason}")
    if runtime != "openvino" and _holds_integers_only(hardening.model):
        sides = ("our engine", f"{name}, hardened")
        for (output, want), got in zip(expected.items(), outcomes[1].outputs, strict=True):
            check_equal(f"output {quoted(output)}", want, np.asarray(got), sides)
    return True


def _run_original(original: Model, hardening: Hardening) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return inputs and the original's outputs; None for inputs that it, or no runtime from Python, takes."""
    try:
        inputs = next(iter(input_sets(original.inputs, 0)))
        with limited(_SECONDS, _LARGEST_RESULT):
            outputs = original.evaluate(inputs, Execution(hardening.policies))
    except VinculumError:
        return None, {}
    if not all(isinstance(x, np.ndarray) and x.dtype.name in _PLAIN for x in inputs.values()):
        return None, {}
    return inputs, outputs


def _holds_integers_only(model: ModelProto) -> bool:
    for scope in typed_scopes(model):
        names = {name for node in scope.holder.node for name in (*node.input, *node.output) if name}
        for name in names:
            declared = scope.types.get(name)
            if declared is None or declared.tensor_type.elem_type not in _INTEGERS:
                return False
    return True


def _shortened(problem: str) -> str:
    return quoted(" ".join(problem.split()))[1:-1]
