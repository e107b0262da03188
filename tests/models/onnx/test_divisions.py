"""Division nodes are found everywhere, and each must be valid in its operator set."""

from __future__ import annotations

import pytest
from onnx import AttributeProto

from tests.models.built_models import one_line, text_model
from vinculum.errors import AttributeValueError, BroadcastError, ElementTypeError, ModelError
from vinculum.models import load
from vinculum.models.onnx.divisions import DIVIDES, expanded
from vinculum.models.onnx.scopes import model_nodes
from vinculum.spec.element_types import FLOAT, INT64

DIV = "[d] c = Div(a, b)"


class TestFound:
    """`Model.divisions` names operator version, path, element type and shapes."""

    @pytest.mark.parametrize(
        ("opset", "title"), [(1, "Div-1"), (5, "Div-1"), (6, "Div-6"), (12, "Div-7"), (13, "Div-13"), (23, "Div-14")]
    )
    def test_the_version_in_force(self, opset: int, title: str) -> None:
        (division,) = load(text_model(DIV, opset=opset)).divisions
        assert (division.name, division.path, division.operator) == ("d", "", title)
        assert division.element_type == FLOAT
        assert division.shapes == ((2,), (2,), (2,))
        assert division.label == f"node 'd' ({title})"

    def test_a_size_of_zero_is_known(self) -> None:
        (division,) = load(text_model(DIV, "float[0,2] a, float[0,2] b", "float[0,2] c")).divisions
        assert division.shapes == ((0, 2),) * 3

    def test_inferred_types_and_symbolic_shapes(self) -> None:
        nodes = "s = Shape(a) h = Div(s, two) n = Neg(a) c = Div(n, a)"
        model = load(text_model(nodes, "float[N,?,3] a", "float[] c, int64[] h", constants="int64 two = {2}"))
        assert [(d.name, d.element_type, d.shapes) for d in model.divisions] == [
            ("h", INT64, ((3,), (), (3,))),
            ("c", FLOAT, (("N", None, 3), ("N", None, 3), ("N", None, 3))),
        ]
        assert model.outputs[1].shape == (3,)

    @pytest.mark.parametrize("nodes", [DIV, f"b = d.Foo(a) {DIV}"])
    def test_what_is_not_known(self, nodes: str) -> None:
        inputs = "float[] a" if "Foo" in nodes else "float[] a, float[] b"
        (division,) = load(text_model(nodes, inputs, "float[] c")).divisions
        assert (division.element_type, division.shapes) == (FLOAT, None)

    def test_subgraphs_have_distinct_paths(self) -> None:
        branches = "<then_branch = t () => (float[2] c) { %s }, else_branch = e () => (float[2] c) { c = Div(a, b) }>"
        simple = f"If(k) {branches % 'c = Div(a, b)'}"
        nodes = f"x = If(k) {branches % f'c = {simple}'} y = {simple}"
        model = load(text_model(nodes, "float[2] a, float[2] b, bool k", "float[2] x, float[2] y"))
        assert {division.path for division in model.divisions} == {
            "If:else_branch",
            "If:then_branch/If:else_branch",
            "If:then_branch/If:then_branch",
            "If#2:else_branch",
            "If#2:then_branch",
        }

    def test_ai_onnx_is_another_name_of_the_default_domain(self) -> None:
        model = text_model(DIV)
        model.graph.node[0].domain = "ai.onnx"
        assert load(model).divisions[0].operator == "Div-14"


def test_bodies_of_operators_that_divide_inside() -> None:
    """Each division is named after its node, in branches too; an operator without a body stays."""
    sides = (f"{n}_branch = {n} () => (float[2] {n}) {{ [{n}] {n} = Softmax(a) }}" for n in ("then", "else"))
    nodes = f"[soft] s = Softmax(a) i = If(k) <{', '.join(sides)}> p = Add(s, i) [length] c = LpNormalization(p)"
    model, count = expanded(text_model(nodes, "float[2] a, bool k"))
    assert count == 3
    named = [node.name for node in model_nodes(model) if node.op_type in (*DIVIDES, "LpNormalization")]
    assert named == ["soft/Div", "then/Div", "else/Div", "length"]


