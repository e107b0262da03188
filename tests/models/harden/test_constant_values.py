"""Which operands are the same in every run, and what their values are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from vinculum.models.convert.constants import visible_constants
from vinculum.models.harden.constant_values import ConstantValues

N = helper.make_node


def values(nodes: list[NodeProto], name: str = "y", *, overridable: bool = False) -> list[Any] | None:
    """Return what is known of a value, in a model with the initializer k = [[3, 1, 3]] and the input x."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.INT64, (1, 3))]
    if overridable:
        inputs.append(helper.make_tensor_value_info("k", TensorProto.INT64, (1, 3)))
    output = helper.make_tensor_value_info(name, TensorProto.INT64, None)
    constants = [numpy_helper.from_array(np.array([[3, 1, 3]]), "k"), numpy_helper.from_array(np.array([3]), "shape")]
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, [output], constants))
    (tensors,) = visible_constants(model)
    found = ConstantValues(model.graph, tensors).of(name)
    return None if found is None else found.tolist()


class TestKnown:
    """Initializers and Constant nodes are known, through what keeps their values."""

    @pytest.mark.parametrize(
        ("nodes", "known"),
        [
            ([N("Identity", ["k"], ["y"])], [1, 3]),
            ([N("Reshape", ["k", "shape"], ["z"]), N("Unsqueeze", ["z", "shape"], ["y"])], [1, 3]),
            ([N("Cast", ["k"], ["y"], to=TensorProto.INT32)], [1, 3]),
            ([N("Constant", [], ["y"], value=numpy_helper.from_array(np.array([[0, -1]])))], [-1, 0]),
            ([N("Constant", [], ["y"], value_int=5)], [5]),
            ([N("Constant", [], ["z"], value_ints=[2, 2]), N("Transpose", ["z"], ["y"])], [2]),
        ],
    )
    def test_known(self, nodes: list[NodeProto], known: list[int]) -> None:
        assert values(nodes) == known


class TestNotKnown:
    """What cannot be told, or may be another in another run, is not known."""

    @pytest.mark.parametrize(
        "nodes",
        [
            [N("Identity", ["x"], ["y"])],
            [N("Add", ["k", "k"], ["y"])],
            [N("Identity", ["k"], ["y"], domain="own")],
            [N("Cast", ["k"], ["y"], to=TensorProto.FLOAT)],
            [N("Constant", [], ["z"], value_int=2**40), N("Cast", ["z"], ["y"], to=TensorProto.INT32)],
            [N("Constant", [], ["y"], value_float=1.0)],
        ],
    )
    def test_not_known(self, nodes: list[NodeProto]) -> None:
        assert values(nodes) is None

    def test_an_initializer_that_an_input_overrides(self) -> None:
        assert values([N("Identity", ["k"], ["y"])], overridable=True) is None
