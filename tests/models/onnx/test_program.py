"""Divisions run with our engine at every depth; the rest with ONNX's reference evaluator, whose errors become ours."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from vinculum.errors import ElementTypeError, ModelError
from vinculum.models import DivisionRecord, load

OneLine = Callable[..., AbstractContextManager[None]]
File = Callable[..., Path]
FLOATS = (TensorProto.FLOAT, [2])
A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)


def _node(operator: str, inputs: str, output: str, **attributes: Any) -> Any:
    return helper.make_node(operator, inputs.split(), [output], f"node_{output}", **attributes)


class TestOurEngine:
    """Every Div and Reciprocal node of a model is computed to the last bit."""

    def test_what_the_evaluator_gets_wrong(self, onnx_file: File) -> None:
        ints = (TensorProto.INT64, [3])
        model = load(onnx_file([_node("Div", "a b", "c")], {"a": ints, "b": ints}, {"c": ints}))
        dividend = np.array([-11, 2**63 - 1, -(2**63)])
        quotient = model.run({"a": dividend, "b": np.array([3, 1, -1])})["c"]
        assert quotient.tolist() == [-3, 2**63 - 1, -(2**63)]

    def test_the_attributes_reach_it(self, onnx_file: File) -> None:
        path = onnx_file(
            [_node("Div", "a b", "c", axis=1, broadcast=1)],
            {"a": (TensorProto.FLOAT, [2, 3, 4, 5]), "b": (TensorProto.FLOAT, [3, 4])},
            {"c": (TensorProto.FLOAT, [2, 3, 4, 5])},
            opset=6,
        )
        rng = np.random.default_rng(0)
        dividend, divisor = rng.random((2, 3, 4, 5), np.float32), rng.random((3, 4), np.float32)
        expected = dividend / divisor[:, :, None]
        assert load(path).run({"a": dividend, "b": divisor})["c"].tobytes() == expected.tobytes()

    @pytest.mark.parametrize("choice", [True, False])
    def test_in_both_branches(self, onnx_file: File, choice: bool) -> None:
        result = [helper.make_tensor_value_info("t", *FLOATS)]
        then = helper.make_graph([_node("Div", "a b", "t")], "g", [], result)
        other = helper.make_graph([_node("Reciprocal", "b", "t")], "g", [], result)
        node = _node("If", "k", "c", then_branch=then, else_branch=other)
        model = load(onnx_file([node], {"a": FLOATS, "b": FLOATS, "k": (TensorProto.BOOL, [])}, {"c": FLOATS}))
        records: list[DivisionRecord] = []
        output = model.run({"a": A, "b": B, "k": np.array(choice)}, observer=records.append)["c"]
        assert output.tolist() == ((A if choice else np.float32(1)) / B).tolist()
        path = "If:then_branch" if choice else "If:else_branch"
        assert [record.division.path for record in records] == [path]
        assert (records[0].dividend is None) is not choice

    def test_in_operators_that_are_defined_by_others(self, onnx_file: File) -> None:
        node = helper.make_node("MeanVarianceNormalization", ["a"], ["c"], axes=[0])
        records: list[DivisionRecord] = []
        load(onnx_file([node], {"a": FLOATS}, {"c": FLOATS})).run({"a": A}, observer=records.append)
        assert [record.division.operator for record in records] == ["Div-14"]

    def test_an_initializer_of_a_branch_has_a_name_of_its_own(self, onnx_file: File, one_line: OneLine) -> None:
        """ONNX Runtime takes the value around it, the reference evaluator the branch's."""
        hidden = helper.make_tensor("w", TensorProto.FLOAT, [2], [2, 2])
        result = [helper.make_tensor_value_info("t", *FLOATS)]
        branch = helper.make_graph([_node("Div", "a w", "t")], "g", [], result, [hidden])
        node = _node("If", "yes", "c", then_branch=branch, else_branch=branch)
        outer = [
            helper.make_tensor("w", TensorProto.FLOAT, [2], [100, 100]),
            helper.make_tensor("yes", TensorProto.BOOL, [], [True]),
        ]
        model = onnx_file([node], {"a": FLOATS}, {"c": FLOATS}, initializers=outer)
        with one_line(ModelError, "initializer 'w' of graph 'g' has the name of a value around it", "rename it"):
            load(model)


