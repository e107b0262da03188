"""Divisions of integers that an exporter wrote in floats: reported, and rewritten as integer divisions on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, checker, numpy_helper

from tests.fake_runtime import RefusesFaults
from tests.models.built_models import text_model
from tests.repair.fakes import TOLERATED, outcomes
from vinculum.repair import Hardening, Runtime, harden

A = np.array([16777217, -16777217, 2**62 + 3, -7, 7, 5, -(2**63)])
B = np.array([1, 1, 3, 2, -2, 0, -1])
TRUNCATED = [16777217, -16777217, (2**62 + 3) // 3, -3, -3, 0, -(2**63)]
FLOORED = [16777217, -16777217, (2**62 + 3) // 3, -4, -4, 0, -(2**63)]

A_CAST, B_CAST, RATIO = "x = Cast <to = 1> (a) ", "y = Cast <to = 1> (b) ", "[ratio] q = Div (x, y) "
BACK = "[back] c = Cast <to = 7> (%s) "
PLAIN = A_CAST + B_CAST + RATIO + BACK % "q"
FLOOR = A_CAST + B_CAST + RATIO + "f = Floor (q) " + BACK % "f"
SIGN = "m = Abs (q) f = Floor (m) s = Sign (q) t = Mul (f, s) " + BACK % "t"
SIGNED_FLOOR = A_CAST + B_CAST + RATIO + SIGN
FORMS = [(PLAIN, TRUNCATED), (SIGNED_FLOOR, TRUNCATED), (FLOOR, FLOORED)]


def model_of(nodes: str, a: str = "int64", b: str = "int64", c: str = "int64[n] c", constants: str = "") -> ModelProto:
    return text_model(nodes, f"{a}[n] a, {b}[n] b", c, constants=constants, ir_version=9)


def mended(model: ModelProto, **inputs: NDArray[Any]) -> tuple[list[str], list[list[int]]]:
    """Return the operators of a model after its exported divisions are rewritten, and its outputs."""
    made = harden(model, "onnxruntime", fix_exported=True).model
    (outcome,) = outcomes(RefusesFaults, [(made, inputs)])
    return operators(made), [output.tolist() for output in outcome]


def notes(hardening: Hardening) -> list[str | None]:
    return [decision.note for decision in hardening.decisions]


def operators(model: ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


class TestFound:
    """Without the option they are reported and not changed."""

    @pytest.mark.parametrize("nodes", [nodes for nodes, _ in FORMS])
    def test_forms(self, nodes: str) -> None:
        model, wrong = model_of(nodes), "the exporter wrote a division of int64 in floats, which is wrong above 2^24"
        hardening = harden(model, "onnxruntime")
        assert notes(hardening) == [f"{wrong}; fix it with --fix-exported"]
        assert hardening.model == model

    def test_beside_what_else_is_noted(self) -> None:
        (note,) = notes(harden(model_of(FORMS[0][0]), "portable"))
        assert note is not None
        assert note.startswith("on OpenVINO its quotients are not all correctly rounded; the exporter wrote")

    @pytest.mark.parametrize(
        ("nodes", "a", "b"),
        [
            (PLAIN, "int16", "int16"),  # Floats hold each, and its quotients are right.
            (PLAIN, "float", "int64"),
            (PLAIN, "uint64", "int64"),  # No type holds both.
            (A_CAST + "y = Relu (b) " + RATIO + BACK % "q", "int64", "float"),
            (A_CAST + B_CAST + RATIO + "f = Ceil (q) " + BACK % "f", "int64", "int64"),
            (A_CAST + B_CAST + "q = Mul (x, y) " + BACK % "q", "int64", "int64"),
            (A_CAST + B_CAST + RATIO + SIGN.replace("Abs (q)", "Neg (q)"), "int64", "int64"),
            (A_CAST + B_CAST + RATIO + SIGN.replace("Abs (q)", "Abs (x)"), "int64", "int64"),
        ],
    )
    def test_others_are_none(self, nodes: str, a: str, b: str) -> None:
        model = model_of(nodes, a, b)
        assert not any(notes(harden(model, "onnxruntime")))
        assert harden(model, "onnxruntime", fix_exported=True).model == model


class TestMended:
    """On request they become integer divisions, guarded like any other."""

    @pytest.mark.parametrize(("nodes", "expected"), FORMS)
    @pytest.mark.parametrize("runtime", ["onnxruntime", "portable"])
    def test_forms(self, nodes: str, expected: list[int], runtime: Runtime) -> None:
        model = model_of(nodes)
        model.graph.node[2].doc_string = "model.py, line 7"
        hardening = harden(model, runtime, fix_exported=True)
        (decision,) = hardening.decisions
        assert (decision.name, decision.rewritten) == ("ratio", True)
        assert decision.why.startswith("the exporter wrote a division of int64 in floats, which is wrong above 2^24; ")
        assert not {"Floor", "Abs", "Sign"} & set(operators(hardening.model))
        assert [n.doc_string for n in hardening.model.graph.node if n.output[0] == "c"] == ["model.py, line 7"]
        for behaviour in TOLERATED[runtime]:
            (outcome,) = outcomes(behaviour, [(hardening.model, {"a": A, "b": B})])
            assert outcome[0].tolist() == expected

    def test_a_constant_divisor_needs_no_guard(self) -> None:
        model = model_of(A_CAST + RATIO + SIGN, constants="float y = {3}")
        hardening = harden(model, "onnxruntime", fix_exported=True)
        assert not hardening.model.functions
        assert [(d.what, d.rewritten) for d in hardening.decisions] == [("divided as integers", True)]
        assert mended(model, a=A, b=B) == (["Div"], [[abs(a) // 3 * (-1 if a < 0 else 1) for a in A.tolist()]])

    @pytest.mark.parametrize(
        ("constant", "element_type", "first"),
        [
            (2.0**53, "int64", "Div"),
            (2.0**54, "int64", "Cast"),  # Several integers have the same float.
            *((constant, "int32", "Cast") for constant in (0.5, np.nan, np.inf, 2.0**40)),
        ],
    )
    def test_constants(self, constant: float, element_type: str, first: str) -> None:
        model = model_of(A_CAST + RATIO + BACK % "q", element_type)
        model.graph.initializer.append(numpy_helper.from_array(np.array(constant, np.float32), "y"))
        made = harden(model, "onnxruntime", fix_exported=True).model
        assert operators(made)[0] == first
        assert (made == model) == (first == "Cast")

    def test_types_that_differ(self) -> None:
        model = model_of(PLAIN.replace("to = 7", "to = 6"), "int32", "int64", "int32[n] c")
        found = mended(model, a=np.array([16777217], np.int32), b=np.array([1]))
        assert found == (["Cast", "Div_int64", "Cast"], [[16777217]])

    def test_what_others_use_stays(self) -> None:
        model = model_of(PLAIN + "z = Neg (q)", c="int64[n] c, float[n] z")
        hardening = harden(model, "onnxruntime", fix_exported=True)
        checker.check_model(hardening.model, full_check=True)
        assert operators(hardening.model) == ["Cast", "Cast", "Div", "Div_int64", "Neg"]
        used = [node.name for node in hardening.model.graph.node if node.name]
        assert len(set(used)) == len(used)
        assert used[0] == "ratio"

    def test_two_of_one_division(self) -> None:
        floor = "g = Floor (q) [floor] d = Cast <to = 7> (g) "
        model = model_of(A_CAST + B_CAST + RATIO + floor + SIGN, c="int64[n] c, int64[n] d")
        assert mended(model, a=A, b=B) == (["FloorDiv_int64", "Div_int64"], [TRUNCATED, FLOORED])

    def test_integers_that_are_divided_as_integers(self) -> None:
        model = model_of(PLAIN.replace("to = 1>", "to = 6>"))
        assert harden(model, "onnxruntime", fix_exported=True).model == harden(model, "onnxruntime").model

    def test_by_a_constant_in_a_function(self) -> None:
        body = A_CAST + "y = Constant <value = float {3.0}> () " + RATIO + BACK % "q"
        model = text_model("c = d.Third(a)", "int64[n] a", "int64[n] c", f"Third (a) => (c) {{ {body} }}", ir_version=9)
        assert mended(model, a=np.array([16777217, -7])) == (["Third"], [[5592405, -2]])

    def test_in_a_branch(self) -> None:
        branch = f"() => (int64[n] c) {{ {FLOOR} }}"
        nodes = f"c = If (yes) <then_branch = t {branch}, else_branch = e {branch}>"
        model = text_model(nodes, "int64[n] a, int64[n] b, bool yes", "int64[n] c", ir_version=9)
        assert mended(model, a=A, b=B, yes=np.array(True)) == (["If"], [FLOORED])
