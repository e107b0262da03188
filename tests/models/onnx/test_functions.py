"""Model-local functions, as the standard allows them and the reference evaluator does not."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from tests.models.built_models import one_line, text_model
from vinculum.errors import AttributeValueError, DivisionByZeroError, ElementTypeError, ModelError
from vinculum.models import DivisionRecord, load
from vinculum.models.onnx.functions import inlined

A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)
SIXES = np.full((2, 2), 6, np.float32)
OLD = '<opset_import: ["": 6], domain: "d"> '
DIVIDES = "F (x, y) => (z) { [n] z = Div(x, y) }"


class TestInlined:
    """A function of another operator set becomes part of the graph if its operators are the same there."""

    @pytest.mark.parametrize(
        ("imports", "body"),
        [
            ('"": 13', "z = Div(x, y)"),  # Div-14 takes more types.
            ('"": 17, "e": 2', "t = e.Own(x) z = Sub(t, y)"),  # What has changed in other domains is not known.
        ],
    )
    def test_others_are_refused(self, imports: str, body: str) -> None:
        function = f'<opset_import: [{imports}], domain: "d"> F (x, y) => (z) {{ {body} }}'
        model = text_model("c = d.F(a, b)", "float[2] a, float[2] b", "float[2] c", function, opset=17)
        if "e" in imports:
            model.opset_import.add(domain="e", version=1)
        with pytest.raises(
            ModelError, match="in which its operators differ, so it cannot be inlined; convert the model"
        ):
            inlined(model)

    def test_the_same(self) -> None:
        function = '<opset_import: ["": 13], domain: "d"> F (x, y) => (z) { t = MatMul(x, y) z = Neg(t) }'
        model = text_model("c = d.F(a, b)", "float[2] a, float[2] b", "float c", function, opset=17)
        found = inlined(model)
        assert [node.op_type for node in found.graph.node] == ["MatMul", "Neg"]
        assert not found.functions


class TestCalls:
    """A function's divisions run with our engine, at the operator set that the function imports."""

    def test_its_own_operator_set(self) -> None:
        function = OLD + "F (x, y) => (z) { [n] z = Div <broadcast = 1, axis = 0> (x, y) }"
        model = load(text_model("c = d.F(a, b)", "float[2,2] a, float[2] b", "float[2,2] c", function))
        assert [division.label for division in model.divisions] == ["node 'n' (Div-6 in F)"]
        assert model.run({"a": SIXES, "b": B})["c"].tolist() == [[3, 3], [2, 2]]

    def test_any_order_and_many_calls(self) -> None:
        outer = "Outer (x, y) => (z) { t = d.F(x, y) z = d.F(t, y) }"
        model = load(text_model("c = d.Outer(a, b)", "float[2] a, float[2] b", "float[2] c", outer, DIVIDES))
        records: list[DivisionRecord] = []
        assert model.run({"a": A, "b": B}, observer=records.append)["c"].tolist() == [1.5, 1.0]
        assert [record.division.path for record in records] == ["F", "F"]
        assert len(model.divisions) == 1

    @pytest.mark.parametrize(("call", "expected"), [("d.F <ax = 0>", [[3, 3], [2, 2]]), ("d.F", [[3, 2], [3, 2]])])
    def test_attributes_and_their_defaults(self, call: str, expected: list[list[float]]) -> None:
        function = OLD + "F <ax: int = 1> (x, y) => (z) { z = Div <broadcast = 1, axis: int = @ax> (x, y) }"
        model = text_model(f"c = {call} (a, b)", "float[2,2] a, float[2] b", "float[2,2] c", function)
        assert load(model).run({"a": SIXES, "b": B})["c"].tolist() == expected

    def test_a_function_in_place_of_an_operator(self) -> None:
        proto = text_model("c = d.F(a, b)", "float[2] a, float[2] b", "float[2] c", "F (x, y) => (z) { z = Sub(x, y) }")
        for each in (proto.functions[0], proto.graph.node[0]):
            each.domain = ""
        proto.functions[0].name = proto.graph.node[0].op_type = "Div"
        model = load(proto)
        assert model.divisions == ()
        assert model.run({"a": A, "b": B})["c"].tolist() == [4, 6]

    def test_overloads(self) -> None:
        other = "F (x, y) => (z) { z = Sub(x, y) }"
        proto = text_model("t = d.F(a, b) c = d.F(t, b)", "float[2] a, float[2] b", "float[2] c", DIVIDES, other)
        proto.functions[0].overload = proto.graph.node[0].overload = "1"
        model = load(proto)
        assert model.run({"a": A, "b": B})["c"].tolist() == [1, 0]
        assert model.divisions[0].path == "d:F:1"

    def test_errors_name_node_and_function(self) -> None:
        model = load(text_model("c = d.F(a, b)", "int32[2] a, int32[2] b", "int32[2] c", DIVIDES))
        with one_line(DivisionByZeroError, "node 'n' (Div-14 in F): 1 of 2 divisors"):
            model.run({"a": np.array([1, 2], np.int32), "b": np.array([1, 0], np.int32)})

    def test_inputs_that_a_call_leaves_out(self) -> None:
        function = "F (x, y) => (z) { [n] z = %s }"
        model = text_model("c = d.F(b)", "float[2] b", "float[2] c", function % "Reciprocal(x)")
        assert load(model).run({"b": B})["c"].tolist() == [0.5, np.float32(1 / 3)]
        for division in ("Div(x, y)", "Div(y, x)", "Reciprocal(y)"):
            with one_line(ElementTypeError, "node 'n'"):
                load(text_model("c = d.F(b)", "float[2] b", "float[2] c", function % division)).run({"b": B})


