"""A graph cut at its divisions: every node in its place, every value handed on as far as it is needed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.models.built_models import graph, node
from vinculum.models.engines.openvino.partitioned import Part, Stage, partition
from vinculum.models.onnx.functions import DOMAIN


def shown(stage: Stage) -> tuple[Any, ...]:
    """Return what a stage does, by the names of results."""
    part = stage.part or Part((), (), (), ())
    made = [n.output[0] for n in part.nodes]
    return made, part.inputs, part.constants, part.outputs, [n.output[0] for n in stage.outside], set(stage.dropped)


class TestStages:
    """Nodes with the same number of divisions before them are one part, run before the divisions that end the stage."""

    def test_a_chain(self) -> None:
        nodes = [node("s = Neg(x)"), node("q = Div(s, x)"), node("t = Abs(q)"), node("y = Add(t, x)")]
        first, second = partition(nodes, ["y"], [])
        assert shown(first) == (["s"], ("x",), (), ("s",), ["q"], {"s"})
        assert shown(second) == (["t", "y"], ("q", "x"), (), ("y",), [], {"q", "x"})

    def test_divisions_of_one_level_share_a_stage(self) -> None:
        nodes = [node("q = Div(x, y)"), node("r = Reciprocal(x)"), node("s = Div(q, r)"), node("t = Add(q, s)")]
        first, second, third = partition(nodes, ["t"], [])
        assert (first.part, shown(first)[4]) == (None, ["q", "r"])
        assert shown(second) == ([], (), (), (), ["s"], {"r"})
        assert shown(third)[:4] == (["t"], ("q", "s"), (), ("t",))

    def test_a_value_goes_over_several_stages(self) -> None:
        nodes = [node("s = Neg(x)"), node("q = Div(x, x)"), node("r = Div(q, x)"), node("y = Add(s, r)")]
        stages = partition(nodes, ["y"], [])
        assert [stage.part.outputs if stage.part else None for stage in stages] == [("s",), None, ("y",)]
        assert [set(stage.dropped) for stage in stages] == [set(), {"q", "x"}, {"s", "r"}]

    def test_outputs_that_are_inputs_stay(self) -> None:
        (stage,) = partition([node("q = Div(x, y)")], ["q", "x", "q"], [])
        assert set(stage.dropped) == {"y"}


class TestUnusedNodes:
    """A node whose results nobody uses is left out, but for a division, which may raise."""

    def test_divisions_and_what_they_need(self) -> None:
        nodes = [node("a = Neg(x)"), node("q = Div(a, x)"), node("b = Abs(q)"), node("y = Exp(x)")]
        (stage,) = partition(nodes, ["y"], [])
        assert shown(stage) == (["a", "y"], ("x",), (), ("a", "y"), ["q"], {"a", "x", "q"})


class TestConstants:
    """What depends on constants only is in every part that uses it, so that ONNX Runtime can compute it once."""

    def test_in_several(self) -> None:
        nodes = [
            node("v = Neg(c)"),
            node("w = Abs(v)"),
            node("a = Add(x, w)"),
            node("q = Div(a, x)"),
            node("y = Mul(q, w)"),
        ]
        first, second = partition(nodes, ["y"], ["c"])
        assert shown(first)[:4] == (["v", "w", "a"], ("x",), ("c",), ("a",))
        assert shown(second)[:4] == (["v", "w", "y"], ("q",), ("c",), ("y",))

    def test_handed_to_a_division(self) -> None:
        nodes = [node("w = Cast(c)"), node("q = Div(x, w)"), node("y = Mul(q, w)")]
        first, second = partition(nodes, ["y"], ["c"])
        assert shown(first) == (["w"], (), ("c",), ("w",), ["q"], {"x", "w"})
        assert shown(second)[:4] == (["w", "y"], ("q",), ("c",), ("y",))

    @pytest.mark.parametrize("operator", ["RandomNormalLike", "Bernoulli", "Dropout", "my.Operator"])
    def test_not_what_may_give_another_result(self, operator: str) -> None:
        nodes = [node(f"w = {operator}(c)"), node("q = Div(x, w)"), node("y = Mul(q, w)")]
        first, second = partition(nodes, ["y"], ["c"])
        assert shown(first)[:4] == (["w"], (), ("c",), ("w",))
        assert shown(second)[:4] == (["y"], ("q", "w"), (), ("y",))


class TestSubgraphs:
    """A node needs what its subgraphs see, and is run outside if one of them divides."""

    def test_ordinary_ones_stay_in_the_part(self) -> None:
        branch = graph(node("t = Add(a, q)"), outputs=["t"])
        nodes = [node("a = Neg(x)"), node("q = Div(x, x)"), node("y = If(k)", then_branch=branch, else_branch=branch)]
        first, second = partition(nodes, ["y"], ["k"])
        assert shown(first)[3:] == (("a",), ["q"], {"x"})
        assert shown(second)[:4] == (["y"], ("a", "q"), ("k",), ("y",))

    def test_dividing_ones_are_run_outside(self) -> None:
        branch = graph(node("t = Div(a, x)"), outputs=["t"])
        deep = graph(node("d = If(k)", then_branch=branch, else_branch=branch), outputs=["d"])
        nodes = [node("a = Neg(x)"), node("y = If(k)", then_branch=deep, else_branch=deep), node("z = Neg(y)")]
        first, second = partition(nodes, ["z"], ["k"])
        assert shown(first) == (["a"], ("x",), (), ("a",), ["y"], {"a", "x"})
        assert shown(second)[:4] == (["z"], ("y",), (), ("z",))


class TestFunctions:
    """A call is run outside if the function divides."""

    def test_calls(self) -> None:
        nodes = [node(f"a = {DOMAIN}.f0(x)"), node(f"b = {DOMAIN}.f1(a)"), node("y = Neg(b)"), node("z = d.Div(y)")]
        first, second = partition(nodes, ["z"], [], {"f1"})
        assert shown(first)[:1] == (["a"],)
        assert shown(first)[4] == ["b"]
        assert shown(second)[0] == ["y", "z"]
