"""`vinculum.audit` is ``vinculum audit``: of a file, or of a model in memory, with inputs given or drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import vinculum

MODEL = Path(__file__).parents[4] / "examples" / "layer_norm" / "model.onnx"


def test_a_file_and_a_model_in_memory() -> None:
    of_file, loaded, in_memory = (
        vinculum.audit(model, backend="onnx-reference", dims={"batch": 3}, sets=1)
        for model in (MODEL, vinculum.load(MODEL), onnx.load(MODEL))
    )
    assert (of_file.model, loaded.model, in_memory.model) == (str(MODEL), str(MODEL), "(in memory)")
    for found in (of_file, loaded, in_memory):
        (node,) = found.nodes
        assert node.verdict is not None
        assert (node.verdict.elements, node.shapes, found.edges.sets) == (192, ((3, 4, 16), (3, 4, 1)), 1)
        assert not found.finds
        assert "1 of 1 division exact where observed" in " ".join(str(found).split())


def test_inputs() -> None:
    found = vinculum.audit(MODEL, backend="onnxruntime", inputs={"x": np.ones((1, 4, 16), np.float32)}, sets=0)
    assert found.nodes[0].shapes == ((1, 4, 16), (1, 4, 1))
    with pytest.raises(vinculum.ElementTypeError, match="input 'x' is a list; pass"):
        vinculum.audit(MODEL, backend="onnxruntime", inputs={"x": [1.0]})
    with pytest.raises(vinculum.SpecLookupError, match="'numpy' cannot run models"):
        vinculum.audit(MODEL, backend="numpy")
