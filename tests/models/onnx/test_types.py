"""Types that ONNX infers are used where there are any; a failure to infer is no error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper

from vinculum.models import load
from vinculum.models.onnx.types import with_inferred_types

FLOATS = (TensorProto.FLOAT, [2])


class TestInferred:
    """Small constants may decide shapes; large ones are only typed."""

    def test_a_shape_from_a_constant(self, onnx_model: Callable[..., ModelProto]) -> None:
        nodes = [helper.make_node("Reshape", ["w", "s"], ["t"]), helper.make_node("Neg", ["t"], ["c"])]
        model = onnx_model(nodes, {}, {"c": (TensorProto.FLOAT, None)})
        large = np.zeros((1000, 30), np.float32)
        inferred = with_inferred_types(model, {"w": large, "s": np.array([100, -1])})
        (output,) = inferred.graph.output
        assert [dim.dim_value for dim in output.type.tensor_type.shape.dim] == [100, 300]
        assert inferred.ByteSize() < large.nbytes
        assert not model.graph.value_info

    def test_a_contradiction_is_left_to_the_run(self, onnx_file: Callable[..., Path]) -> None:
        nodes = [helper.make_node("MatMul", ["a", "b"], ["m"]), helper.make_node("Div", ["m", "m"], ["c"])]
        path = onnx_file(nodes, {"a": FLOATS, "b": (TensorProto.FLOAT, [3])}, {"c": (TensorProto.FLOAT, [4, 4])})
        (division,) = load(path).divisions
        assert division.shapes == (None, None, (4, 4))
