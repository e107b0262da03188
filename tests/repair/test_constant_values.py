"""Which operands are the same in every run, and what their values are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.models.onnx.scopes import scopes
from vinculum.repair.constant_values import ConstantValues

N = helper.make_node


def model_of(nodes: list[NodeProto], name: str = "y", *, overridable: bool = False) -> ModelProto:
    """Return a model with the initializer k = [[3, 1, 3]] and the input x."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.INT64, (1, 3))]
    if overridable:
        inputs.append(helper.make_tensor_value_info("k", TensorProto.INT64, (1, 3)))
    output = helper.make_tensor_value_info(name, TensorProto.INT64, None)
    constants = [numpy_helper.from_array(np.array([[3, 1, 3]]), "k"), numpy_helper.from_array(np.array([3]), "shape")]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, [output], constants))


def known_in(nodes: list[NodeProto], *, overridable: bool = False) -> ConstantValues:
    """Return what is known in the graph of such a model."""
    (scope,) = scopes(model_of(nodes, overridable=overridable), {})
    return ConstantValues(scope)


def values(nodes: list[NodeProto], name: str = "y", *, overridable: bool = False) -> list[Any] | None:
    """Return what is known of a value."""
    found = known_in(nodes, overridable=overridable).of(name)
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


class TestFoundByTheRuntime:
    """A dividend that a runtime works out when it loads the model is told from one that only a run knows."""

    STRETCHED = (N("Shape", ["x"], ["size"]), N("Expand", ["k", "size"], ["divisor"]))

    @pytest.mark.parametrize(
        ("nodes", "divisor", "found"),
        [
            ([N("Add", ["k", "k"], ["y"]), *STRETCHED], "divisor", True),
            ([N("Add", ["k", "k"], ["y"]), *STRETCHED], "k", False),  # It is folded with its dividend.
            ([N("Identity", ["x"], ["y"]), *STRETCHED], "divisor", False),
        ],
    )
    def test_in_a_graph(self, nodes: list[NodeProto], divisor: str, found: bool) -> None:
        assert known_in(nodes).may_be_found("y", divisor) is found

    def test_a_parameter_of_a_function(self) -> None:
        body = [N("Constant", [], ["k"], value_int=3), N("Identity", ["p"], ["y"]), N("Neg", ["p"], ["z"])]
        opset = helper.make_opsetid("", 17)
        function = helper.make_function("own", "F", ["p"], ["y", "z"], body, [opset])
        graph = helper.make_graph([], "g", [], [])
        _, scope = scopes(helper.make_model(graph, opset_imports=[opset], functions=[function]), {"F": "F"})
        values = ConstantValues(scope)
        assert values.may_be_found("y", "k")
        assert not values.may_be_found("z", "k")


def test_a_value_of_the_scope_around_is_known_through_nodes_there() -> None:
    body = helper.make_graph([N("Cast", ["y"], ["r"], to=TensorProto.INT32)], "body", [], [])
    branch = N("If", ["x"], ["r"], then_branch=body, else_branch=body)
    _, body_scope, _ = scopes(model_of([N("Identity", ["k"], ["y"]), branch], "r"), {})
    inner = ConstantValues(body_scope).of("r")
    assert inner is not None
    assert inner.tolist() == [1, 3]
