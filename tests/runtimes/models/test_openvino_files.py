"""IR files between OpenVINO and us: it reads what we write, and writes what we read."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import openvino
import openvino.opset13 as op
import pytest

from tests.models.ir_models import DIVIDING, write_ir
from tests.models.ir_writer import OpenvinoWriter, TensorType, Value
from vinculum.models import load
from vinculum.models.inner_divisions import what_openvino_divides
from vinculum.spec.element_types import INT32, ElementType
from vinculum.tensors.storage import dtype_of


@pytest.mark.parametrize("element_type", DIVIDING, ids=str)
def test_constants_of_every_type(tmp_path: Path, element_type: ElementType) -> None:
    writer = OpenvinoWriter()
    for number, values in enumerate(([1, 2, 3], [])):
        array = np.array(values).astype(dtype_of(element_type))
        writer.result(Value(TensorType(element_type, array.shape), "", array), f"y{number}")
    model = openvino.Core().read_model(write_ir(tmp_path, writer))
    assert [out.element_type.get_type_name() for out in model.outputs] == [element_type.openvino] * 2
    constants = [node for node in model.get_ops() if node.get_type_name() == "Constant"]
    (constant,) = (node for node in constants if list(node.output(0).shape) == [3])
    if element_type.bits > 8:
        data = constant.data.view(ml_dtypes.bfloat16) if element_type.numpy == "bfloat16" else constant.data
        assert data.astype(np.float64).tolist() == [1.0, 2.0, 3.0]


def test_what_it_serializes_again(tmp_path: Path) -> None:
    writer = OpenvinoWriter()
    writer.reserve(["x"])
    x = writer.parameter("x", TensorType(INT32, (None, 2)))
    divisor = Value(TensorType(INT32, (2,)), "", np.array([3, -4], np.int32))
    data = {"auto_broadcast": "numpy", "m_pythondiv": "false"}
    result = Value(TensorType(INT32, (None, 2)), "a,b")
    writer.result(writer.layer("Divide", "x", data, (x, divisor), result), "a,b")
    ours = load(write_ir(tmp_path, writer))
    theirs = tmp_path / "theirs.xml"
    openvino.save_model(openvino.Core().read_model(tmp_path / "model.xml"), theirs, compress_to_fp16=False)
    again = load(theirs)
    assert [repr(t) for t in (*again.inputs, *again.outputs)] == [repr(t) for t in (*ours.inputs, *ours.outputs)]
    assert [repr(d) for d in again.divisions] == [repr(d) for d in ours.divisions]
    assert again.run({"x": np.array([[-11, 9]], np.int32)})["a,b"].tolist() == [[-3, -2]]


def test_layers_that_divide_inside(tmp_path: Path) -> None:
    x = op.parameter([2, 4], name="x")
    soft = op.softmax(x, 1)
    soft.set_friendly_name("soft")
    path = tmp_path / "model.xml"
    openvino.save_model(openvino.Model([op.result(op.divide(soft, x))], [x], "m"), path, False)
    model = load(path)
    assert [(node.name, node.operator) for node in model.inner_divisions] == [("soft", "Softmax")]
    assert len(model.divisions) == 1
    assert what_openvino_divides("Add") is None
