"""The runtimes that hardened models are run on: as wrong as the target's guards allow for, and refusing what kills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import ModelProto, checker

from tests import fake_runtime
from tests.fake_runtime import FakeRuntime, Model
from tests.models import built_models
from vinculum.models.onnx.divisions import GUARDS
from vinculum.models.onnx.scopes import opset_imports

Cases = Sequence[tuple[ModelProto, Mapping[str, Any]]]

TOLERATED: dict[str, tuple[type[FakeRuntime], ...]] = {
    "onnxruntime": (fake_runtime.RefusesFaults,),
    "openvino": (
        fake_runtime.FloorsByReciprocal,
        fake_runtime.FloorsAndRefuses,
        fake_runtime.EstimatesSigned,
        fake_runtime.RoundsEstimates,
        fake_runtime.NarrowsInt64,
        fake_runtime.IsOneTooHighAbove20Bits,
        fake_runtime.IsOneTooLowAbove20Bits,
    ),
    "portable": (
        fake_runtime.FloorsAndRefuses,
        fake_runtime.RefusesFaults,
        fake_runtime.RoundsUpInDouble,
        fake_runtime.RoundsEstimatesInDouble,
        fake_runtime.EstimatesByReciprocalInDouble,
        fake_runtime.IsOneTooHighAbove20Bits,
        fake_runtime.IsOneTooLowAbove20Bits,
    ),
}
"""Of each target; in the first all forms of the guards are tried."""


def outcomes(behaviour: type[FakeRuntime], cases: Cases) -> list[list[np.ndarray[Any, Any]]]:
    """Return the outputs of models that the checker lets through, and that import what their functions call."""
    for model, _ in cases:
        checker.check_model(model, full_check=True)
        imported = opset_imports(model)
        assert {function.domain for function in model.functions} <= set(imported)
        guards = [function for function in model.functions if function.domain == GUARDS]
        assert all(opset_imports(function)[""] == imported[""] for function in guards)
    return [Model(behaviour(), model.SerializeToString()).run(None, inputs) for model, inputs in cases]


division = partial(built_models.division, beside=True)
"""Returns a model of one division, which can be run with constants alone."""
