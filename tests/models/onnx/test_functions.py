"""Model-local functions, as the standard allows them and the reference evaluator does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, FunctionProto, TensorProto, helper

import vinculum
from vinculum.errors import AttributeValueError, DivisionByZeroError, ElementTypeError, ModelError
from vinculum.models import DivisionRecord, load

OneLine = Callable[..., AbstractContextManager[None]]
File = Callable[..., Path]
FLOATS = (TensorProto.FLOAT, [2])
A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)


def _node(operator: str, inputs: str, output: str, **attributes: Any) -> Any:
    return helper.make_node(operator, inputs.split(), [output], f"node_{output}", **attributes)


def _function(name: str, nodes: Sequence[Any], opset: int = 17, domain: str = "d", **options: Any) -> FunctionProto:
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("d", 1)]
    return helper.make_function(domain, name, ["x", "y"], ["z"], list(nodes), imports, **options)


def _referring(node: Any, attribute: str, parameter: str) -> Any:
    node.attribute.add(name=attribute, ref_attr_name=parameter, type=AttributeProto.INT)
    return node


class TestCalls:
    """A function's divisions run with our engine, at the operator set that the function imports."""

    def test_its_own_operator_set(self, onnx_file: File) -> None:
        function = _function("F", [_node("Div", "x y", "z", broadcast=1, axis=0)], opset=6)
        path = onnx_file(
            [_node("F", "a b", "c", domain="d")],
            {"a": (TensorProto.FLOAT, [2, 3]), "b": FLOATS},
            {"c": (TensorProto.FLOAT, [2, 3])},
            functions=[function],
            domains=["d"],
        )
        model = load(path)
        assert [division.label for division in model.divisions] == ["node 'node_z' (Div-6 in F)"]
        quotient = model.run({"a": np.full((2, 3), 6, np.float32), "b": B})["c"]
        assert quotient.tolist() == [[3, 3, 3], [2, 2, 2]]

    def test_any_order_and_many_calls(self, onnx_file: File) -> None:
        outer = _function("Outer", [_node("Inner", "x y", "t", domain="d"), _node("Inner", "t y", "z", domain="d")])
        inner = _function("Inner", [_node("Div", "x y", "z")])
        path = onnx_file(
            [_node("Outer", "a b", "c", domain="d")],
            {"a": FLOATS, "b": FLOATS},
            {"c": FLOATS},
            functions=[outer, inner],
            domains=["d"],
        )
        model = load(path)
        records: list[DivisionRecord] = []
        assert model.run({"a": A, "b": B}, observer=records.append)["c"].tolist() == [1.5, 1.0]
        assert [record.division.path for record in records] == ["Inner", "Inner"]
        assert len(model.divisions) == 1

    @pytest.mark.parametrize(("given", "expected"), [({"ax": 0}, [[3, 3], [2, 2]]), ({}, [[3, 2], [3, 2]])])
    def test_attributes_and_their_defaults(
        self, onnx_file: File, given: dict[str, int], expected: list[list[float]]
    ) -> None:
        node = _referring(_node("Div", "x y", "z", broadcast=1), "axis", "ax")
        function = _function("F", [node], opset=6, attribute_protos=[helper.make_attribute("ax", 1)])
        path = onnx_file(
            [_node("F", "a b", "c", domain="d", **given)],
            {"a": (TensorProto.FLOAT, [2, 2]), "b": FLOATS},
            {"c": (TensorProto.FLOAT, [2, 2])},
            functions=[function],
            domains=["d"],
        )
        assert load(path).run({"a": np.full((2, 2), 6, np.float32), "b": B})["c"].tolist() == expected

    def test_a_function_in_place_of_an_operator(self, onnx_file: File) -> None:
        function = _function("Div", [_node("Sub", "x y", "z")], domain="")
        path = onnx_file([_node("Div", "a b", "c")], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}, functions=[function])
        model = load(path)
        assert model.divisions == ()
        assert model.run({"a": A, "b": B})["c"].tolist() == [4, 6]

    def test_overloads(self, onnx_file: File) -> None:
        functions = [
            _function("F", [_node("Div", "x y", "z")], overload="1"),
            _function("F", [_node("Sub", "x y", "z")]),
        ]
        nodes = [_node("F", "a b", "t", domain="d", overload="1"), _node("F", "t b", "c", domain="d")]
        path = onnx_file(
            nodes, {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}, functions=functions, domains=["d"], ir_version=10
        )
        model = load(path)
        assert model.run({"a": A, "b": B})["c"].tolist() == [1, 0]
        assert model.divisions[0].path == "d:F:1"

    def test_inputs_left_out(self, onnx_file: File) -> None:
        function = _function("F", [_node("Reciprocal", "x", "z")])
        path = onnx_file(
            [_node("F", "a", "c", domain="d")], {"a": FLOATS}, {"c": FLOATS}, functions=[function], domains=["d"]
        )
        assert load(path).run({"a": B})["c"].tolist() == [0.5, np.float32(1 / 3)]

    def test_errors_name_node_and_function(self, onnx_file: File, one_line: OneLine) -> None:
        ints = (TensorProto.INT32, [2])
        function = _function("F", [_node("Div", "x y", "z")])
        path = onnx_file(
            [_node("F", "a b", "c", domain="d")],
            {"a": ints, "b": ints},
            {"c": ints},
            functions=[function],
            domains=["d"],
        )
        with one_line(DivisionByZeroError, "node 'node_z' (Div-14 in F): 1 of 2 divisors"):
            load(path).run({"a": np.array([1, 2], np.int32), "b": np.array([1, 0], np.int32)})

    @pytest.mark.parametrize(("operator", "inputs"), [("Div", "x y"), ("Div", "y x"), ("Reciprocal", "y")])
    def test_operands_that_a_call_leaves_out(
        self, onnx_file: File, one_line: OneLine, operator: str, inputs: str
    ) -> None:
        function = _function("F", [_node(operator, inputs, "z")])
        path = onnx_file(
            [_node("F", "a", "c", domain="d")], {"a": FLOATS}, {"c": FLOATS}, functions=[function], domains=["d"]
        )
        with one_line(ElementTypeError, "node 'node_z'"):
            load(path).run({"a": A})


