"""The scopes of a model, and what its nodes are called."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from onnx import ModelProto, TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models.onnx.scopes import give_own_names, name_of, opset_imports, scopes, title

OneLine = Callable[..., AbstractContextManager[None]]
FLOATS = (TensorProto.FLOAT, [2])


def _nested() -> ModelProto:
    """Return a model whose If holds a Neg in each branch, and a function that holds an Abs."""
    result = [helper.make_tensor_value_info("t", *FLOATS)]
    inner = helper.make_tensor("w", TensorProto.FLOAT, [3], [1, 2, 3])
    branch = helper.make_graph([helper.make_node("Neg", ["a"], ["t"])], "g", [], result, [inner])
    nodes = [helper.make_node("If", ["k"], ["c"], then_branch=branch, else_branch=branch)]
    inputs = [helper.make_tensor_value_info("a", *FLOATS)]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("c", *FLOATS)])
    imports = [helper.make_opsetid("", 6)]
    function = helper.make_function("d", "F", ["x"], ["y"], [helper.make_node("Abs", ["x"], ["y"])], imports)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx", 17)], functions=[function])


class TestScopes:
    """Every scope, with its path, its operator sets and the types that it sees."""

    def test_paths_and_operator_sets(self) -> None:
        found = [(scope.path, scope.opsets[""]) for scope in scopes(_nested(), {"F": "F"})]
        assert sorted(found) == [("", 17), ("F", 6), ("If:else_branch", 17), ("If:then_branch", 17)]


class TestOpsetImports:
    """One version from 1 on for each domain."""

    def test_the_default_domain_has_two_names(self, one_line: OneLine) -> None:
        model = _nested()
        model.opset_import.add(domain="", version=17)
        model.opset_import.add(domain="other", version=3)
        assert opset_imports(model) == {"": 17, "other": 3}
        model.opset_import.add(domain="other", version=4)
        with one_line(ModelError, "operator sets 3 and 4 of 'other'"):
            opset_imports(model)


class TestTitle:
    """A message calls a node by its name, or its output's, and its operator."""

    def test_named_and_unnamed(self) -> None:
        assert title(helper.make_node("Div", ["a", "b"], ["c"], "d")) == "node 'd' (Div)"
        assert title(helper.make_node("Foo", [], ["c"], domain="x.y")) == "node 'c' (x.y.Foo)"
        assert name_of(helper.make_node("Foo", [], [])) == ""


class TestGiveOwnNames:
    """Each node goes by a name that no other of its scope has."""

    def test_shared_names(self) -> None:
        made = [("n", "a"), ("", "b"), ("b", "c"), ("n", "d"), ("n (d)", "e"), ("n", "")]
        nodes = [helper.make_node("Abs", ["x"], [result], name=name) for name, result in made]
        give_own_names(nodes)
        assert [name_of(node) for node in nodes] == ["n", "b (b)", "b", "n (d)", "n (d) (e)", "n ()"]