class TestErrors:
    """A node that cannot be run: one line that names it, its operator and the reason."""

    @pytest.mark.parametrize(
        ("node", "parts"),
        [
            (_node("Foo", "a", "c"), ("node 'node_c' (Foo)", "does not implement")),
            (_node("Foo", "a", "c", domain="custom"), ("node 'node_c' (custom.Foo)", "does not implement")),
            (_node("Cast", "a", "c"), ("node 'node_c' (Cast)", "'to'")),
            (_node("Transpose", "a", "c", perm=[0, 1]), ("node 'node_c' (Transpose)",)),
            (_node("MatMul", "a m", "c"), ("node 'node_c' (MatMul)",)),
            (_node("Neg", "a b", "c"), ("node 'node_c' (Neg)",)),
            (_node("Neg", "a", "c", run=1), ("node 'node_c' (Neg)",)),
        ],
    )
    def test_of_other_operators(self, onnx_file: File, one_line: OneLine, node: Any, parts: tuple[str, ...]) -> None:
        inputs = {"a": FLOATS, "b": FLOATS, "m": (TensorProto.FLOAT, [3])}
        model = load(onnx_file([node], inputs, {"c": (TensorProto.FLOAT, None)}, domains=["custom"]))
        with one_line(ModelError, *parts):
            model.run({"a": A, "b": B, "m": np.ones(3, np.float32)})

    def test_the_innermost_node_is_named(self, onnx_file: File, one_line: OneLine) -> None:
        result = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
        branch = helper.make_graph([_node("Transpose", "a", "t", perm=[0, 1])], "g", [], result)
        node = _node("If", "k", "c", then_branch=branch, else_branch=branch)
        model = load(onnx_file([node], {"a": FLOATS, "k": (TensorProto.BOOL, [])}, {"c": (TensorProto.FLOAT, None)}))
        with one_line(ModelError, "node 'node_t' (Transpose)"):
            model.run({"a": A, "k": np.array(True)})

    def test_of_types_that_only_the_run_knows(self, onnx_file: File, one_line: OneLine) -> None:
        # The evaluator takes a TypeError for its own; ours must come through as they are.
        result = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
        then = helper.make_graph([_node("Cast", "a", "t", to=TensorProto.BOOL)], "g", [], result)
        other = helper.make_graph([_node("Identity", "a", "t")], "g", [], result)
        nodes = [_node("If", "k", "x", then_branch=then, else_branch=other), _node("Foo", "x", "y", domain="d")]
        function = helper.make_function(
            "d", "Foo", ["p"], ["q"], [_node("Reciprocal", "p", "q")], [helper.make_opsetid("", 17)]
        )
        model = load(
            onnx_file(
                nodes, {"a": FLOATS, "k": (TensorProto.BOOL, [])}, {"y": FLOATS}, functions=[function], domains=["d"]
            )
        )
        assert model.run({"a": B, "k": np.array(False)})["y"].tolist() == (np.float32(1) / B).tolist()
        with one_line(ElementTypeError, "node 'node_q' (Reciprocal-13 in Foo)", "bool"):
            model.run({"a": B, "k": np.array(True)})

    def test_an_output_that_is_not_a_tensor(self, onnx_file: File, one_line: OneLine) -> None:
        model = load(onnx_file([_node("SequenceConstruct", "a", "c")], {"a": FLOATS}, {"c": FLOATS}))
        with one_line(ModelError, "output 'c' is not a tensor"):
            model.run({"a": A})

    def test_an_operator_of_others_without_its_attribute(self, onnx_file: File, one_line: OneLine) -> None:
        node = helper.make_node("GroupNormalization", ["a", "b", "b"], ["c"], "n")
        inputs = {"a": (TensorProto.FLOAT, [1, 2, 2]), "b": FLOATS}
        model = load(onnx_file([node], inputs, {"c": (TensorProto.FLOAT, None)}, opset=21))
        with one_line(ModelError, "cannot be run: ", "num_groups"):
            model.run({"a": np.ones((1, 2, 2), np.float32), "b": B})


class TestOutputs:
    """Outputs that the evaluator does not give, or that have no name."""

    def test_a_value_that_is_not_given(self, onnx_file: File, one_line: OneLine) -> None:
        nodes = [helper.make_node("Neg", ["a"], ["b", "more"], "neg"), _node("Div", "b more", "c")]
        model = load(onnx_file(nodes, {"a": FLOATS}, {"c": FLOATS}))
        with one_line(ModelError, "node 'neg' (Neg) does not produce its output 'more', which is used"):
            model.run({"a": A})

    def test_a_value_that_is_not_given_and_not_used(self, onnx_file: File) -> None:
        nodes = [helper.make_node("Neg", ["a"], ["b", "more"], "neg"), _node("Div", "b a", "c")]
        assert load(onnx_file(nodes, {"a": FLOATS}, {"c": FLOATS})).run({"a": A})["c"].tolist() == [-1, -1]

    def test_a_value_that_is_not_given_to_a_branch(self, onnx_file: File, one_line: OneLine) -> None:
        result = [helper.make_tensor_value_info("t", *FLOATS)]
        branch = helper.make_graph([_node("Div", "b more", "t")], "branch", [], result)
        nodes = [
            helper.make_node("Neg", ["a"], ["b", "more"], "neg"),
            _node("If", "yes", "c", then_branch=branch, else_branch=branch),
        ]
        yes = helper.make_tensor("yes", TensorProto.BOOL, [], [True])
        model = load(onnx_file(nodes, {"a": FLOATS}, {"c": FLOATS}, initializers=[yes]))
        with one_line(ModelError, "does not produce its output, which is used"):
            model.run({"a": A})

    def test_outputs_without_a_name_are_no_inputs(self, onnx_file: File) -> None:
        most = helper.make_tensor("most", TensorProto.FLOAT, [], [7])
        one = helper.make_tensor("one", TensorProto.INT64, [1], [1])
        nodes = [
            helper.make_node("TopK", ["a", "one"], ["", "places"]),
            helper.make_node("Clip", ["a", "", "most"], ["c"]),
        ]
        outputs = {"c": FLOATS, "places": (TensorProto.INT64, [1])}
        model = load(onnx_file(nodes, {"a": FLOATS}, outputs, initializers=[most, one]))
        assert model.run({"a": A})["c"].tolist() == [6, 7]


class TestNoise:
    """Warnings of NumPy in other operators do not reach standard error."""

    def test_floating_point_exceptions(self, onnx_file: File, capfd: pytest.CaptureFixture[str]) -> None:
        nodes = [_node("Log", "a", "l"), _node("Exp", "b", "e"), _node("Mul", "l e", "m"), _node("Div", "m l", "c")]
        model = load(onnx_file(nodes, {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}))
        output = model.run({"a": np.array([0, -1], np.float32), "b": np.array([1000, 1], np.float32)})["c"]
        assert np.isnan(output[1])
        assert capfd.readouterr() == ("", "")
