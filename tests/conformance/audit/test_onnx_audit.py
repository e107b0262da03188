"""ONNX models: every division of theirs is found, observed and held against the exact quotient."""

from __future__ import annotations

from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tests.fake_runtime import (
    DiesOfIntegers,
    DropsAxis,
    EverySecondSessionIsOff,
    FakeRuntime,
    MultipliesByReciprocal,
    NarrowsInt64,
    RaisesAtZero,
    Sleeps,
    Transposes,
)
from vinculum.conformance.audit.record import Audit
from vinculum.conformance.oracle.verdict import Kind
from vinculum.errors import ModelError
from vinculum.sandbox import End
from vinculum.spec.element_types import by_name

Audited = Callable[..., Audit]
Build = Callable[..., ModelProto]

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
DIVIDED = ("float16", "float", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


def f32(values: Any) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def div(a: str = "a", b: str = "b", c: str = "c", name: str = "ratio") -> NodeProto:
    return helper.make_node("Div", [a, b], [c], name)


class TestExact:
    """Issue 4, item 8: a division whose quotients are exact is said to be, in every element type."""

    def test_every_type(self, audited: Audited, onnx_model: Build) -> None:
        nodes: list[NodeProto] = []
        inputs: dict[str, Any] = {}
        outputs: dict[str, Any] = {}
        given: dict[str, Any] = {}
        for name in DIVIDED:
            code, dtype = by_name(name).onnx_code, np.dtype(by_name(name).numpy)
            a, b, c = (f"{operand}_{name}" for operand in "abc")
            nodes.append(div(a, b, c, name))
            inputs |= {a: (code, ("N",)), b: (code, ("N",))}
            outputs[c] = (code, ("N",))
            given |= {a: np.array([12, 8, 4], dtype), b: np.array([2, 4, 4], dtype)}
        found = audited(onnx_model(nodes, inputs, outputs), FakeRuntime, given)
        assert [(str(node.element_type), node.verdict and node.verdict.kind) for node in found.nodes] == [
            (name, Kind.EXACT) for name in DIVIDED
        ]
        assert (found.changed, found.plain.end, found.finds) == ((), End.RETURNED, False)


class TestNotExact:
    """Quotients that are not exact are counted, measured, and the first is shown with its bits."""

    def test_a_product_with_the_reciprocal(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div()], {"a": (FLOAT, (8,)), "b": (FLOAT, (8,))}, {"c": (FLOAT, (8,))})
        operands = np.arange(41, 49, dtype=np.float32)
        found = audited(model, MultipliesByReciprocal, {"a": operands, "b": operands})
        verdict = found.nodes[0].verdict
        assert verdict is not None
        assert (verdict.kind, verdict.largest, verdict.elements) == (Kind.ULPS, 1, 8)
        assert verdict.example is not None
        assert "0x3f7fffff" in verdict.example.actual
        assert "0x3f800000" in verdict.example.expected
        assert found.finds

    def test_narrowed_integers(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div()], {"a": (INT64, (2,)), "b": (INT64, (2,))}, {"c": (INT64, (2,))})
        found = audited(model, NarrowsInt64, {"a": np.array([2**40, 6]), "b": np.array([2, 2])})
        verdict = found.nodes[0].verdict
        assert verdict is not None
        assert (verdict.kind, verdict.differing) == (Kind.WRONG_VALUE, 1)

    def test_a_reciprocal(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model(
            [helper.make_node("Reciprocal", ["a"], ["c"])], {"a": (FLOAT, (4,))}, {"c": (FLOAT, (4,))}, opset=13
        )
        given = {"a": np.array([3, 0, 1e-40, 2], np.float32)}
        found = audited(model, FakeRuntime, given)
        node = found.nodes[0]
        assert node.verdict is not None
        assert (node.division.name, node.division.operator, node.verdict.kind) == ("c", "Reciprocal-13", Kind.EXACT)
        assert [(h.what, h.count, h.first) for h in node.hazards] == [
            ("divisor zero", 1, (1,)),
            ("divisor subnormal", 1, (2,)),
            ("quotient overflows", 1, (2,)),
        ]


class TestWhereADivisionStands:
    """Whatever a division divides and whoever uses its quotient, it is observed; where it cannot be, that is said."""

    def test_every_source_of_an_operand(self, audited: Audited, onnx_model: Build) -> None:
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
        found = audited(model, FakeRuntime, {"a": f32([[1, 2], [4, 8]])})
        assert [node.division.name for node in found.nodes] == ["halves", "quarters", "folded", "ones"]
        assert [node.verdict.kind if node.verdict else None for node in found.nodes] == [Kind.EXACT] * 4
        assert [node.shapes for node in found.nodes][1:3] == [((2, 2), (1,)), ((1,), (1,))]
        assert (found.changed, found.plain.end, found.finds) == ((), End.RETURNED, False)

    def test_two_nodes_of_one_name(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model(
            [div("a", "a", "b", "same"), div("b", "a", "c", "same")], {"a": (FLOAT, (2,))}, {"c": (FLOAT, (2,))}
        )
        found = audited(model, FakeRuntime, {"a": f32([1, 2])})
        assert [node.division.name for node in found.nodes] == ["same", "same (c)"]
        assert [node.verdict.kind for node in found.nodes if node.verdict] == [Kind.EXACT] * 2

    def test_in_a_function(self, audited: Audited, onnx_model: Build) -> None:
        function = helper.make_function(
            "local", "Ratio", ["p", "q"], ["r"], [div("p", "q", "r")], [helper.make_opsetid("", 17)]
        )
        calls = [helper.make_node("Ratio", ["a", "b"], [name], domain="local") for name in ("c", "d")]
        model = onnx_model(
            calls,
            {"a": (FLOAT, (2,)), "b": (FLOAT, (2,))},
            {"c": (FLOAT, (2,)), "d": (FLOAT, (2,))},
            ir_version=8,
            domains=["local"],
            functions=[function],
        )
        found = audited(model, FakeRuntime, {"a": f32([1, 2]), "b": f32([2, 4])})
        assert [(node.division.path, node.verdict and node.verdict.kind) for node in found.nodes] == [
            ("Ratio", Kind.EXACT),
            ("Ratio", Kind.EXACT),
        ]
        assert [node.division.name for node in found.nodes] == ["ratio", "ratio (2)"]

    def test_in_a_function_of_another_operator_set(self, audited: Audited, onnx_model: Build) -> None:
        function = helper.make_function(
            "local", "Ratio", ["p", "q"], ["r"], [div("p", "q", "r")], [helper.make_opsetid("", 13)]
        )
        model = onnx_model(
            [helper.make_node("Ratio", ["a", "a"], ["c"], domain="local"), div("a", "c", "d", "outer")],
            {"a": (FLOAT, (2,))},
            {"d": (FLOAT, (2,))},
            domains=["local"],
            functions=[function],
        )
        found = audited(model, FakeRuntime, {"a": f32([1, 2])})
        nodes = {node.division.name: node for node in found.nodes}
        assert nodes["outer"].verdict is not None
        assert "inside the function 'Ratio', which is not inlined" in str(nodes["ratio"].unobserved)
        assert not found.finds

    def test_in_a_function_that_nobody_calls(self, audited: Audited, onnx_model: Build) -> None:
        function = helper.make_function(
            "local", "If:then_branch", ["p", "q"], ["r"], [div("p", "q", "r")], [helper.make_opsetid("", 17)]
        )
        model = onnx_model(
            [div("a", "a", "c", "outer")],
            {"a": (FLOAT, (2,))},
            {"c": (FLOAT, (2,))},
            domains=["local"],
            functions=[function],
        )
        found = audited(model, FakeRuntime, {"a": f32([1, 2])})
        assert [(node.division.name, node.unobserved) for node in found.nodes] == [
            ("outer", None),
            ("ratio", "inside the function 'If:then_branch', which is never called"),
        ]


class TestExposure:
    """Whether exposing divisions changes the model's outputs is told."""

    def test_a_runtime_that_does_not_repeat_itself(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div()], {"a": (FLOAT, (2,)), "b": (FLOAT, (2,))}, {"c": (FLOAT, (2,))})
        found = audited(model, EverySecondSessionIsOff, {"a": f32([3, 4]), "b": f32([2, 2])})
        (sentence,) = found.changed
        assert "output 'c' differs" in sentence

    def test_other_shapes(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div()], {"a": (FLOAT, (2, 1)), "b": (FLOAT, (3,))}, {"c": (FLOAT, None)})
        found = audited(model, Transposes, {"a": f32([[1], [2]]), "b": f32([1, 2, 4])})
        verdict = found.nodes[0].verdict
        assert verdict is not None
        assert (verdict.kind, found.finds) == (Kind.WRONG_SHAPE, True)


