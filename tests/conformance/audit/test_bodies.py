"""Divisions in the branches of an If and in the body of a Loop: observed where they stand, or said not to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tests.fake_runtime import FakeRuntime
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.oracle.verdict import Kind
from vinculum.sandbox import End

Audited = Callable[..., Audit]
Build = Callable[..., ModelProto]

BOOL, FLOAT, INT64 = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64
ALWAYS = numpy_helper.from_array(np.array(True), "always")
info = helper.make_tensor_value_info


def f32(values: Any) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def div(a: str, b: str, c: str, name: str) -> NodeProto:
    return helper.make_node("Div", [a, b], [c], name)


def graph(nodes: Sequence[NodeProto], *outputs: str, inputs: Sequence[Any] = ()) -> GraphProto:
    return helper.make_graph(nodes, "body", list(inputs), [info(name, FLOAT, None) for name in outputs])


class TestIf:
    """Issue 4, item 8: the branch that is taken hands its divisions out; the other's are said not to be executed."""

    @pytest.mark.parametrize("taken", [True, False])
    def test_both_branches(self, audited: Audited, onnx_model: Build, taken: bool) -> None:
        then = graph([div("a", "two", "t", "then")], "t")
        other = graph([helper.make_node("Neg", ["a"], ["n"]), div("n", "n", "e", "else")], "e")
        node = helper.make_node("If", ["flag"], ["c"], then_branch=then, else_branch=other)
        model = onnx_model(
            [node, div("c", "two", "d", "outer")],
            {"flag": (BOOL, ()), "a": (FLOAT, (1, 2))},
            {"d": (FLOAT, None)},
            initializers=[numpy_helper.from_array(f32([2]), "two")],
        )
        found = audited(model, FakeRuntime, {"flag": np.array(taken), "a": f32([[1, 2]])})
        nodes = {node.division.name: node for node in found.nodes}
        seen, unseen = ("then", "else") if taken else ("else", "then")
        for name in (seen, "outer"):
            verdict = nodes[name].verdict
            assert verdict is not None
            assert (verdict.kind, verdict.elements) == (Kind.EXACT, 2)
        assert nodes["then"].division.path == "If:then_branch"
        assert nodes[unseen].unobserved == "it is not executed"
        assert nodes["then"].shapes == (((1, 2), (1,)) if taken else ())
        assert (found.changed, found.finds) == ((), False)

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
    def test_rank_0_and_empty(self, audited: Audited, onnx_model: Build, shape: tuple[int, ...]) -> None:
        then = graph([div("a", "a", "t", "inner")], "t")
        other = graph([helper.make_node("Neg", ["a"], ["e"])], "e")
        node = helper.make_node("If", ["flag"], ["c"], then_branch=then, else_branch=other)
        model = onnx_model([node], {"flag": (BOOL, ()), "a": (FLOAT, shape)}, {"c": (FLOAT, None)})
        found = audited(model, FakeRuntime, {"flag": np.array(True), "a": np.ones(shape, np.float32)})
        assert found.nodes[0].verdict is not None
        assert (found.nodes[0].verdict.kind, found.nodes[0].shapes) == (Kind.EXACT, (shape, shape))

    def test_an_if_in_an_if(self, audited: Audited, onnx_model: Build) -> None:
        other = graph([helper.make_node("Neg", ["a"], ["e"])], "e")
        inner = graph([div("a", "a", "t", "deep")], "t")
        nested = helper.make_node("If", ["flag"], ["m"], then_branch=inner, else_branch=other)
        outer = graph([nested, div("m", "a", "o", "shallow")], "o")
        another = graph([helper.make_node("Neg", ["a"], ["f"])], "f")
        node = helper.make_node("If", ["flag"], ["c"], then_branch=outer, else_branch=another)
        model = onnx_model([node], {"flag": (BOOL, ()), "a": (FLOAT, (2,))}, {"c": (FLOAT, None)})
        found = audited(model, FakeRuntime, {"flag": np.array(True), "a": f32([1, 2])})
        nodes = {node.division.name: node for node in found.nodes}
        assert nodes["deep"].unobserved == "inside the then_branch of an If"
        assert nodes["shallow"].verdict is not None


class TestLoop:
    """The quotients of all iterations are observed together, where they can be stacked."""

    def test_shapes_that_differ(self, audited: Audited, onnx_model: Build) -> None:
        """What grows from iteration to iteration cannot be stacked: the model runs as it is, and that is said."""
        inputs = [info("i", INT64, ()), info("go", BOOL, ()), info("x", FLOAT, None)]
        nodes = [
            helper.make_node("Identity", ["go"], ["go_on"]),
            div("x", "x", "q", "inner"),
            helper.make_node("Concat", ["x", "q"], ["y"], axis=0),
        ]
        body = helper.make_graph(nodes, "body", inputs, [info("go_on", BOOL, ()), info("y", FLOAT, None)])
        loop = helper.make_node("Loop", ["count", "always", "a"], ["c"], body=body)
        model = onnx_model(
            [loop, div("a", "a", "d", "outer")],
            {"count": (INT64, ()), "a": (FLOAT, (1,))},
            {"c": (FLOAT, None), "d": (FLOAT, (1,))},
            initializers=[ALWAYS],
        )
        found = audited(model, FakeRuntime, {"count": np.array(3), "a": f32([2])})
        assert (found.plain.end, found.exposed.end) == (End.RETURNED, End.RETURNED)
        seen = {node.division.name: node for node in found.nodes}
        why = "inside the body of a Loop; ONNX Runtime does not run the model with its divisions exposed: refused ("
        assert str(seen["inner"].unobserved).startswith(why)
        assert seen["outer"].verdict is not None


class TestScan:
    """The body of a Scan keeps its values to itself, and the audit says so."""

    def test_it_is_said(self, audited: Audited, onnx_model: Build) -> None:
        body = graph(
            [helper.make_node("Add", ["s", "r"], ["t"]), div("r", "t", "u", "inner")],
            "t",
            "u",
            inputs=[info("s", FLOAT, (2,)), info("r", FLOAT, (2,))],
        )
        node = helper.make_node("Scan", ["a", "b"], ["c", "d"], body=body, num_scan_inputs=1)
        tensors = {"a": (FLOAT, (2,)), "b": (FLOAT, (3, 2))}
        model = onnx_model([node], tensors, {"c": (FLOAT, (2,)), "d": (FLOAT, (3, 2))})
        found = audited(model, FakeRuntime, {"a": f32([1, 2]), "b": np.ones((3, 2), np.float32)})
        assert [node.unobserved for node in found.nodes] == ["inside the body of a Scan"]
        assert (found.exposed.end, found.finds) == (End.RETURNED, False)
