"""Whole models between operator sets: subgraphs, functions, other operators, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import FunctionProto, GraphProto, ModelProto, numpy_helper
from onnx.defs import onnx_opset_version

from tests.models.built_models import one_line, read_whole, run, text_model
from vinculum.errors import AttributeValueError, ModelError
from vinculum.models import load
from vinculum.models.convert import verification
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import model_nodes

EXAMPLES = Path(__file__).parents[4] / "examples"
RNG = np.random.default_rng(0)


def _operators(model: ModelProto) -> list[str]:
    return [node.op_type for node in model_nodes(model)]


def _same(model: ModelProto, converted: ModelProto, arrays: Mapping[str, Any]) -> bool:
    return run(converted, arrays)["C"].tobytes() == run(model, arrays)["C"].tobytes()


A = RNG.standard_normal((2, 3), np.float32)
PAIR = "float[2,3] A, float[2] B"


@pytest.mark.parametrize("opset", [7, 13, 21])
def test_subgraphs_both_branches(opset: int) -> None:
    """Divisions in branches that use values of the outer graph."""
    then, other = (
        f"() => (float[2,3] t) {{ [inner] t = Div <broadcast = 1, axis = 0> ({a}, B) }}" for a in ("A", "A2")
    )
    nodes = f"A2 = Neg(A) C = If(yes) <then_branch = then {then}, else_branch = otherwise {other}>"
    model = text_model(nodes, f"{PAIR}, bool yes", "float[2,3] C", opset=6)
    converted = convert_opset(model, opset)
    for yes in (True, False):
        arrays = {"A": A, "B": np.array([3, 7], np.float32), "yes": np.array(yes)}
        assert _same(model, converted.model, arrays)
    places = [change.node for change in converted.changes if "Div" in change.node]
    assert places == [f"node 'inner' (Div) in If:{branch}" for branch in ("then_branch", "else_branch")]


class TestFunctions:
    """Divisions in model-local functions, whose types are those of the calls."""

    INT8 = '<opset_import: ["": 14], domain: "d"> Ratio (x, y) => (z) { [inner] z = Div(x, y) }'

    def test_a_type_that_the_target_lacks(self) -> None:
        model = text_model("C = d.Ratio(A, B)", "int8[2,3] A, int8[2,3] B", "int8[2,3] C", self.INT8, opset=14)
        converted = convert_opset(model, 13)
        assert _operators(converted.model) == ["Ratio", "Cast", "Cast", "Div", "Cast"]
        arrays = {"A": np.full((2, 3), -128, np.int8), "B": np.array([[-1, 1, 2], [3, -128, 127]], np.int8)}
        assert _same(model, converted.model, arrays)
        assert [entry.version for entry in converted.model.functions[0].opset_import] == [13]

    def test_an_axis(self) -> None:
        function = (
            '<opset_import: ["": 6], domain: "d"> Ratio (x, y) => (z) { z = Div <broadcast = 1, axis = 0> (x, y) }'
        )
        model = text_model("C = d.Ratio(A, B)", PAIR, "float[2,3] C", function, opset=6)
        converted = convert_opset(model, 13).model
        assert _operators(converted) == ["Ratio", "Constant", "Unsqueeze", "Div"]
        assert _same(model, converted, {"A": A, "B": np.array([3, 7], np.float32)})

    def test_constants(self) -> None:
        """Before operator set 9 a function holds floats only."""
        with pytest.raises(ValueError, match="a function below operator set 9 holds floats only; inline"):
            Rewriter(FunctionProto(), 8, set(), "x").constant(np.array([7]), "n")
        for holder, opset, array in ((FunctionProto(), 8, np.ones(2)), (FunctionProto(), 9, A), (GraphProto(), 1, A)):
            Rewriter(holder, opset, set(), "x").constant(array.astype(int) if opset != 8 else array, "n")

    def test_calls_of_different_types(self) -> None:
        """A function body cannot cast for one call and not for another."""
        calls, outputs = "C = d.Ratio(A, A) G = d.Ratio(F, F)", "int8[2] C, float[2] G"
        model = text_model(calls, "int8[2] A, float[2] F", outputs, self.INT8, opset=14)
        with one_line(ModelError, "node 'inner' (Div) in Ratio", "the element type is not known"):
            convert_opset(model, 13)
        assert convert_opset(model, 15).changes == ()

    def test_one_that_replaces_an_operator(self) -> None:
        """A function may be called Div; a call of it is no division."""
        model = text_model("[call] C = d.Ratio(A, A)", "int8[2] A", "int8[2] C", self.INT8.replace("Div", "Add"))
        for each in (model.functions[0], model.graph.node[0]):
            each.domain = ""
        model.functions[0].name = model.graph.node[0].op_type = "Div"
        assert [n.op_type for n in convert_opset(model, 14).model.graph.node] == ["Div"]


class TestOtherOperators:
    """Nodes are unchanged if their version does not change; otherwise they are converted, or refused by name."""

    def test_every_reason_is_given(self) -> None:
        nodes = " ".join(f"[gelu{n}] g{n} = Gelu(A)" for n in range(5))
        model = text_model(nodes, "float[2] A", ", ".join(f"float[2] g{n}" for n in range(5)), opset=20)
        with one_line(ModelError, "'gelu0'", "'gelu2'", "and 2 more"):
            convert_opset(model, 13)

    def test_other_domains_are_not_looked_at(self) -> None:
        model = text_model("[theirs] C = d.Div <axis = 1> (A)", "float[2] A", "float[2] C", opset=6)
        assert convert_opset(model, 13).model.graph == model.graph


class TestImports:
    """The operator set and the IR version that the new model declares."""

    @pytest.mark.parametrize("opset", [-1, 0, 6, onnx_opset_version() + 1, 999])
    def test_unknown_operator_sets(self, opset: int) -> None:
        words = f"models are not converted to operator set {opset}", f"7 to {onnx_opset_version()}"
        with one_line(AttributeValueError, *words):
            convert_opset(text_model("c = Relu(a)"), opset)

    def test_ir_version_suffices(self) -> None:
        """From IR version 4 on, initializers need not be inputs."""
        model = text_model("[ratio] C = Div(A, A)", PAIR, "float[2,3] C", opset=6, ir_version=3)
        assert [convert_opset(model, opset).model.ir_version for opset in (7, 13, 21)] == [4, 7, 10]


@pytest.mark.parametrize(
    ("name", "opsets"),
    [
        ("layer_norm", (14, onnx_opset_version())),
        ("layer_norm_float16", (21,)),
        ("attention", (21,)),
        ("rms_norm", (17,)),
        ("masked_mean", (21, onnx_opset_version())),
        ("div_6_axis", (7, 13)),
        ("windows", (17, 21)),
        pytest.param("newton_sqrt", (16,), marks=pytest.mark.exhaustive),  # seven seconds in its loop
        pytest.param("newton_sqrt", (21,), marks=pytest.mark.exhaustive),
        ("newton_sqrt of three steps", (16,)),
        ("floor_divide", (21,)),
    ],
)
def test_examples_there_and_back(name: str, opsets: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Convert models from public exporters to the operator sets that can represent them, and back."""
    example, _, shortened = name.partition(" ")
    original = read_whole(EXAMPLES / example / "model.onnx")
    if shortened:  # Edge values would request many steps of its loop.
        original.graph.input.remove(next(value for value in original.graph.input if value.name == "steps"))
        original.graph.initializer.append(numpy_helper.from_array(np.array(3, np.int64), "steps"))
    source = next(entry.version for entry in original.opset_import if not entry.domain)
    for opset in opsets:
        there = convert_opset(original, opset).model
        assert verification.verify(load(original), load(there)).compared > 0
        back = convert_opset(there, max(source, 7)).model
        with monkeypatch.context() as patched:
            patched.setattr(verification, "_SECONDS", 0.0)  # Compare as few sets as possible.
            assert verification.verify(load(original), load(back)).compared > 0
