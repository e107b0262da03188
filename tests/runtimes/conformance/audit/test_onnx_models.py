"""The audit on real runtimes: what it exposes they run, and what they divide exactly it calls exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.conformance.audit.record import Audit
from vinculum.conformance.oracle.verdict import Kind
from vinculum.models.sampling.edge_values import paired
from vinculum.repair.hardening import harden
from vinculum.sandbox import End
from vinculum.spec.element_types import by_onnx_code

Audited = Callable[..., Audit]
Build = Callable[..., ModelProto]

BOTH = ("onnxruntime", "openvino")
BOOL, FLOAT, INT32, INT64 = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
info = helper.make_tensor_value_info


def f32(values: Any) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def div(a: str, b: str, c: str, name: str = "ratio") -> NodeProto:
    return helper.make_node("Div", [a, b], [c], name)


def graph(nodes: Sequence[NodeProto], *outputs: str) -> GraphProto:
    return helper.make_graph(nodes, "body", [], [info(name, FLOAT, None) for name in outputs])


class TestModels:
    """Their own reader takes what the audit exposes."""

    @pytest.mark.parametrize("backend", BOTH)
    def test_every_source_of_an_operand(self, audited: Audited, onnx_model: Build, backend: str) -> None:
        """Of an input, an initializer, a Constant, a node; one tensor twice; a quotient that is an output too."""
        two = numpy_helper.from_array(f32([2]), "two")
        model = onnx_model(
            [
                helper.make_node("Constant", [], ["four"], value=numpy_helper.from_array(f32([4]), "")),
                helper.make_node("Add", ["a", "a"], ["sum"]),
                div("sum", "two", "halves", ""),
                div("a", "four", "quarters", "quarters"),
                div("two", "four", "folded", "folded"),
                div("sum", "sum", "ones", "ones"),
                helper.make_node("Sum", ["halves", "quarters", "folded", "ones"], ["y"]),
            ],
            {"a": (FLOAT, ("N", 2))},
            {"y": (FLOAT, ("N", 2)), "halves": (FLOAT, ("N", 2))},
            initializers=[two],
        )
        found = audited(model, backend, {"a": f32([[1, 2], [4, 8]])})
        assert [node.division.name for node in found.nodes] == ["halves", "quarters", "folded", "ones"]
        assert [node.verdict.kind if node.verdict else None for node in found.nodes] == [Kind.EXACT] * 4
        assert [node.shapes for node in found.nodes][1:3] == [((2, 2), (1,)), ((1,), (1,))]
        assert (found.changed, found.plain.end, found.finds) == ((), End.RETURNED, False)

    def test_in_a_function_that_such_a_function_calls(self, audited: Audited, onnx_model: Build) -> None:
        """ONNX's inliner drops it once it is inlined elsewhere."""
        ratio = helper.make_function(
            "local", "Ratio", ["p", "q"], ["r"], [div("p", "q", "r")], [helper.make_opsetid("", 17)]
        )
        caller = helper.make_function(
            "local",
            "Caller",
            ["p", "q"],
            ["r"],
            [helper.make_node("Ratio", ["p", "q"], ["r"], domain="local")],
            [helper.make_opsetid("", 13), helper.make_opsetid("local", 1)],
        )
        calls = [
            helper.make_node(name, ["a", "a"], [output], domain="local")
            for name, output in (("Ratio", "c"), ("Caller", "d"))
        ]
        model = onnx_model(
            calls,
            {"a": (FLOAT, (2,))},
            dict.fromkeys("cd", (FLOAT, (2,))),
            domains=["local"],
            functions=[ratio, caller],
        )
        found = audited(model, "onnxruntime", {"a": f32([1, 2])})
        assert [(node.division.name, node.verdict is None) for node in found.nodes] == [
            ("ratio", False),
            ("ratio (2)", True),
        ]
        assert not found.finds

    def test_values_that_are_no_numbers(self, audited: Audited, onnx_model: Build) -> None:
        words = TensorProto.STRING
        nodes = [div("a", "a", "q"), helper.make_node("Identity", ["t"], ["s"])]
        nodes.append(helper.make_node("SequenceConstruct", ["q", "a"], ["items"]))
        model = onnx_model(nodes, {"a": (FLOAT, (2,)), "t": (words, (1,))}, {"q": (FLOAT, (2,)), "s": (words, (1,))})
        model.graph.output.append(helper.make_tensor_sequence_value_info("items", FLOAT, None))
        found = audited(model, "onnxruntime", {"a": f32([1, 2]), "t": np.array(["x"], object)})
        assert (found.plain.end, found.changed, found.finds) == (End.RETURNED, (), False)

    @pytest.mark.parametrize("backend", BOTH)
    def test_data_in_another_file(self, audited: Audited, onnx_model: Build, tmp_path: Path, backend: str) -> None:
        tensor = numpy_helper.from_array(f32([2, 4]), "b")
        (tmp_path / "data.bin").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="data.bin")
        model = onnx_model([div("a", "b", "c")], {"a": (FLOAT, (2,))}, {"c": (FLOAT, (2,))}, initializers=[tensor])
        found = audited(model, backend, {"a": f32([1, 2])})
        assert found.nodes[0].verdict is not None
        assert found.nodes[0].verdict.kind is Kind.EXACT
        assert found.changed == ()

    @pytest.mark.parametrize("backend", BOTH)
    @pytest.mark.parametrize("taken", [True, False])
    def test_both_branches(self, audited: Audited, onnx_model: Build, backend: str, taken: bool) -> None:
        then = graph([div("a", "two", "t", "then")], "t")
        other = graph([helper.make_node("Neg", ["a"], ["n"]), div("n", "n", "e", "else")], "e")
        node = helper.make_node("If", ["flag"], ["c"], then_branch=then, else_branch=other)
        model = onnx_model(
            [node, div("c", "two", "d", "outer")],
            {"flag": (BOOL, ()), "a": (FLOAT, (1, 2))},
            {"d": (FLOAT, None)},
            initializers=[numpy_helper.from_array(f32([2]), "two")],
        )
        found = audited(model, backend, {"flag": np.array(taken), "a": f32([[1, 2]])})
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

    def _model(self, onnx_model: Build, *, outputs: Sequence[str]) -> ModelProto:
        inputs = [info("i", INT64, ()), info("go", BOOL, ()), info("x", FLOAT, (2, 2))]
        nodes = [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Cast", ["i"], ["step"], to=FLOAT),
            div("x", "step", "y", "inner"),
        ]
        made = [info("go_on", BOOL, ()), info("y", FLOAT, (2, 2)), info("step", FLOAT, ())]
        body = helper.make_graph(nodes, "body", inputs, made)
        loop = helper.make_node("Loop", ["count", "", "a"], outputs, body=body)
        tensors = {"count": (INT64, ()), "a": (FLOAT, (2, 2))}
        return onnx_model([loop], tensors, {"c": (FLOAT, (2, 2))})

    @pytest.mark.parametrize("backend", BOTH)
    def test_every_iteration(self, audited: Audited, onnx_model: Build, backend: str) -> None:
        # OpenVINO lets the last output be left out.
        model = self._model(onnx_model, outputs=["c", "steps"] if backend == "onnxruntime" else ["c"])
        found = audited(model, backend, {"count": np.array(3), "a": f32([[1, 2], [4, 0]])})
        (node,) = found.nodes
        assert node.verdict is not None
        assert (node.verdict.kind, node.verdict.elements) == (Kind.EXACT, 12)
        assert node.division.path == "Loop:body"
        assert next((h.what, h.count, h.first) for h in node.hazards) == ("divisor zero", 4, (0, 0, 0))
        assert (found.changed, found.finds) == ((), False)

    def test_no_iteration(self, audited: Audited, onnx_model: Build) -> None:
        model = self._model(onnx_model, outputs=["c", "steps"])
        found = audited(model, "onnxruntime", {"count": np.array(0), "a": f32([[1, 2], [4, 0]])})
        assert [node.unobserved for node in found.nodes] == ["it is not executed"]


class TestHardened:
    """Guards are exact where they stand."""

    @pytest.mark.parametrize(
        ("backend", "runtime", "functions"),
        [("onnxruntime", "onnxruntime", True), ("openvino", "openvino", False), ("onnx-reference", "portable", True)],
    )
    def test_divisions(self, audited: Audited, onnx_model: Build, backend: str, runtime: Any, functions: bool) -> None:
        model = onnx_model([div("a", "b", "c")], dict.fromkeys("ab", (INT32, ("N",))), {"c": (INT32, ("N",))})
        hardening = harden(model, runtime, functions=functions)
        a, b = paired(by_onnx_code(INT32), 0, 500)
        found = audited(hardening.model, backend, {"a": a, "b": b})
        (node,) = found.nodes
        assert node.verdict is not None
        assert node.verdict.kind in (Kind.EXACT, Kind.UNSPECIFIED)
        assert (found.guarded, found.inner, found.finds) == (True, (), False)
