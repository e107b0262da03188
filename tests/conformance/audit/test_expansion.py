"""Issue 17, tap 6: nodes that divide inside are named, and audited as the bodies that ONNX defines them by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.conformance.audit.models import body, choice
from tests.fake_runtime import FakeRuntime, MultipliesByReciprocal
from tests.models.built_models import node
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.verdict import Kind
from vinculum.models.onnx.expansion import expanded
from vinculum.sandbox import End

Audited = Callable[..., Audit]
Build = Callable[..., ModelProto]

FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL
WEIGHTS = numpy_helper.from_array(np.linspace(0.5, 2, 8, dtype=np.float32), "w")
X = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)


def norm(name: str, x: str = "x", y: str = "y", **attributes: Any) -> Any:
    return helper.make_node("LayerNormalization", [x, "w"], [y], name, **attributes)


def model_of(build: Build, *nodes: Any, **options: Any) -> ModelProto:
    return build(list(nodes), {"x": (FLOAT, (3, 8))}, {"y": (FLOAT, (3, 8))}, initializers=[WEIGHTS], **options)


class TestNamed:
    """What divides inside is passed over in silence nowhere."""

    def test_of_an_onnx_model(self, audited: Audited, onnx_model: Build) -> None:
        """PyTorch exports nn.LayerNorm as one node."""
        found = audited(model_of(onnx_model, norm("norm")), FakeRuntime, {"x": X})
        assert [(node.name, node.operator, node.divides) for node in found.inner] == [
            ("norm", "LayerNormalization", "by a standard deviation")
        ]
        assert (found.nodes, found.expanded, found.finds) == ((), 0, False)


class TestExpanded:
    """With --expand the divisions of the bodies are audited under the names of the nodes."""

    @pytest.mark.parametrize("opset", [17, 18, 21, 23])
    def test_layer_norm(self, audited: Audited, onnx_model: Build, opset: int) -> None:
        model = model_of(
            onnx_model, norm("norm", y="z"), helper.make_node("Softmax", ["z"], ["y"], "soft"), opset=opset
        )
        found = audited(model, FakeRuntime, {"x": X}, expand=True)
        assert [(node.division.name, node.verdict and node.verdict.kind) for node in found.nodes] == [
            ("norm/Div", Kind.EXACT),
            ("soft/Div", Kind.EXACT),
        ]
        assert (found.expanded, found.plain.end, found.exposed.end) == (2, End.RETURNED, End.RETURNED)
        assert {node.operator for node in found.inner} == {"ReduceMean"}
        assert all(node.name.startswith("norm/ReduceMean") for node in found.inner)

    def test_what_is_off(self, audited: Audited, onnx_model: Build) -> None:
        found = audited(model_of(onnx_model, norm("norm")), MultipliesByReciprocal, {"x": X}, expand=True)
        (node,) = found.nodes
        assert node.verdict is not None
        assert (node.verdict.kind, found.finds) == (Kind.ULPS, True)
        assert found.cure == ()  # No Div of the model's is at fault.

    def test_what_nobody_asks_for_is_not_computed(self, onnx_model: Build) -> None:
        """The third output of the node is the reciprocal of the deviation."""
        model, bodies = expanded(model_of(onnx_model, norm("norm")))
        assert bodies == 1
        divisions = [node for node in model.graph.node if node.op_type in ("Div", "Reciprocal")]
        assert [(node.op_type, node.name) for node in divisions] == [("Div", "norm/Div")]

    def test_what_has_no_body_stays(self, onnx_model: Build) -> None:
        node = helper.make_node("LpNormalization", ["x"], ["y"], "lp")
        model, bodies = expanded(model_of(onnx_model, node))
        assert (bodies, [(each.op_type, each.name) for each in model.graph.node]) == (0, [("LpNormalization", "lp")])

    def test_in_a_function_and_in_a_branch(self, audited: Audited, onnx_model: Build) -> None:
        soft = helper.make_function(
            "local", "Soft", ["p"], ["q"], [node("q = Softmax(p)", name="soft")], [helper.make_opsetid("", 17)]
        )
        branches = {name: body([norm(name, "s", name)], name) for name in ("then", "else")}
        nodes = [node("s = local.Soft(x)"), choice(branches["then"], branches["else"], "y")]
        model = onnx_model(
            nodes,
            {"flag": (BOOL, ()), "x": (FLOAT, (3, 8))},
            {"y": (FLOAT, (3, 8))},
            initializers=[WEIGHTS],
            domains=["local"],
            functions=[soft],
        )
        found = audited(model, FakeRuntime, {"x": X, "flag": np.array(True)}, expand=True)
        kinds = {(node.division.name, node.division.path): node.verdict and node.verdict.kind for node in found.nodes}
        assert kinds == {
            ("soft__1/Div", ""): Kind.EXACT,
            ("then/Div", "If:then_branch"): Kind.EXACT,
            ("else/Div", "If:else_branch"): None,
        }
        assert found.expanded == 3
