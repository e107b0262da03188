"""What a node needs and whether it divides, however deep that stands in its subgraphs and functions."""

from __future__ import annotations

from onnx import helper

from tests.models.built_models import graph, node
from vinculum.models.onnx.divisions import divides, dividing_functions
from vinculum.models.onnx.functions import DOMAIN
from vinculum.models.onnx.scopes import inputs_of


class TestOperands:
    """A node needs its inputs, and what its subgraphs do not make themselves."""

    def test_operands(self) -> None:
        inner = graph(node("i = Add(a, own)"), node("j = Add(i, given)"), inputs=["given"], outputs=["j", "around"])
        branch = graph(node("k = If(c)", then_branch=inner, else_branch=inner), outputs=["k"])
        assert inputs_of(node("y = If(b)", then_branch=branch, else_branch=inner)) == ("b", "a", "own", "around", "c")

    def test_names_that_the_subgraph_hides(self) -> None:
        inner = graph(node("a = Neg(a)"), node("b = Abs(a)"), inputs=["h"], outputs=["b", "h"])
        assert inputs_of(node("y = If(c)", then_branch=inner)) == ("c", "a")


class TestDivides:
    """A node divides if it is a division, holds one, or calls a function that does."""

    def test_nodes(self) -> None:
        inner = graph(node("r = Reciprocal(p)"), outputs=["r"])
        outer = graph(node("i = If(c)", then_branch=inner, else_branch=inner), outputs=["i"])
        other = graph(node("r = d.Div(p, p)"), outputs=["r"])
        assert divides(node("q = Div(a, b)"), ())
        assert divides(node("y = If(k)", then_branch=outer, else_branch=other), ())
        assert not divides(node("y = If(k)", then_branch=other, else_branch=other), ())
        assert not divides(node("y = Mod(a, b)"), ("Mod",))

    def test_which_divide(self) -> None:
        opsets = [helper.make_opsetid("", 17)]
        bodies = {
            "f0": [node("q = Neg(p)")],
            "f1": [node("q = Reciprocal(p)")],
            "f2": [node(f"r = {DOMAIN}.f1(p)"), node("q = Neg(r)")],
            "f3": [node("q = other.f1(p)")],
            "f4": [node("q = If(p)", then_branch=graph(node(f"r = {DOMAIN}.f2(p)"), outputs=["r"]))],
        }
        functions = [helper.make_function(DOMAIN, n, ["p"], ["q"], body, opsets) for n, body in bodies.items()]
        assert dividing_functions(functions) == {"f1", "f2", "f4"}
