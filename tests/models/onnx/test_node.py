"""`run_node`: one node, at any operator set, with nothing but its operands to tell what they are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper

from vinculum import backend
from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError

OneLine = Callable[..., AbstractContextManager[None]]
A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)
DIV = helper.make_node("Div", ["a", "b"], ["c"], "d")


class TestDivisions:
    """Div and Reciprocal at every operator set, the legacy attributes included."""

    @pytest.mark.parametrize("opset", [1, 5, 6, 7, 12, 13, 14, 22, None])
    def test_at_every_operator_set(self, opset: int | None) -> None:
        options: dict[str, Any] = {} if opset is None else {"opset_version": opset}
        assert backend.run_node(DIV, [A, B], **options)[0].tolist() == [3, 3]
        reciprocal = helper.make_node("Reciprocal", ["b"], ["c"])
        assert backend.run_node(reciprocal, B, **options)[0].tolist() == (np.float32(1) / B).tolist()

    def test_legacy_attributes(self) -> None:
        node = helper.make_node("Div", ["a", "b"], ["c"], broadcast=1, axis=0, consumed_inputs=[0, 0])
        dividend = np.ones((2, 3), np.float32)
        quotient = backend.run_node(node, [dividend, B], "CPU", None, opset_version=1)[0]
        assert quotient.tolist() == (dividend / B[:, None]).tolist()

    @pytest.mark.parametrize(
        ("node", "operands", "opset", "kind", "parts"),
        [
            (DIV, [A, B[:1]], 6, BroadcastError, ("node 'd' (Div-6)", "must be equal")),
            (DIV, [A.astype(np.int8)] * 2, 13, ElementTypeError, ("node 'd' (Div-13)", "Div-14 is the first")),
            (helper.make_node("Div", ["a", "b"], ["c"], axis=0), [A, B], 7, AttributeValueError, ("Div-7", "axis")),
            (DIV, [A, B], 0, ModelError, ("opset_version is 0; allowed: 1 to",)),
            (DIV, [A, B], "6", ModelError, ("opset_version is '6'",)),
            (DIV, [A, B], True, ModelError, ("opset_version is True",)),
            (DIV, [A, B], 2**70, ModelError, (f"opset_version is {2**70}; allowed: 1 to",)),
            (DIV, [A, B], 10**6, ModelError, ("opset_version is 1000000; allowed: 1 to",)),
        ],
    )
    def test_refused(
        self, one_line: OneLine, node: NodeProto, operands: Any, opset: Any, kind: type[Exception], parts: Any
    ) -> None:
        with one_line(kind, *parts):
            backend.run_node(node, operands, opset_version=opset)

    def test_the_node_is_not_modified(self) -> None:
        node = helper.make_node("Clip", ["a", "b"], ["c"])
        assert backend.run_node(node, [A, None])[0].tolist() == A.tolist()
        assert list(node.input) == ["a", "b"]
        assert not DIV.metadata_props


class TestInputs:
    """By name, by place with or without those left out, a repeated one once or twice; whatever is an operand."""

    @pytest.mark.parametrize("inputs", [[A, B], [A, None, B], {"a": A, "b": B}])
    def test_one_that_is_left_out(self, inputs: Any) -> None:
        node = helper.make_node("Clip", ["a", "", "b"], ["c"])
        inputs = {**inputs, "b": B[0]} if isinstance(inputs, dict) else [*inputs[:-1], B[0]]
        assert backend.run_node(node, inputs)[0].tolist() == [2, 2]

    @pytest.mark.parametrize("inputs", [A, [A], [A, A], {"a": A}])
    def test_one_twice(self, inputs: Any) -> None:
        assert backend.run_node(helper.make_node("Div", ["a", "a"], ["c"]), inputs)[0].tolist() == [1, 1]

    def test_what_a_subgraph_uses(self) -> None:
        result = [helper.make_tensor_value_info("t", TensorProto.FLOAT, [2])]
        branch = helper.make_graph([helper.make_node("Div", ["a", "b"], ["t"])], "g", [], result)
        node = helper.make_node("If", ["k"], ["c"], then_branch=branch, else_branch=branch)
        assert backend.run_node(node, {"k": np.array(True), "a": A, "b": B})[0].tolist() == [3, 3]

    @pytest.mark.parametrize(
        ("operator", "inputs", "expected"),
        [
            ("SequenceLength", [[A, A[:1]]], 2),
            ("SequenceLength", [[]], 0),
            ("OptionalHasElement", [None], False),
            ("OptionalHasElement", [A], True),
            ("StringSplit", [np.array(["a b"])], [["a", "b"]]),
            ("Neg", [A.astype(ml_dtypes.bfloat16)], [-6, -9]),
        ],
    )
    def test_of_every_kind(self, operator: str, inputs: Any, expected: object) -> None:
        outputs = backend.run_node(helper.make_node(operator, ["x"], ["y"]), inputs)
        assert outputs[0].tolist() == expected

    def test_of_other_domains(self) -> None:
        node = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", threshold=7.0)
        assert backend.run_node(node, A)[0].tolist() == [0, 1]

    @pytest.mark.parametrize(
        ("inputs", "kind", "parts"),
        [
            ([A], ModelError, ("node 'd' (Div)", "2 inputs; 1 values")),
            ([A, B, B], ModelError, ("2 inputs; 3 values",)),
            ([A, None], ModelError, ("node 'd' (Div-14) has 1 inputs",)),
            ({"a": A}, ModelError, ("node 'd' (Div-14) has 1 inputs",)),
            ([A, 2.0], ElementTypeError, ("input 'b' is a float",)),
            ([A, np.array(["2000-01-01"] * 2, "M8[D]")], ElementTypeError, ("input 'b' has NumPy type datetime64",)),
        ],
    )
    def test_refused(self, one_line: OneLine, inputs: Any, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            backend.run_node(DIV, inputs)

    def test_names_that_are_none(self, one_line: OneLine) -> None:
        with one_line(ModelError, "'d'", "inputs are given by name; 1 is not a string"):
            backend.run_node(DIV, {"a": A, 1: B})

    def test_two_values_of_one_name(self, one_line: OneLine) -> None:
        with one_line(ModelError, "input 'a'", "cannot take"):
            backend.run_node(helper.make_node("Sum", ["a", "a", "b"], ["c"]), [A, B, B])

    def test_what_is_no_node(self, one_line: OneLine) -> None:
        node: Any = "Div"
        with one_line(ModelError, "is a str, not an onnx.NodeProto"):
            backend.run_node(node, [A, B])


class TestOutputs:
    """Those that the node names, in its order."""

    def test_one_that_is_left_out(self) -> None:
        outputs = backend.run_node(helper.make_node("TopK", ["a", "k"], ["", "i"]), [A, np.array([1])])
        assert [output.tolist() for output in outputs] == [[1]]
