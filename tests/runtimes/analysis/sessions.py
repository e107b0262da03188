"""Sessions of ONNX Runtime, which the analysis is compared with."""

from __future__ import annotations

from typing import Any

import onnxruntime
from onnx import ModelProto
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidGraph, NotImplemented

from tests.analysis.operators import Trial
from tests.analysis.trying import single


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


def optimised(model: ModelProto) -> Any:
    """Return a session that may change the model first."""
    return session(model, optimised=True)


def is_taken(trial: Trial, element_type: str) -> bool:
    """Tell whether ONNX Runtime has an operator in an element type."""
    try:
        session(single(trial, element_type))
    except (InvalidGraph, InvalidArgument, NotImplemented, Fail):
        return False
    return True
