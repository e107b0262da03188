"""Whole models in ONNX Runtime with the library: ONNX's own node tests, and the examples, whose divisions are exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

import vinculum
from tests.kernels.comparing import differing
from tests.onnx_cases import node_cases
from vinculum.onnxruntime import register

EXAMPLES = Path(__file__).parents[3] / "examples"
# What each example is given: the inputs that stand beside it. In the one of float16, what ONNX Runtime computes
# in float32 is rounded wherever the graph is cut, and else is not.
GIVEN = {
    "layer_norm/model": ["x.npy"],
    "rms_norm/model": ["x.npy"],
    "attention/model": ["inputs.npz"],
    "windows/model": ["signal.npy"],
    "floor_divide/model": ["inputs.npz"],
    "floor_divide/torchscript": ["inputs.npz"],
    "masked_mean/model": ["x.npy", "mask.npy"],
    "newton_sqrt/model": ["x.npy", "steps.pb"],
    "div_6_axis/model": ["A.pb", "B.pb"],
    "openvino_rounding/div": ["a.npy", "b.npy"],
}


def run(model: Path | bytes, inputs: dict[str, Any]) -> list[Any]:
    """Return what a model gives in a session that has the library."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    register(options, zero_divisor="zero")
    return list(onnxruntime.InferenceSession(model, options).run(None, inputs))


def tensor(file: Path) -> Any:
    """Return a stored tensor."""
    return numpy_helper.to_array(onnx.load_tensor(file))


def held(file: Path) -> dict[str, Any]:
    """Return the inputs that a file holds, by name."""
    if file.suffix == ".npz":
        return dict(np.load(file))
    return {file.stem: tensor(file) if file.suffix == ".pb" else np.load(file)}


def test_onnx_node_tests() -> None:
    """Those of which ONNX Runtime has the element type are right to the last bit."""
    passed = 0
    for test in node_cases():
        if not test.name.startswith(("test_div", "test_mod", "test_reciprocal")):
            continue
        model = onnx.ModelProto()
        model.CopyFrom(test.model)
        model.ir_version, model.opset_import[0].version = 10, min(model.opset_import[0].version, 23)  # which all read
        names = [value.name for value in model.graph.input]
        for inputs, outputs in test.data_sets:
            (result,) = run(model.SerializeToString(), dict(zip(names, inputs, strict=True)))
            assert not differing(result, outputs[0]).any(), test.name
            passed += 1
    assert passed >= 20


@pytest.mark.parametrize("name", GIVEN)
def test_examples(name: str) -> None:
    """They give what they give where each division is cut out, and everything else is ONNX Runtime's too."""
    path = EXAMPLES / f"{name}.onnx"
    inputs: dict[str, Any] = {}
    for file in GIVEN[name]:
        inputs |= held(path.parent / file)
    expected = vinculum.load(path).run(inputs, engine="onnxruntime", zero_divisor="zero")
    for result, wanted in zip(run(path, inputs), expected.values(), strict=True):
        assert np.array_equal(result, wanted, equal_nan=result.dtype.kind == "f")