class TestFiles:
    """Old operator sets, data in other files, and inputs that have values of their own."""

    @pytest.mark.parametrize("opset", [7, 13, 21])
    def test_operator_sets(self, audited: Audited, onnx_model: Build, opset: int) -> None:
        model = onnx_model(
            [div()], {"a": (FLOAT, (2, 1)), "b": (FLOAT, (3,))}, {"c": (FLOAT, (2, 3))}, opset=opset, ir_version=10
        )
        found = audited(model, FakeRuntime, {"a": f32([[1], [8]]), "b": f32([1, 2, 4])})
        assert found.nodes[0].division.operator == f"Div-{min(opset, 14)}"
        assert found.nodes[0].verdict is not None
        assert found.nodes[0].verdict.kind is Kind.EXACT

    def test_div_6_with_an_axis(self, audited: Audited, onnx_model: Build) -> None:
        node = helper.make_node("Div", ["a", "b"], ["c"], "ratio", broadcast=1, axis=0)
        model = onnx_model([node], {"a": (FLOAT, (2, 2)), "b": (FLOAT, (2,))}, {"c": (FLOAT, (2, 2))}, opset=6)
        given = {"a": f32([[1, 2], [3, 4]]), "b": f32([1, 2])}
        verdict = audited(model, FakeRuntime, given).nodes[0].verdict
        assert verdict is not None
        assert verdict.kind is Kind.EXACT
        assert audited(model, DropsAxis, given).finds

    def test_data_in_another_file(self, audited: Audited, onnx_model: Build, tmp_path: Path) -> None:
        tensor = numpy_helper.from_array(f32([2, 4]), "b")
        (tmp_path / "data.bin").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="data.bin")
        model = onnx_model([div()], {"a": (FLOAT, (2,))}, {"c": (FLOAT, (2,))}, initializers=[tensor])
        found = audited(model, FakeRuntime, {"a": f32([1, 2])})
        assert found.nodes[0].verdict is not None
        assert found.nodes[0].verdict.kind is Kind.EXACT
        assert found.changed == ()

    def test_an_input_with_a_value_of_its_own(self, audited: Audited, onnx_model: Build) -> None:
        tensor = numpy_helper.from_array(f32([2, 0]), "b")
        model = onnx_model(
            [div()], {"a": (FLOAT, (2,)), "b": (FLOAT, (2,))}, {"c": (FLOAT, (2,))}, initializers=[tensor]
        )
        a, b = f32([1, 2]), f32([0, 4])
        for given, zero in (({"a": a}, (1,)), ({"a": a, "b": b}, (0,))):
            node = audited(model, FakeRuntime, given).nodes[0]
            assert node.verdict is not None
            assert (node.verdict.kind, node.hazards[0].first) == (Kind.EXACT, zero)

    def test_an_unused_input(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div("a", "a", "c")], {"a": (FLOAT, (2,)), "b": (FLOAT, (2,))}, {"c": (FLOAT, (2,))})
        found = audited(model, FakeRuntime, {"a": f32([1, 2]), "b": f32([1, 2])})
        assert (found.plain.end, found.finds) == (End.RETURNED, False)

    def test_an_output_that_is_an_input(self, audited: Audited, onnx_model: Build) -> None:
        tensors = dict.fromkeys("ac", (FLOAT, (4,)))
        model = onnx_model([div("a", "a", "c")], {"a": (FLOAT, (4,))}, tensors)
        assert not audited(model, FakeRuntime, {"a": f32([1, 2, 3, 4])}).changed

    def test_an_output_that_is_listed_twice(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div("a", "a", "c")], {"a": (FLOAT, (2,))}, {"c": (FLOAT, (2,))})
        model.graph.output.append(model.graph.output[0])
        with pytest.raises(ModelError, match="output 'c' twice"):
            audited(model, FakeRuntime, {"a": f32([1, 2])})

    def test_a_full_disk(self, audited: Audited, onnx_model: Build, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(ENOSPC, "No space left on device")

        monkeypatch.setattr("vinculum.conformance.audit.audit.write_model", full)
        model = onnx_model([div("a", "a", "c")], {"a": (FLOAT, (2,))}, {"c": (FLOAT, (2,))})
        with pytest.raises(ModelError, match=r"exposed cannot be written: .*No space left"):
            audited(model, FakeRuntime, {"a": f32([1, 2])})

    def test_without_divisions(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([helper.make_node("Neg", ["a"], ["c"])], {"a": (FLOAT, (2,))}, {"c": (FLOAT, (2,))})
        found = audited(model, FakeRuntime, {"a": f32([1, 2])})
        assert (found.nodes, found.finds) == ((), False)


class TestZeroAndOverflow:
    """Integers divided by zero and MIN/-1: what the runtime did is recorded, or how it died, and of which node."""

    def test_what_it_dies_of_is_named(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model(
            [
                div("b", "b", "ones", "harmless"),
                div("a", "b", "c", "fatal"),
                helper.make_node("Add", ["c", "ones"], ["d"]),
            ],
            {"a": (INT64, (2,)), "b": (INT64, (2,))},
            {"d": (INT64, (2,))},
        )
        found = audited(model, DiesOfIntegers, {"a": np.array([4, -(2**63)]), "b": np.array([2, -1])})
        assert (found.exposed.end, found.exposed.words, found.finds) == (End.CRASHED, "SIGFPE", True)
        suspect, operands = found.suspects
        assert operands == "'fatal' divides -9223372036854775808 / -1 at (1,), in shape (2,)"
        assert "node 'fatal' (Div-14)" in suspect
        assert "MIN/-1" in suspect
        assert "(1,)" in suspect
        assert [node.verdict for node in found.nodes] == [None, None]

    def test_zero_divisors(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div()], {"a": (INT64, (3,)), "b": (INT64, (3,))}, {"c": (INT64, (3,))})
        given = {"a": np.array([4, 6, 8]), "b": np.array([2, 0, 0])}
        refused = audited(model, RaisesAtZero, given)
        assert (refused.exposed.end, refused.finds) == (End.REFUSED, True)
        assert "first at index (1,)" in refused.suspects[0]
        node = audited(model, FakeRuntime, given).nodes[0]
        assert node.verdict is not None
        assert node.verdict.kind is Kind.UNSPECIFIED
        assert [(h.what, h.count, h.first) for h in node.hazards] == [("divisor zero", 2, (1,))]

    def test_a_run_that_takes_too_long(self, audited: Audited, onnx_model: Build) -> None:
        model = onnx_model([div()], dict.fromkeys("ab", (INT64, (1,))), {"c": (INT64, (1,))})
        found = audited(model, Sleeps, {"a": np.array([-(2**63)]), "b": np.array([3])}, seconds=1.0)
        assert (found.exposed.end, found.finds) == (End.HUNG, True)
