"""Models that are expanded, and models that are hardened: audited as what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.conformance.audit.models import ratio
from tests.fake_runtime import FakeRuntime
from tests.models.built_models import text_model
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.verdict import Kind
from vinculum.models.sampling.edge_values import paired
from vinculum.repair.hardening import harden
from vinculum.sandbox import End
from vinculum.spec.element_types import by_onnx_code

Audited = Callable[..., Audit]

X = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
NAMES = "then", "else"
WEIGHTS = "float[8] w = {1.0, 2.0, 0.5, 1.0, 2.0, 0.5, 3.0, 1.5}"


class TestExpanded:
    """With --expand the divisions of the bodies are audited under the names of the nodes."""

    @pytest.mark.parametrize("opset", [17, 18, 21, 23])
    def test_layer_norm(self, audited: Audited, opset: int) -> None:
        nodes = "[norm] z = LayerNormalization(x, w) [soft] y = Softmax(z)"
        model = text_model(nodes, "float[3, 8] x", "float[3, 8] y", constants=WEIGHTS, opset=opset)
        found = audited(model, FakeRuntime, {"x": X}, expand=True)
        assert [(node.division.name, node.verdict and node.verdict.kind) for node in found.nodes] == [
            ("norm/Div", Kind.EXACT),
            ("soft/Div", Kind.EXACT),
        ]
        assert (found.expanded, found.plain.end, found.exposed.end) == (2, End.RETURNED, End.RETURNED)
        assert {node.operator for node in found.inner} == {"ReduceMean"}
        assert all(node.name.startswith("norm/ReduceMean") for node in found.inner)

    def test_in_a_function_and_in_a_branch(self, audited: Audited) -> None:
        branches = (f"{n}_branch = {n} () => (float[] {n}) {{ [{n}] {n} = LayerNormalization(s, w) }}" for n in NAMES)
        nodes = f"s = d.Soft(x) y = If(flag) <{', '.join(branches)}>"
        soft = "Soft (p) => (q) { [soft] q = Softmax(p) }"
        model = text_model(nodes, "bool flag, float[3, 8] x", "float[3, 8] y", soft, constants=WEIGHTS)
        found = audited(model, FakeRuntime, {"x": X, "flag": np.array(True)}, expand=True)
        kinds = {(node.division.name, node.division.path): node.verdict and node.verdict.kind for node in found.nodes}
        assert kinds == {
            ("soft__1/Div", ""): Kind.EXACT,
            ("then/Div", "If:then_branch"): Kind.EXACT,
            ("else/Div", "If:else_branch"): None,
        }
        assert found.expanded == 3


def edges(code: int) -> dict[str, Any]:
    a, b = paired(by_onnx_code(code), 0, 500)
    return {"a": a, "b": b}


class TestHardened:
    """Its estimates in floats are no divisions of the model; what they come to is."""

    @pytest.mark.parametrize("runtime", ["onnxruntime", "portable"])
    def test_a_guard_that_is_wrong_is_found(self, audited: Audited, runtime: Any) -> None:
        """Of a guard only the outcome counts, and that is held to account."""
        model = harden(ratio(TensorProto.INT32, "N"), runtime).model
        holder = model.functions[0] if model.functions else model.graph
        for one in holder.node:
            one.op_type = {"Mul": "Add", "And": "Or"}.get(one.op_type, one.op_type)
        divisors = np.resize(np.array([3, -1], np.int32), 9)
        assert audited(model, FakeRuntime, {"a": np.arange(9, dtype=np.int32), "b": divisors}).finds

    def test_a_remainder_is_named(self, audited: Audited) -> None:
        hardening = harden(ratio(TensorProto.INT32, "N", operator="Mod"), "onnxruntime")
        given = {name: np.ones(2, np.int32) for name in "ab"}
        found = audited(hardening.model, FakeRuntime, given)
        assert [node.name for node in found.inner] == ["ratio"]
        assert not found.nodes
