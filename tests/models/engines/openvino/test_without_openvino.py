"""What needs the package openvino says so, in one line, where it is not installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from tests.models.built_models import node
from vinculum.errors import ModelError
from vinculum.models import load
from vinculum.models.convert import convert_file

OneLine = Callable[..., AbstractContextManager[None]]
FLOATS = (TensorProto.FLOAT, [2])
X = np.ones(2, np.float32)


@pytest.fixture
def source(onnx_file: Callable[..., Path]) -> Path:
    """Return a model of two nodes."""
    return onnx_file([node("s = Abs(x)"), node("y = Div(s, x)")], {"x": FLOATS}, {"y": FLOATS})


def test_the_engine(source: Path, one_line: OneLine) -> None:
    with one_line(ModelError, "the engine 'openvino' needs the package openvino", "pip install"):
        load(source).run({"x": X}, engine="openvino")


def test_a_conversion(source: Path, one_line: OneLine) -> None:
    with one_line(ModelError, "writing an IR needs the package openvino", "pip install"):
        convert_file(source, source.with_name("new.xml"))
    assert not source.with_name("new.xml").exists()


def test_an_ir_of_other_layers(ir_file: Callable[..., Path], one_line: OneLine) -> None:
    port = '<port id="{}" precision="FP32"><dim>2</dim></port>'
    layers = (
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>'
        f'<output>{port.format(0)}</output></layer><layer id="1" name="positive" type="Abs" version="opset1">'
        f"<input>{port.format(0)}</input><output>{port.format(1)}</output></layer>"
        f'<layer id="2" name="y" type="Result" version="opset1"><input>{port.format(0)}</input></layer>'
    )
    edges = "".join(f'<edge from-layer="{n}" from-port="{n}" to-layer="{n + 1}" to-port="0"/>' for n in (0, 1))
    model = load(ir_file(layers, edges))
    for call in (model.prepare, lambda: model.run({"x": X})):
        with one_line(ModelError, "layer 'positive' (Abs) needs the package openvino", "pip install"):
            call()
