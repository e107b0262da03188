"""The scopes of a model, their constants, the titles of nodes, and the values that nodes use."""

from __future__ import annotations

from onnx import ModelProto, helper, numpy_helper

from tests.models.built_models import graph, node, one_line, text_model
from vinculum.errors import ModelError
from vinculum.models.onnx.rewriter import names_in, unique_name
from vinculum.models.onnx.scopes import give_own_names, inputs_of, name_of, opset_imports, scopes, title


def _nested() -> ModelProto:
    """Return a model whose If holds a Neg in each branch, and a function that holds an Abs."""
    branch = "() => (float[2] t) { t = Neg(a) }"
    nodes = f"c = If(k) <then_branch = t {branch}, else_branch = e {branch}>"
    return text_model(
        nodes, "float[2] a", "float[2] c", '<opset_import: ["": 6], domain: "d"> F (x) => (y) { y = Abs(x) }'
    )


def test_paths_and_operator_sets() -> None:
    found = [(scope.path, scope.opsets[""]) for scope in scopes(_nested(), {"F": "F"})]
    assert sorted(found) == [("", 17), ("F", 6), ("If:else_branch", 17), ("If:then_branch", 17)]


def test_the_default_domain_has_two_names() -> None:
    model = _nested()
    model.opset_import.add(domain="ai.onnx", version=17)
    model.opset_import.add(domain="other", version=3)
    assert opset_imports(model) == {"": 17, "d": 1, "other": 3}
    model.opset_import.add(domain="other", version=4)
    with one_line(ModelError, "operator sets 3 and 4 of 'other'"):
        opset_imports(model)


def test_every_name_of_a_model() -> None:
    """Values and nodes, used or not, also in subgraphs and functions."""
    branch = "() => (float[2] %s) <float[2] %s_w = {1, 2}> { [%s_n] %s = Neg(a) }"
    sides = (branch % ((name,) * 4) for name in ("t", "e"))
    body = "l (int64 i, bool g, float[2] s) => (bool h, float[2] r) { h = Identity(g) r = Neg(s) }"
    nodes = (
        f"c = If(k) <then_branch = t {next(sides)}, else_branch = e {next(sides)}> d = Loop <body = {body}> (, k, c)"
        " unread = Abs(a)"
    )
    model = text_model(
        nodes, "float[2] a, bool k", "float[2] d", "F (x, unused) => (y) { y = Abs(x) }", constants="float w = {1}"
    )
    model.graph.value_info.append(helper.make_tensor_value_info("v", 1, [2]))
    assert names_in(model) - {""} == {*"akcdwvtesrigh", "unread", "unused", "t_w", "t_n", "e_w", "e_n", "x", "y"}


class TestNames:
    """Messages give a node's name, or its output's, and its operator; names are unique in a scope."""

    def test_named_and_unnamed(self) -> None:
        assert title(helper.make_node("Div", ["a", "b"], ["c"], "d")) == "node 'd' (Div)"
        assert title(helper.make_node("Foo", [], ["c"], domain="x.y")) == "node 'c' (x.y.Foo)"
        assert name_of(helper.make_node("Foo", [], [])) == ""

    def test_shared_names(self) -> None:
        made = [("n", "a"), ("", "b"), ("b", "c"), ("n", "d"), ("n (d)", "e"), ("n", "")]
        nodes = [helper.make_node("Abs", ["x"], [result], name=name) for name, result in made]
        give_own_names(nodes)
        assert [name_of(node) for node in nodes] == ["n", "b (b)", "b", "n (d)", "n (d) (e)", "n ()"]


class TestOperands:
    """A node uses its inputs, and the outer values that its subgraphs use."""

    def test_operands(self) -> None:
        inner = graph(node("i = Add(a, own)"), node("j = Add(i, given)"), inputs=["given"], outputs=["j", "around"])
        branch = graph(node("k = If(c)", then_branch=inner, else_branch=inner), outputs=["k"])
        assert inputs_of(node("y = If(b)", then_branch=branch, else_branch=inner)) == ("b", "a", "own", "around", "c")

    def test_names_that_the_subgraph_hides(self) -> None:
        inner = graph(node("a = Neg(a)"), node("b = Abs(a)"), inputs=["h"], outputs=["b", "h"])
        assert inputs_of(node("y = If(c)", then_branch=inner)) == ("c", "a")


def test_constants_by_scope() -> None:
    """Initializers that no input overrides, and values of Constant nodes, also of outer graphs."""
    inner = (
        "() => (float[1] t) <float[1] own = {5}>"
        " { k = Constant <value = float[1] {4}> () hidden = Neg(w) t = Div(w, k) }"
    )
    nodes = (
        "k = Constant <value = float[1] {1}> () hidden = Constant <value = float[1] {2}> ()"
        f" list = Constant <value_ints = [1]> () c = If(yes) <then_branch = t {inner}, else_branch = e {inner}>"
    )
    function = "F () => (y) { one = Constant <value = float[1] {1}> () y = Neg(one) }"
    model = text_model(nodes, "float[1] given", "float[1] c", function, constants="float[1] w = {3}")
    model.graph.initializer.append(helper.make_tensor("given", 1, [1], [9]))
    top, then_branch, else_branch, in_function = (
        {name: float(numpy_helper.to_array(tensor)[0]) for name, tensor in scope.constants.items()}
        for scope in scopes(model, {"F": "F"})
    )
    assert top == {"k": 1, "hidden": 2, "list": 1, "w": 3}
    assert then_branch == else_branch == {"list": 1, "w": 3, "k": 4, "own": 5}
    assert in_function == {"one": 1}


def test_new_names_are_the_first_that_are_free() -> None:
    taken = {"a_3"}
    assert [unique_name("a", taken) for _ in range(4)] == ["a", "a_2", "a_4", "a_5"]
    assert taken == {"a", "a_2", "a_3", "a_4", "a_5"}
