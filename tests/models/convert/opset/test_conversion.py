"""Whole models between operator sets: subgraphs, functions, other operators, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.defs import onnx_opset_version

from tests.models.built_models import read_whole
from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.convert.opset.conversion import convert_opset
from vinculum.models.onnx.scopes import all_nodes

Run = Callable[..., dict[str, NDArray[Any]]]
Make = Callable[..., ModelProto]
OneLine = Callable[..., AbstractContextManager[None]]
EXAMPLES = Path(__file__).parents[4] / "examples"
FLOATS = (TensorProto.FLOAT, [2, 3])
RNG = np.random.default_rng(0)


def _operators(model: ModelProto) -> list[str]:
    nodes = [*all_nodes(model.graph.node), *(node for f in model.functions for node in all_nodes(f.node))]
    return [node.op_type for node in nodes]


class TestSubgraphs:
    """Divisions in the bodies of control flow, which see the values around them."""

    def _model(self, make: Make, opset: int) -> ModelProto:
        shape = [helper.make_tensor_value_info("t", TensorProto.FLOAT, [2, 3])]
        legacy: dict[str, Any] = {"broadcast": 1, "axis": 0} if opset < 7 else {}
        branches = [
            helper.make_graph([helper.make_node("Div", pair, ["t"], "inner", **legacy)], "branch", [], shape)
            for pair in (["A", "B"], ["A2", "B"])
        ]
        nodes = [
            helper.make_node("Neg", ["A"], ["A2"]),
            helper.make_node("If", ["yes"], ["C"], then_branch=branches[0], else_branch=branches[1]),
        ]
        inputs = {"A": FLOATS, "B": (TensorProto.FLOAT, [2] if legacy else [2, 1]), "yes": (TensorProto.BOOL, [])}
        return make(nodes, inputs, {"C": FLOATS}, opset=opset)

    @pytest.mark.parametrize(("source", "opset"), [(6, 13), (6, 21), (6, 7)])
    def test_both_branches(self, onnx_model: Make, run: Run, source: int, opset: int) -> None:
        model = self._model(onnx_model, source)
        converted = convert_opset(model, opset)
        a = RNG.standard_normal((2, 3), np.float32)
        b = np.array([3, 7], np.float32).reshape(2 if source < 7 else (2, 1))
        for yes in (True, False):
            arrays = {"A": a, "B": b, "yes": np.array(yes)}
            assert run(converted.model, arrays)["C"].tobytes() == run(model, arrays)["C"].tobytes()
        places = [change.node for change in converted.changes if "Div" in change.node]
        assert places == [f"node 'inner' (Div) in If:{branch}" for branch in ("else_branch", "then_branch")]


class TestFunctions:
    """Divisions in model-local functions, whose types are those of the calls."""

    def _model(self, make: Make, opset: int, element_type: int, **legacy: Any) -> ModelProto:
        body = [helper.make_node("Div", ["x", "y"], ["z"], "inner", **legacy)]
        function = helper.make_function("d", "Ratio", ["x", "y"], ["z"], body, [helper.make_opsetid("", opset)])
        node = helper.make_node("Ratio", ["A", "B"], ["C"], domain="d")
        tensor = (element_type, [2, 3])
        inputs = {"A": tensor, "B": (element_type, [2] if legacy else [2, 3])}
        return make([node], inputs, {"C": tensor}, opset=opset, domains=["d"], functions=[function])

    def test_a_type_that_the_target_lacks(self, onnx_model: Make, run: Run) -> None:
        model = self._model(onnx_model, 14, TensorProto.INT8)
        converted = convert_opset(model, 13)
        assert _operators(converted.model) == ["Ratio", "Cast", "Cast", "Div", "Cast"]
        a, b = np.full((2, 3), -128, np.int8), np.array([[-1, 1, 2], [3, -128, 127]], np.int8)
        arrays = {"A": a, "B": b}
        assert run(converted.model, arrays)["C"].tobytes() == run(model, arrays)["C"].tobytes()
        assert [entry.version for entry in converted.model.functions[0].opset_import] == [13]

    def test_an_axis(self, onnx_model: Make, run: Run) -> None:
        model = self._model(onnx_model, 6, TensorProto.FLOAT, broadcast=1, axis=0)
        converted = convert_opset(model, 13).model
        assert _operators(converted) == ["Ratio", "Constant", "Unsqueeze", "Div"]
        arrays = {"A": RNG.standard_normal((2, 3), np.float32), "B": np.array([3, 7], np.float32)}
        assert run(converted, arrays)["C"].tobytes() == run(model, arrays)["C"].tobytes()

    def test_calls_of_different_types(self, onnx_model: Make, one_line: OneLine) -> None:
        """One body cannot cast for one call and not for the other."""
        model = self._model(onnx_model, 14, TensorProto.INT8)
        model.graph.node.append(helper.make_node("Ratio", ["F", "F"], ["G"], domain="d"))
        model.graph.input.append(helper.make_tensor_value_info("F", *FLOATS))
        model.graph.output.append(helper.make_tensor_value_info("G", *FLOATS))
        with one_line(ModelError, "node 'inner' (Div) in Ratio", "the element type is not known"):
            convert_opset(model, 13)
        assert convert_opset(model, 15).changes == ()

    def test_one_that_replaces_an_operator(self, onnx_model: Make) -> None:
        """A function may be called Div; a call of it is no division."""
        body = [helper.make_node("Add", ["x", "y"], ["z"])]
        function = helper.make_function("", "Div", ["x", "y"], ["z"], body, [helper.make_opsetid("", 14)])
        node = helper.make_node("Div", ["A", "A"], ["C"], "call")
        model = onnx_model([node], {"A": (TensorProto.INT8, [2])}, {"C": (TensorProto.INT8, [2])}, functions=[function])
        assert [n.op_type for n in convert_opset(model, 14).model.graph.node] == ["Div"]


class TestOtherOperators:
    """Untouched where their version does not change; else converted, or refused by name."""

    def test_the_model_given_is_not_changed(self, onnx_model: Make) -> None:
        nodes = [helper.make_node("Div", ["A", "B"], ["C"], "ratio", broadcast=1, axis=0)]
        inputs = {"A": FLOATS, "B": (TensorProto.FLOAT, [2])}
        model = onnx_model(nodes, inputs, {"C": FLOATS}, opset=6)
        before = model.SerializeToString(deterministic=True)
        convert_opset(model, 13)
        assert model.SerializeToString(deterministic=True) == before

    def test_every_reason_is_given(self, onnx_model: Make, one_line: OneLine) -> None:
        nodes = [helper.make_node("Gelu", ["A"], [f"g{n}"], f"gelu{n}") for n in range(5)]
        model = onnx_model(nodes, {"A": FLOATS}, {f"g{n}": FLOATS for n in range(5)}, opset=20)
        with one_line(ModelError, "'gelu0'", "'gelu2'", "and 2 more"):
            convert_opset(model, 13)

    def test_other_domains_are_not_looked_at(self, onnx_model: Make) -> None:
        nodes = [helper.make_node("Div", ["A"], ["C"], "theirs", domain="other", axis=1)]
        model = onnx_model(nodes, {"A": FLOATS}, {"C": FLOATS}, opset=6, domains=["other"])
        assert convert_opset(model, 13).model.graph == model.graph


class TestImports:
    """The operator set and the IR version that the new model declares."""

    @pytest.mark.parametrize("opset", [-1, 0, 6, onnx_opset_version() + 1, 999])
    def test_unknown_operator_sets(self, onnx_model: Make, one_line: OneLine, opset: int) -> None:
        model = onnx_model([helper.make_node("Relu", ["A"], ["C"])], {"A": FLOATS}, {"C": FLOATS})
        with one_line(
            AttributeValueError, f"models are not converted to operator set {opset}", f"7 to {onnx_opset_version()}"
        ):
            convert_opset(model, opset)

    def test_ir_version_suffices(self, onnx_model: Make) -> None:
        nodes = [helper.make_node("Div", ["A", "B"], ["C"], "ratio", broadcast=1, axis=0)]
        inputs = {"A": FLOATS, "B": (TensorProto.FLOAT, [2])}
        model = onnx_model(nodes, inputs, {"C": FLOATS}, opset=6, ir_version=3)
        assert convert_opset(model, 7).model.ir_version == 3
        assert convert_opset(model, 13).model.ir_version == 7
        assert convert_opset(model, 21).model.ir_version == 10


class TestExamples:
    """The models of public exporters, to the operator sets that can say them."""

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
    def test_there_and_back(self, run: Run, name: str, opsets: tuple[int, ...]) -> None:
        from vinculum.models.convert.verification import verify
        from vinculum.models.onnx.model import model_of

        def model(proto: ModelProto) -> Any:
            copy = ModelProto()
            copy.CopyFrom(proto)
            return model_of(copy, Path("model.onnx"))

        example, _, shortened = name.partition(" ")
        original = read_whole(EXAMPLES / example / "model.onnx")
        if shortened:  # Its loop takes as many steps as it is told, and inputs at the edges tell it many.
            original.graph.input.remove(next(value for value in original.graph.input if value.name == "steps"))
            original.graph.initializer.append(numpy_helper.from_array(np.array(3, np.int64), "steps"))
        source = next(entry.version for entry in original.opset_import if not entry.domain)
        for opset in opsets:
            there = convert_opset(original, opset).model
            assert verify(model(original), model(there)).compared > 0
            back = convert_opset(there, max(source, 7)).model
            assert verify(model(original), model(back)).compared > 0


class TestWhatElseAModelHolds:
    """The IR version is one in which new constants may stand; what would be left unconverted is refused."""

    def test_a_constant_in_a_subgraph_before_ir_version_4(self, onnx_model: Make, run: Run) -> None:
        legacy: dict[str, Any] = {"broadcast": 1, "axis": 0}
        value = numpy_helper.from_array(np.array([2, 3], np.float32))
        shape = [helper.make_tensor_value_info("t", TensorProto.FLOAT, [2, 3])]
        nodes = [
            helper.make_node("Constant", [], ["B"], value=value),
            helper.make_node("Div", ["A", "B"], ["t"], **legacy),
        ]
        branch = helper.make_graph(nodes, "branch", [], shape)
        choice = helper.make_node("If", ["yes"], ["C"], then_branch=branch, else_branch=branch)
        inputs = {"A": FLOATS, "yes": (TensorProto.BOOL, [])}
        model = onnx_model([choice], inputs, {"C": FLOATS}, opset=6, ir_version=3)
        converted = convert_opset(model, 7).model
        assert converted.ir_version == 4
        arrays = {"A": RNG.standard_normal((2, 3), np.float32), "yes": np.array(True)}
        assert run(converted, arrays)["C"].tobytes() == run(model, arrays)["C"].tobytes()
