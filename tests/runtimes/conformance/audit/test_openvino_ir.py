"""The audit of OpenVINO IR: each Divide outside of bodies is judged by its own attributes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import openvino
import openvino.opset13 as opset
import pytest

from vinculum.conformance.audit.record import Audit
from vinculum.conformance.run.record import Kind
from vinculum.errors import ModelError
from vinculum.models.engines.openvino.reading import AXIS
from vinculum.sandbox import End

Audited = Callable[..., Audit]
Save = Callable[..., Path]


def named(node: Any, name: str) -> Any:
    node.set_friendly_name(name)
    return node


class TestDivides:
    """Each Divide is found by its name, whatever else the model holds."""

    def test_a_name_that_two_have(self, audited: Audited, saved: Save, examples: Path) -> None:
        x, y = opset.parameter([-1, 3], np.int32, name="x"), opset.parameter([3], np.int32, name="y")
        first = named(opset.divide(x, y), "same")
        path = saved([opset.abs(first), named(opset.divide(x, first), "same")], [x, y])
        given = {"x": np.array([[6, 4, 8]], np.int32), "y": np.array([2, 2, 2], np.int32)}
        found = audited(path, "openvino", given)
        assert [node.division.name for node in found.nodes] == ["same", "same (2)"]
        assert [node.verdict.kind for node in found.nodes if node.verdict] == [Kind.EXACT] * 2
        operands = {"a": given["x"], "b": given["y"]}
        truncating = audited(examples / "openvino_rounding" / "truncating.xml", "openvino", operands)
        assert [node.verdict.kind for node in truncating.nodes if node.verdict] == [Kind.EXACT]

    def test_every_source_of_an_operand(self, audited: Audited, saved: Save) -> None:
        x = opset.parameter([2, 2], np.float32, name="x")
        half = opset.convert(opset.constant(np.array([2, 4], np.float16)), "f32")
        by_constant = named(opset.divide(x, opset.constant(np.array([2, 4], np.float32))), "by constant")
        by_half = named(opset.divide(by_constant, half), "by half")
        path = saved([by_half, named(opset.divide(x, x), "by itself")], [x])
        found = audited(path, "openvino", {"x": np.array([[1, 2], [4, 8]], np.float32)})
        assert sorted(node.division.name for node in found.nodes) == ["by constant", "by half", "by itself"]
        assert [node.verdict.kind for node in found.nodes if node.verdict] == [Kind.EXACT] * 3
        assert (found.changed, found.plain.end, found.finds) == ((), End.RETURNED, False)

    def test_a_layer_with_the_name_of_an_input(self, audited: Audited, saved: Save) -> None:
        x = opset.parameter([1, 2], np.float32, name="x")
        quotient = named(opset.divide(x, x), "x")
        path = saved([named(opset.divide(quotient, opset.constant(np.ones((3, 1), np.float32))), "outer")], [x])
        found = audited(path, "openvino", {"x": np.array([[2, 4]], np.float32)})
        assert [node.division.name for node in found.nodes] == ["x", "outer"]
        assert [node.verdict.kind for node in found.nodes if node.verdict] == [Kind.EXACT] * 2

    def test_a_constant_of_a_type_that_numpy_lacks(self, audited: Audited, saved: Save) -> None:
        x = opset.parameter([2], openvino.Type.bf16, name="x")
        path = saved([opset.divide(x, opset.constant(np.array([2, 4], np.float32), openvino.Type.bf16))], [x])
        (node,) = audited(path, "openvino", {"x": np.array([2, 2], ml_dtypes.bfloat16)}).nodes
        assert node.verdict is not None
        assert (node.verdict.kind, node.smallest_divisor) == (Kind.EXACT, "2")

    def test_two_inputs_of_one_name(self, audited: Audited, saved: Save) -> None:
        x, y = opset.parameter([2], np.float32, name="x"), opset.parameter([2], np.float32, name="x")
        with pytest.raises(ModelError, match="two inputs of the model are called 'x'"):
            audited(saved([opset.divide(x, y)], [x, y]), "openvino", {"x": np.ones(2, np.float32)})

    def test_pdpd(self, audited: Audited, saved: Save) -> None:
        x, y = opset.parameter([2, 2, 2], np.float32, name="x"), opset.parameter([2], np.float32, name="y")
        factory = openvino.utils.node_factory.NodeFactory("opset13")
        ratio = factory.create("Divide", [x, y], {"m_pythondiv": True, "auto_broadcast": "pdpd", AXIS: 0})
        given = {"x": np.ones((2, 2, 2), np.float32), "y": np.array([2, 0], np.float32)}
        (node,) = audited(saved([ratio], [x, y]), "openvino", given).nodes
        assert node.verdict is not None
        assert node.verdict.elements == 8
        assert [(h.what, h.count, h.first) for h in node.hazards] == [("divisor zero", 4, (1, 0, 0))]

    def test_in_a_body(self, audited: Audited, saved: Save) -> None:
        flag, x = opset.parameter([], np.bool_, name="flag"), opset.parameter([2], np.float32, name="x")
        p, q = opset.parameter([2], np.float32), opset.parameter([2], np.float32)
        then = openvino.Model([opset.result(named(opset.divide(p, p), "inner"))], [p], "then")
        other = openvino.Model([opset.result(opset.negative(q))], [q], "else")
        node = opset.if_op(flag)
        node.set_then_body(then)
        node.set_else_body(other)
        node.set_input(x.output(0), p, q)
        chosen = node.set_output(then.results[0], other.results[0])
        path = saved([named(opset.divide(x, chosen), "outer")], [flag, x])
        found = audited(path, "openvino", {"flag": np.array(True), "x": np.array([1, 2], np.float32)})
        nodes = {node.division.name: node for node in found.nodes}
        assert nodes["inner"].unobserved == "inside the then_branch of an If"
        assert nodes["outer"].verdict is not None
        assert nodes["outer"].verdict.kind is Kind.EXACT

    def test_what_divides_inside(self, audited: Audited, saved: Save) -> None:
        x = opset.parameter([2, 4], np.float32, name="x")
        path = saved([named(opset.mvn(x, opset.constant(np.array([1])), True, 1e-5, "inside_sqrt"), "mvn")], [x])
        found = audited(path, "openvino", {"x": np.ones((2, 4), np.float32)})
        assert [(node.name, node.operator) for node in found.inner] == [("mvn", "MVN")]
        with pytest.raises(ModelError, match="leave --expand out"):
            audited(path, "openvino", {"x": np.ones((2, 4), np.float32)}, expand=True)