class TestRefused:
    """Bad input: functions that cannot be run."""

    CASES: ClassVar[dict[str, tuple[str, list[str], type[Exception], tuple[str, ...]]]] = {
        "a circle": (
            "c = d.F(a, a)",
            [f"{name} (x, y) => (z) {{ z = d.{callee}(x, y) }}" for name, callee in ("FG", "GH", "HF")],
            ModelError,
            ("calls itself", "recursive"),
        ),
        "calls too deep": (
            "c = d.F0(a, a)",
            [f"F{n} (x, y) => (z) {{ z = d.F{n + 1}(x, y) }}" for n in range(1200)]
            + ["F1200 (x, y) => (z) { z = Div(x, y) }"],
            ModelError,
            ("more than 100 deep",),
        ),
        "defined twice": ("c = d.F(a, a)", [DIVIDES, DIVIDES], ModelError, ("function 'd:F' is defined twice",)),
        "too many inputs": (
            "c = d.F(a, a, a)",
            [DIVIDES],
            ModelError,
            ("node 'c' calls function 'd:F' of 2 inputs and 1 outputs with 3 and 1",),
        ),
        "an attribute without a value": (
            "[m] c = d.F(a, a)",
            [OLD + "F <ax> (x, y) => (z) { z = Div <broadcast = 1, axis: int = @ax> (x, y) }"],
            ModelError,
            ("'m'", "without its attribute 'ax'"),
        ),
        "an illegal reference": (
            "c = d.F(a, a)",
            ["F <ax: int = 1> (x, y) => (z) { [n] z = Div <axis: int = @ax> (x, y) }"],
            AttributeValueError,
            ("node 'n' (Div-14 in F)", "no attribute 'axis'"),
        ),
    }

    @pytest.mark.parametrize(("call", "functions", "kind", "parts"), CASES.values(), ids=CASES)
    def test_case(self, call: str, functions: list[str], kind: type[Exception], parts: tuple[str, ...]) -> None:
        with one_line(kind, *parts):
            load(text_model(call, "float[2] a", "float[2] c", *functions))
