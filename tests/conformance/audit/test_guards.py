"""Issue 17, tap 6: a hardened model is audited as what it computes, whatever helps its guards to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from tests.conformance.audit.models import div, function
from tests.fake_runtime import FakeRuntime, Floors, NarrowsInt64
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.verdict import Kind
from vinculum.models.sampling.edge_values import paired
from vinculum.repair.hardening import harden
from vinculum.spec.element_types import by_onnx_code

Audited = Callable[..., Audit]
Build = Callable[..., ModelProto]


def model_of(build: Build, code: int, operator: str = "Div") -> ModelProto:
    nodes = [helper.make_node(operator, ["a", "b"], ["c"], "ratio")]
    return build(nodes, dict.fromkeys("ab", (code, ("N",))), {"c": (code, ("N",))})


def edges(code: int) -> dict[str, Any]:
    a, b = paired(by_onnx_code(code), 0, 500)
    return {"a": a, "b": b}


class TestHardened:
    """Its estimates in floats are no divisions of the model; what they come to is."""

    @pytest.mark.parametrize(
        ("backend", "runtime", "functions", "code"),
        [
            (FakeRuntime, "onnxruntime", True, TensorProto.INT8),
            (FakeRuntime, "onnxruntime", False, TensorProto.UINT8),
            (FakeRuntime, "portable", True, TensorProto.INT32),
            (NarrowsInt64, "portable", True, TensorProto.INT32),
        ],
    )
    def test_divisions(
        self, audited: Audited, onnx_model: Build, backend: Any, runtime: Any, functions: bool, code: int
    ) -> None:
        hardening = harden(model_of(onnx_model, code), runtime, functions=functions)
        found = audited(hardening.model, backend, edges(code))
        (node,) = found.nodes
        assert (node.division.name, node.division.operator) == ("ratio", "Div-14")
        assert node.verdict is not None
        assert node.verdict.kind in (Kind.EXACT, Kind.UNSPECIFIED)
        assert node.verdict.elements > 400
        assert (found.guarded, found.inner, found.finds) == (True, (), False)

    def test_the_same_without_guards_is_not_exact(self, audited: Audited, onnx_model: Build) -> None:
        code = TensorProto.INT32
        assert audited(model_of(onnx_model, code), Floors, edges(code)).finds

    @pytest.mark.parametrize("functions", [True, False])
    def test_a_guard_that_is_wrong_is_found(self, audited: Audited, onnx_model: Build, functions: bool) -> None:
        """Of a guard only the outcome counts, and that is held to account."""
        hardening = harden(model_of(onnx_model, TensorProto.INT32), "portable", functions=functions)
        model = hardening.model
        holder = model.functions[0] if functions else model.graph
        for node in holder.node:
            if node.op_type == "Mul":
                node.op_type = "Add"
        found = audited(model, FakeRuntime, {"a": np.arange(9, dtype=np.int32), "b": np.full(9, 3, np.int32)})
        assert found.finds

    def test_a_floor_division_that_was_mended(self, audited: Audited, onnx_model: Build) -> None:
        cast = [helper.make_node("Cast", [name], [f"{name}_f"], to=TensorProto.FLOAT) for name in "ab"]
        nodes = [
            *cast,
            helper.make_node("Div", ["a_f", "b_f"], ["q"], "ratio"),
            helper.make_node("Floor", ["q"], ["f"]),
            helper.make_node("Cast", ["f"], ["c"], to=TensorProto.INT32),
        ]
        tensors = dict.fromkeys("ab", (TensorProto.INT32, ("N",)))
        model = onnx_model(nodes, tensors, {"c": (TensorProto.INT32, ("N",))})
        hardening = harden(model, "onnxruntime", fix_exported=True)
        given = {"a": np.array([-7, 7, 2**31 - 1], np.int32), "b": np.array([2, 2, 3], np.int32)}
        (node,) = audited(hardening.model, FakeRuntime, given).nodes
        assert node.verdict is not None
        assert (node.verdict.kind, node.verdict.elements) == (Kind.EXACT, 3)

    def test_in_a_function_of_the_model_s_own(self, audited: Audited, onnx_model: Build) -> None:
        declared: Any = (TensorProto.INT32, ("N",))
        call = helper.make_node("Ratio", ["a", "b"], ["c"], domain="local")
        functions = [function("Ratio", div("p", "q", "r"))]
        model = onnx_model(
            [call], dict.fromkeys("ab", declared), {"c": declared}, domains=["local"], functions=functions
        )
        hardening = harden(model, "onnxruntime")
        assert len(hardening.model.functions) == 2
        found = audited(hardening.model, FakeRuntime, edges(TensorProto.INT32))
        (node,) = found.nodes
        assert node.verdict is not None
        assert (node.verdict.kind, found.finds) == (Kind.UNSPECIFIED, False)

    def test_a_remainder_is_named(self, audited: Audited, onnx_model: Build) -> None:
        hardening = harden(model_of(onnx_model, TensorProto.INT32, "Mod"), "onnxruntime")
        given = {name: np.ones(2, np.int32) for name in "ab"}
        found = audited(hardening.model, FakeRuntime, given)
        assert [node.name for node in found.inner] == ["ratio"]
        assert not found.nodes
