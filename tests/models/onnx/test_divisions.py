"""Division nodes are found everywhere, and each must be legal in the operator set where it stands."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from onnx import AttributeProto, TensorProto, helper

from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.models import load
from vinculum.spec.element_types import FLOAT, INT64

OneLine = Callable[..., AbstractContextManager[None]]
File = Callable[..., Path]
FLOATS = (TensorProto.FLOAT, [2])


def _div(**attributes: Any) -> Any:
    return helper.make_node("Div", ["a", "b"], ["c"], "d", **attributes)


class TestFound:
    """`Model.divisions` names operator version, path, element type and shapes."""

    @pytest.mark.parametrize(
        ("opset", "title"), [(1, "Div-1"), (5, "Div-1"), (6, "Div-6"), (12, "Div-7"), (13, "Div-13"), (23, "Div-14")]
    )
    def test_the_version_in_force(self, onnx_file: File, opset: int, title: str) -> None:
        path = onnx_file([_div()], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}, opset=opset)
        (division,) = load(path).divisions
        assert (division.name, division.path, division.operator) == ("d", "", title)
        assert division.element_type == FLOAT
        assert division.shapes == ((2,), (2,), (2,))
        assert division.label == f"node 'd' ({title})"

    def test_a_size_of_zero_is_known(self, onnx_file: File) -> None:
        empty = (TensorProto.FLOAT, [0, 2])
        (division,) = load(onnx_file([_div()], {"a": empty, "b": empty}, {"c": empty})).divisions
        assert division.shapes == ((0, 2),) * 3

    def test_inferred_types_and_symbolic_shapes(self, onnx_file: File) -> None:
        nodes = [
            helper.make_node("Shape", ["a"], ["s"]),
            helper.make_node("Div", ["s", "two"], ["h"]),
            helper.make_node("Neg", ["a"], ["n"]),
            helper.make_node("Div", ["n", "a"], ["c"]),
        ]
        two = helper.make_tensor("two", TensorProto.INT64, [], [2])
        inputs = {"a": (TensorProto.FLOAT, ["N", None, 3])}
        outputs = {"c": (TensorProto.FLOAT, None), "h": (TensorProto.INT64, None)}
        model = load(onnx_file(nodes, inputs, outputs, initializers=[two]))
        assert [(d.name, d.element_type, d.shapes) for d in model.divisions] == [
            ("h", INT64, ((3,), (), (3,))),
            ("c", FLOAT, (("N", None, 3), ("N", None, 3), ("N", None, 3))),
        ]
        assert model.outputs[1].shape == (3,)

    def test_what_is_not_known(self, onnx_file: File) -> None:
        unknown = (TensorProto.FLOAT, None)
        (division,) = load(onnx_file([_div()], {"a": unknown, "b": unknown}, {"c": unknown})).divisions
        assert division.shapes is None
        nodes = [helper.make_node("Foo", ["a"], ["b"], domain="custom"), _div()]
        (division,) = load(onnx_file(nodes, {"a": unknown}, {"c": unknown}, domains=["custom"])).divisions
        assert division.element_type == FLOAT

    def test_subgraphs_have_distinct_paths(self, onnx_file: File) -> None:
        branch = helper.make_graph([_div()], "g", [], [helper.make_tensor_value_info("c", *FLOATS)])
        inner = helper.make_node("If", ["k"], ["t"], then_branch=branch, else_branch=branch)
        outer = helper.make_graph([inner], "g", [], [helper.make_tensor_value_info("t", *FLOATS)])
        nodes = [
            helper.make_node("If", ["k"], ["x"], then_branch=outer, else_branch=branch),
            helper.make_node("If", ["k"], ["y"], then_branch=branch, else_branch=branch),
        ]
        path = onnx_file(nodes, {"a": FLOATS, "b": FLOATS, "k": (TensorProto.BOOL, [])}, {"x": FLOATS, "y": FLOATS})
        assert {division.path for division in load(path).divisions} == {
            "If:else_branch",
            "If:then_branch/If:else_branch",
            "If:then_branch/If:then_branch",
            "If#2:else_branch",
            "If#2:then_branch",
        }

    def test_two_nodes_of_one_name(self, onnx_file: File) -> None:
        nodes = [_div(), helper.make_node("Reciprocal", ["c"], ["r"], "d")]
        model = load(onnx_file(nodes, {"a": FLOATS, "b": FLOATS}, {"r": FLOATS}))
        assert [division.name for division in model.divisions] == ["d", "d (r)"]

    def test_ai_onnx_is_another_name_of_the_default_domain(self, onnx_file: File) -> None:
        path = onnx_file([_div(domain="ai.onnx")], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS})
        assert load(path).divisions[0].operator == "Div-14"


class TestAttributes:
    """Bad input: a wrong attribute."""

    @pytest.mark.parametrize(
        ("opset", "attributes", "parts"),
        [
            (13, {"axis": 1}, ("Div-13 has no attribute 'axis'", "Div-1 and Div-6 have it")),
            (7, {"broadcast": 1}, ("Div-7 has no attribute 'broadcast'",)),
            (6, {"consumed_inputs": [0]}, ("Div-6 has no attribute 'consumed_inputs'", "Div-1")),
            (6, {"broadcast": 2}, ("broadcast", "2", "allowed: 0, 1")),
            (6, {"axis": 1.0}, ("axis", "1.0")),
            (6, {"axis": "x"}, ("axis",)),
            (1, {"consumed_inputs": 0}, ("consumed_inputs",)),
        ],
    )
    def test_each_version(
        self, onnx_file: File, one_line: OneLine, opset: int, attributes: dict[str, object], parts: tuple[str, ...]
    ) -> None:
        path = onnx_file([_div(**attributes)], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}, opset=opset)
        with one_line(AttributeValueError, "node 'd'", *parts):
            load(path)

    def test_the_same_twice(self, onnx_file: File, one_line: OneLine) -> None:
        """A graph among them would be run with the node."""
        node = _div(axis=0)
        node.attribute.add(name="axis", type=AttributeProto.GRAPH)
        node.attribute.add(name="axis", type=AttributeProto.INT, i=1)
        path = onnx_file([node], {"a": FLOATS, "b": FLOATS}, {"c": FLOATS}, opset=6)
        with one_line(ModelError, "node 'd'", "'axis' 3 times", "allowed: once"):
            load(path)


class TestElementTypes:
    """Bad input: a wrong type; the line says which version first allows it."""

    @pytest.mark.parametrize(
        ("opset", "code", "parts"),
        [
            (1, TensorProto.INT32, ("Div-1", "int32", "Div-6 is the first")),
            (7, TensorProto.BFLOAT16, ("Div-7", "bfloat16", "Div-13 is the first")),
            (13, TensorProto.INT8, ("Div-13", "int8", "Div-14 is the first")),
            (14, TensorProto.BOOL, ("Div-14", "bool", "allowed: bfloat16")),
            (14, TensorProto.FLOAT8E5M2, ("Div-14", "float8e5m2")),
        ],
    )
    def test_each_version(
        self, onnx_file: File, one_line: OneLine, opset: int, code: int, parts: tuple[str, ...]
    ) -> None:
        path = onnx_file([_div()], {"a": (code, [2]), "b": (code, [2])}, {"c": (code, [2])}, opset=opset)
        with one_line(ElementTypeError, "node 'd'", *parts):
            load(path)

    def test_two_element_types(self, onnx_file: File, one_line: OneLine) -> None:
        path = onnx_file([_div()], {"a": FLOATS, "b": (TensorProto.DOUBLE, [2])}, {"c": FLOATS})
        with one_line(ElementTypeError, "node 'd' (Div-14)", "float", "double"):
            load(path)

    def test_an_inferred_element_type(self, onnx_file: File, one_line: OneLine) -> None:
        nodes = [helper.make_node("Greater", ["a", "a"], ["b"]), helper.make_node("Reciprocal", ["b"], ["c"], "d")]
        with one_line(ElementTypeError, "node 'd' (Reciprocal-13)", "bool"):
            load(onnx_file(nodes, {"a": FLOATS}, {"c": FLOATS}))


class TestOperands:
    """Bad input: a wrong shape, or a wrong number of operands."""

    def test_shapes_that_do_not_fit(self, onnx_file: File, one_line: OneLine) -> None:
        path = onnx_file([_div()], {"a": FLOATS, "b": (TensorProto.FLOAT, [3])}, {"c": (TensorProto.FLOAT, None)})
        with one_line(BroadcastError, "node 'd' (Div-14)"):
            load(path)

    @pytest.mark.parametrize(
        ("operator", "inputs"), [("Div", ["a"]), ("Div", ["a", ""]), ("Div", ["a"] * 3), ("Reciprocal", [])]
    )
    def test_their_number(self, onnx_file: File, one_line: OneLine, operator: str, inputs: list[str]) -> None:
        path = onnx_file([helper.make_node(operator, inputs, ["c"], "d")], {"a": FLOATS}, {"c": FLOATS})
        with one_line(ModelError, "node 'd'", "inputs"):
            load(path)

    def test_more_dimensions_than_any_array_has(
        self, onnx_file: Callable[..., Path], one_line: Callable[..., AbstractContextManager[None]]
    ) -> None:
        node = helper.make_node("Div", ["a", "b"], ["c"], "n")
        inputs = {"a": (TensorProto.FLOAT, [2]), "b": (TensorProto.FLOAT, [2])}
        path = onnx_file([node], inputs, {"c": (TensorProto.FLOAT, ["N"] * 500)})
        with one_line(ModelError, "500 dimensions; at most 64 are possible"):
            load(path)
