"""Our operators in the evaluator: those that divide by themselves in anybody's, and Loop as the standard has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator

import vinculum
from vinculum.errors import BroadcastError, DivisionByZeroError, ElementTypeError
from vinculum.models import Model, load

File = Callable[..., Path]
OneLine = Callable[..., AbstractContextManager[None]]


def _loop(onnx_file: File, operands: Sequence[str], shape: Sequence[int]) -> Model:
    """Return a model that divides by 2 in a loop while the quotient's largest element is above 1, and stacks it."""
    floats = (TensorProto.FLOAT, shape)
    body = helper.make_graph(
        [
            helper.make_node("Div", ["v", "two"], ["w"]),
            helper.make_node("ReduceMax", ["w"], ["top"], keepdims=0),
            helper.make_node("Greater", ["top", "one"], ["h"]),
            helper.make_node("Identity", ["w"], ["s"]),
            helper.make_node("Identity", ["i"], ["n"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("g", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", *floats),
        ],
        [
            helper.make_tensor_value_info("h", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", *floats),
            helper.make_tensor_value_info("s", *floats),
            helper.make_tensor_value_info("n", TensorProto.INT64, []),
        ],
    )
    numbers = [
        helper.make_tensor("two", TensorProto.FLOAT, [], [2]),
        helper.make_tensor("one", TensorProto.FLOAT, [], [1]),
    ]
    path = onnx_file(
        [helper.make_node("Loop", operands, ["c", "s", "n"], body=body)],
        {"limit": (TensorProto.INT64, []), "going": (TensorProto.BOOL, []), "a": floats},
        {"c": floats, "s": (TensorProto.FLOAT, None), "n": (TensorProto.INT64, None)},
        initializers=numbers,
    )
    return load(path)


class TestLoop:
    """ONNX Loop: the limit and the condition may each be left out, scan outputs are stacked."""

    @pytest.mark.parametrize(
        ("operands", "limit", "going", "iterations"),
        [
            (["limit", "going", "a"], 2, True, 2),
            (["limit", "going", "a"], 9, True, 4),
            (["limit", "going", "a"], 9, False, 0),
            (["limit", "", "a"], 3, True, 3),
            (["", "going", "a"], 0, True, 4),
            (["", "", "a"], 0, True, 4),
            (["limit", "", "a"], 0, True, 0),
        ],
    )
    @pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
    def test_iterations(
        self, onnx_file: File, operands: list[str], limit: int, going: bool, iterations: int, shape: tuple[int, ...]
    ) -> None:
        dividend = np.full(shape, 16, np.float32)
        model = _loop(onnx_file, operands, shape)
        outputs: dict[str, Any] = model.run({"limit": np.array(limit), "going": np.array(going), "a": dividend})
        assert outputs["c"].tolist() == (dividend / 2**iterations).tolist()
        assert outputs["s"].shape == (iterations, *shape)
        assert outputs["s"].dtype == np.float32
        assert [np.unique(step).tolist() for step in outputs["s"]] == [[8], [4], [2], [1]][:iterations]
        assert outputs["n"].tolist() == list(range(iterations))


class TestReferenceOps:
    """`vinculum.reference_ops()`: our classes in anybody's reference evaluator, by the defaults of `vinculum.div`."""

    def _evaluator(self, nodes: Sequence[NodeProto], code: int = TensorProto.FLOAT, opset: int = 17) -> Any:
        tensors = {name: helper.make_tensor_value_info(name, code, None) for name in "abc"}
        inputs = [tensors[name] for name in "ab" if any(name in node.input for node in nodes)]
        graph = helper.make_graph(nodes, "g", inputs, [tensors["c"]])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        return ReferenceEvaluator(model, new_ops=vinculum.reference_ops())

    def test_the_classes(self) -> None:
        assert [cls.__name__ for cls in vinculum.reference_ops()] == ["Div", "Reciprocal"]
        assert vinculum.reference_ops() is not vinculum.reference_ops()

    def test_integers_truncate_and_wrap(self) -> None:
        evaluator = self._evaluator([helper.make_node("Div", ["a", "b"], ["c"])], TensorProto.INT64)
        dividend, divisor = np.array([-11, 2**63 - 1, -(2**63)]), np.array([3, 1, -1])
        assert evaluator.run(None, {"a": dividend, "b": divisor})[0].tolist() == [-3, 2**63 - 1, -(2**63)]

    @pytest.mark.parametrize("opset", [1, 6])
    def test_the_legacy_attributes_of_the_operator_set(self, opset: int) -> None:
        node = helper.make_node("Div", ["a", "b"], ["c"], broadcast=1, axis=0)
        dividend, divisor = np.ones((2, 3), np.float32), np.array([2, 3], np.float32)
        quotient = self._evaluator([node], opset=opset).run(None, {"a": dividend, "b": divisor})[0]
        assert quotient.tolist() == (dividend / divisor[:, None]).tolist()

    @pytest.mark.parametrize(
        ("node", "code", "opset", "operands", "kind", "parts"),
        [
            ("Div", TensorProto.INT8, 14, [[1, 2], [1, 0]], DivisionByZeroError, ("node 'n' (Div-14): 1 of 2",)),
            ("Div", TensorProto.INT8, 13, [[1], [1]], ElementTypeError, ("node 'n' (Div-13)", "does not take int8")),
            ("Div", TensorProto.FLOAT, 6, [[1, 2], [1]], BroadcastError, ("node 'n' (Div-6)", "must be equal")),
            ("Reciprocal", TensorProto.INT32, 13, [None, [1]], ElementTypeError, ("node 'n' (Reciprocal-13)",)),
        ],
    )
    def test_errors_are_ours(
        self, one_line: OneLine, node: str, code: int, opset: int, operands: Any, kind: type[Exception], parts: Any
    ) -> None:
        dtype = helper.tensor_dtype_to_np_dtype(code)
        given = {name: np.array(x, dtype) for name, x in zip("ab", operands, strict=True) if x is not None}
        evaluator = self._evaluator([helper.make_node(node, list(given), ["c"], "n")], code, opset)
        with one_line(kind, *parts):
            evaluator.run(None, given)

    def test_in_subgraphs(self) -> None:
        result = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
        branch = helper.make_graph([helper.make_node("Div", ["a", "b"], ["t"])], "g", [], result)
        condition = helper.make_tensor("k", TensorProto.BOOL, [], [True])
        nodes = [
            helper.make_node("Constant", [], ["k"], value=condition),
            helper.make_node("If", ["k"], ["c"], then_branch=branch, else_branch=branch),
            helper.make_node("Neg", ["a"], ["x"]),
            helper.make_node("Neg", ["b"], ["y"]),
        ]
        evaluator = self._evaluator(nodes)
        ones = np.ones(2, np.float32)
        assert evaluator.run(None, {"a": ones, "b": ones * 4})[0].tolist() == [0.25, 0.25]
        with pytest.raises(TypeError) as caught:
            evaluator.run(None, {"a": ones, "b": np.ones(2)})
        # The evaluator rewrites a TypeError that leaves a subgraph, and keeps ours as the cause.
        assert isinstance(caught.value.__cause__, ElementTypeError)

    def test_an_operator_by_itself(self) -> None:
        division: Any = vinculum.reference_ops()[0]
        assert division.eval(np.array([-7]), np.array([2])).tolist() == [-3]
