"""What is the same in every run, as each scope sees it."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from vinculum.models.onnx.scopes import scopes

FLOATS = (TensorProto.FLOAT, [1])


def _tensor(name: str, value: float) -> TensorProto:
    return numpy_helper.from_array(np.array([value], np.float32), name)


def _values(found: object) -> dict[str, float]:
    assert isinstance(found, dict)
    return {name: float(numpy_helper.to_array(tensor)[0]) for name, tensor in found.items()}


class TestVisibleConstants:
    """Initializers that no input overrides and values of Constant nodes, those of the graphs around included."""

    def test_by_scope(self) -> None:
        result = [helper.make_tensor_value_info("t", *FLOATS)]
        branch = helper.make_graph(
            [
                helper.make_node("Constant", [], ["k"], value=_tensor("", 4)),
                helper.make_node("Neg", ["w"], ["hidden"]),
                helper.make_node("Div", ["w", "k"], ["t"]),
            ],
            "branch",
            [],
            result,
            [_tensor("own", 5)],
        )
        nodes = [
            helper.make_node("Constant", [], ["k"], value=_tensor("", 1)),
            helper.make_node("Constant", [], ["hidden"], value=_tensor("", 2)),
            helper.make_node("Constant", [], ["list"], value_ints=[1]),
            helper.make_node("If", ["yes"], ["c"], then_branch=branch, else_branch=branch),
        ]
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("given", *FLOATS)],
            [helper.make_tensor_value_info("c", *FLOATS)],
            [_tensor("w", 3), _tensor("given", 9)],
        )
        body = [
            helper.make_node("Constant", [], ["one"], value=_tensor("", 1)),
            helper.make_node("Neg", ["one"], ["y"]),
        ]
        function = helper.make_function("d", "F", [], ["y"], body, [helper.make_opsetid("", 13)])
        model = helper.make_model(graph, functions=[function])
        top, then_branch, else_branch, in_function = (_values(scope.constants) for scope in scopes(model, {"F": "F"}))
        assert top == {"k": 1, "hidden": 2, "list": 1, "w": 3}
        assert then_branch == else_branch == {"list": 1, "w": 3, "k": 4, "own": 5}
        assert in_function == {"one": 1}
