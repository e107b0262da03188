"""Fake runtimes for hardened models: as wrong as the guards of each target allow for, and refusing what kills."""

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
"""The fake runtimes of each target. All forms of the guards are tried on the first."""


def outcomes(behaviour: type[FakeRuntime], cases: Cases) -> list[list[np.ndarray[Any, Any]]]:
    """Return the outputs of models, which must pass onnx.checker and import the domains of their functions."""
    for model, _ in cases:
        checker.check_model(model, full_check=True)
        imported = opset_imports(model)
        assert {function.domain for function in model.functions} <= set(imported)
        guards = [function for function in model.functions if function.domain == GUARDS]
        assert all(opset_imports(function)[""] == imported[""] for function in guards)
    return [Model(behaviour(), model.SerializeToString()).run(None, inputs) for model, inputs in cases]


division = partial(built_models.division, beside=True)
"""Returns a model of one division, which can have only constants as operands."""
