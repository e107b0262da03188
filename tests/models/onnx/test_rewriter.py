"""New nodes in the place of one: their constants are what they were asked to be, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import FunctionProto, GraphProto

from vinculum.models.onnx.rewriter import Rewriter


def test_integers_in_functions() -> None:
    """Before operator set 9 a function holds floats only."""
    with pytest.raises(ValueError, match="a function below operator set 9 holds floats only; inline"):
        Rewriter(FunctionProto(), 8, set(), "x").constant(np.array([7]), "n")
    Rewriter(FunctionProto(), 8, set(), "x").constant(np.ones(2), "n")
    Rewriter(FunctionProto(), 9, set(), "x").constant(np.array([7]), "n")
    Rewriter(GraphProto(), 1, set(), "x").constant(np.array([7]), "n")