class TestRefused:
    """Bad input: functions that cannot be run."""

    def _load(self, onnx_file: File, functions: Sequence[FunctionProto], call: str = "F", inputs: str = "a a") -> None:
        node = _node(call, inputs, "c", domain="d")
        load(onnx_file([node], {"a": FLOATS}, {"c": FLOATS}, functions=functions, domains=["d"]))

    def test_a_circle(self, onnx_file: File, one_line: OneLine) -> None:
        functions = [_function(name, [_node(callee, "x y", "z", domain="d")]) for name, callee in ("FG", "GH", "HF")]
        with one_line(ModelError, "calls itself", "recursive"):
            self._load(onnx_file, functions)

    def test_calls_too_deep(self, onnx_file: File, one_line: OneLine) -> None:
        chain = [_function(f"F{n}", [_node(f"F{n + 1}", "x y", "z", domain="d")]) for n in range(1200)]
        with one_line(ModelError, "more than 100 deep"):
            self._load(onnx_file, [*chain, _function("F1200", [_node("Div", "x y", "z")])], call="F0")

    def test_defined_twice(self, onnx_file: File, one_line: OneLine) -> None:
        with one_line(ModelError, "function 'd:F' is defined twice"):
            self._load(onnx_file, [_function("F", []), _function("F", [])])

    def test_too_many_inputs(self, onnx_file: File, one_line: OneLine) -> None:
        with one_line(ModelError, "node 'node_c' calls function 'd:F' of 2 inputs and 1 outputs with 3 and 1"):
            self._load(onnx_file, [_function("F", [_node("Div", "x y", "z")])], inputs="a a a")

    def test_a_call_without_a_name(self) -> None:
        call = helper.make_node("F", ["a", "a", "a"], ["c"], domain="d")
        info = helper.make_tensor_value_info
        graph = helper.make_graph([call], "g", [info("a", 1, [2])], [info("c", 1, [2])])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
        model = helper.make_model(graph, opset_imports=opsets, functions=[_function("F", [_node("Div", "x y", "z")])])
        with pytest.raises(ModelError, match="node 'c' calls function 'd:F'"):
            vinculum.harden(model, target="onnxruntime")

    def test_an_attribute_without_a_value(self, onnx_file: File, one_line: OneLine) -> None:
        node = _referring(_node("Div", "x y", "z", broadcast=1), "axis", "ax")
        with one_line(ModelError, "'node_c'", "without its attribute 'ax'"):
            self._load(onnx_file, [_function("F", [node], opset=6, attributes=["ax"])])

    def test_an_illegal_reference(self, onnx_file: File, one_line: OneLine) -> None:
        node = _referring(_node("Div", "x y", "z"), "axis", "ax")
        with one_line(AttributeValueError, "node 'node_z' (Div-14 in F)", "no attribute 'axis'"):
            self._load(onnx_file, [_function("F", [node], attribute_protos=[helper.make_attribute("ax", 1)])])
