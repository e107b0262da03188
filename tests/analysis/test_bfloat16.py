"""bfloat16, which ONNX Runtime's CPU lacks: arithmetic against ml_dtypes, rounded after every operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

from tests.analysis.containment import complaint, looked_at
from tests.analysis.operands import drawn

_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "Add": (2, np.add),
    "Sub": (2, np.subtract),
    "Mul": (2, np.multiply),
    "Div": (2, np.divide),
    "Sqrt": (1, np.sqrt),
    "Exp": (1, np.exp),
    "Tanh": (1, np.tanh),
    "Abs": (1, np.abs),
    "Neg": (1, np.negative),
    "Floor": (1, np.floor),
    "Reciprocal": (1, lambda x: np.ones((), ml_dtypes.bfloat16) / x),
    "Max": (2, np.maximum),
}


@pytest.mark.parametrize("operator", _FUNCTIONS)
def test_what_is_computed_lies_inside(operator: str) -> None:
    count, function = _FUNCTIONS[operator]
    names = [f"x{place}" for place in range(count)]
    inputs = [helper.make_tensor_value_info(name, 16, (2, 3)) for name in names]
    node = helper.make_node(operator, names, ["y"])
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    rng = np.random.default_rng(0)
    for _ in range(300):
        given = {name: drawn(rng, "bfloat16", (2, 3)) for name in names}
        _, scope = looked_at(model, {name: known for name, (known, _) in given.items()}, infer=False)
        with np.errstate(all="ignore"):
            result = function(*(array for _, array in given.values())).astype(ml_dtypes.bfloat16)
        assert complaint(scope.values["y"], result) == "", given