def test_bodies_that_divide_before_their_result() -> None:
    """Nodes of the body that divide get names; nodes outside of it keep theirs."""
    nodes = "[before] d = Div(a, b) [norm] n = LayerNormalization(d, b) [soft] s = Softmax(n) [after] c = Div(s, a)"
    model, count = expanded(text_model(nodes, "float[2,2] a, float[2] b", "float[2,2] c"))
    assert count == 2
    means = ["norm/ReduceMean", "norm/ReduceMean_2"]
    named = [node.name for node in model_nodes(model) if node.name]
    assert named == ["before", *means, "norm/Div", "soft/Div", "after"]
    used = {"c", *(name for node in model_nodes(model) for name in node.input)}
    assert not [node.op_type for node in model_nodes(model) if used.isdisjoint(node.output)]


class TestAttributes:
    """Bad input: a wrong attribute."""

    @pytest.mark.parametrize(
        ("opset", "attribute", "parts"),
        [
            (13, "axis = 1", ("Div-13 has no attribute 'axis'", "Div-1 and Div-6 have it")),
            (6, "broadcast = 2", ("broadcast", "2", "allowed: 0, 1")),
            (6, "axis = 1.0", ("axis", "1.0")),
            (1, "consumed_inputs = 0", ("consumed_inputs",)),
        ],
    )
    def test_each_version(self, opset: int, attribute: str, parts: tuple[str, ...]) -> None:
        with one_line(AttributeValueError, "node 'd'", *parts):
            load(text_model(f"[d] c = Div <{attribute}> (a, b)", opset=opset))

    def test_the_same_twice(self) -> None:
        """If one of them is a graph, it would be run with the node."""
        model = text_model("[d] c = Div <axis = 0> (a, b)", opset=6)
        model.graph.node[0].attribute.add(name="axis", type=AttributeProto.GRAPH)
        model.graph.node[0].attribute.add(name="axis", type=AttributeProto.INT, i=1)
        with one_line(ModelError, "node 'd'", "'axis' 3 times", "allowed: once"):
            load(model)


class TestOperands:
    """Bad input: a wrong type, shape or number of operands."""

    @pytest.mark.parametrize(
        ("nodes", "inputs", "kind", "parts"),
        [
            (DIV, "int4[2] a, int4[2] b", ElementTypeError, ("Div-14", "int4")),
            (DIV, "bool[2] a, bool[2] b", ElementTypeError, ("Div-14", "bool", "allowed: bfloat16")),
            (DIV, "float[2] a, double[2] b", ElementTypeError, ("(Div-14)", "float", "double")),
            ("b = Greater(a, a) [d] c = Reciprocal(b)", "float[2] a", ElementTypeError, ("(Reciprocal-13)", "bool")),
            (DIV, "float[2] a, float[3] b", BroadcastError, ("node 'd' (Div-14)",)),
            ("[d] c = Div(a)", "float[2] a", ModelError, ("inputs",)),
            ("[d] c = Div(a, )", "float[2] a", ModelError, ("inputs",)),
            ("[d] c = Div(a, a, a)", "float[2] a", ModelError, ("inputs",)),
            ("[d] c = Reciprocal()", "float[2] a", ModelError, ("inputs",)),
        ],
    )
    def test_others(self, nodes: str, inputs: str, kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, "node 'd'", *parts):
            load(text_model(nodes, inputs, "float[] c"))

    def test_more_dimensions_than_any_array_has(self) -> None:
        with one_line(ModelError, "500 dimensions; at most 64 are possible"):
            load(text_model(DIV, outputs=f"float[{','.join('N' * 500)}] c"))
