"""What a node needs, however deep that stands in its subgraphs."""

from __future__ import annotations

from tests.models.built_models import graph, node
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
