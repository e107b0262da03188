"""Divisions run with our engine at every depth; the rest with ONNX's reference evaluator, whose errors become ours."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.built_models import one_line, text_model
from vinculum.errors import ElementTypeError, ModelError
from vinculum.models import DivisionRecord, load

A, B = np.array([6, 9], np.float32), np.array([2, 3], np.float32)
K = "float[2] a, float[2] b, bool k"


def branches(then: str, other: str = "") -> str:
    """Return the branches of an If, the nodes of which make t."""
    sides = (("then", then), ("else", other or then))
    return "<" + ", ".join(f"{side}_branch = {side} () => (float[] t) {{ {nodes} }}" for side, nodes in sides) + ">"


class TestOurEngine:
    """Every Div and Reciprocal node of a model is computed to the last bit."""

    @pytest.mark.parametrize("choice", [True, False])
    def test_in_both_branches(self, choice: bool) -> None:
        model = load(text_model(f"c = If(k) {branches('t = Div(a, b)', 't = Reciprocal(b)')}", K))
        records: list[DivisionRecord] = []
        output = model.run({"a": A, "b": B, "k": np.array(choice)}, observer=records.append)["c"]
        assert output.tolist() == ((A if choice else np.float32(1)) / B).tolist()
        path = "If:then_branch" if choice else "If:else_branch"
        assert [record.division.path for record in records] == [path]
        assert (records[0].dividend is None) is not choice

    def test_in_operators_that_are_defined_by_others(self) -> None:
        records: list[DivisionRecord] = []
        model = load(text_model("c = MeanVarianceNormalization <axes = [0]> (a)", "float[2] a"))
        model.run({"a": A}, observer=records.append)
        assert [record.division.operator for record in records] == ["Div-14"]

    def test_an_initializer_of_a_branch_has_a_name_of_its_own(self) -> None:
        """ONNX Runtime takes the value around it, the reference evaluator the branch's."""
        hiding = branches("t = Div(a, w)").replace("(float[] t) {", "(float[] t) <float[2] w = {2, 2}> {")
        model = text_model(f"c = If(k) {hiding}", K, constants="float[2] w = {100, 100}")
        with one_line(ModelError, "initializer 'w' of graph 'then' has the name of a value around it", "rename it"):
            load(model)


class TestErrors:
    """A node that cannot be run: one line that names it, its operator and the reason."""

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ("[n] c = Foo(a)", ("node 'n' (Foo)", "does not implement")),
            ("[n] c = d.Foo(a)", ("node 'n' (d.Foo)", "does not implement")),
            ("[n] c = Cast(a)", ("node 'n' (Cast)", "'to'")),
            ("[n] c = Transpose <perm = [0, 1]> (a)", ("node 'n' (Transpose)",)),
            ("[n] c = MatMul(a, m)", ("node 'n' (MatMul)",)),
            ("[n] c = Neg(a, b)", ("node 'n' (Neg)",)),
            ("[n] c = Neg <run = 1> (a)", ("node 'n' (Neg)",)),
            # Of nested nodes the innermost is named.
            (f"[m] c = If(k) {branches('[n] t = Transpose <perm = [0, 1]> (a)')}", ("node 'n' (Transpose)",)),
            ("c = SequenceConstruct(a)", ("output 'c' is not a tensor",)),
            ("b2 = Reshape(a, s) [n] c = GroupNormalization(b2, b, b)", ("cannot be run: ", "num_groups")),
            ("[n] x, more = Neg(a) c = Div(x, more)", ("node 'n' (Neg) does not produce its output 'more', which is",)),
            (
                f"[n] x, more = Neg(a) c = If(k) {branches('t = Div(x, more)')}",
                ("does not produce its output, which is used",),
            ),
        ],
    )
    def test_of_other_operators(self, nodes: str, parts: tuple[str, ...]) -> None:
        constants = "bool k = {1}, float[3] m = {1, 1, 1}, int64[3] s = {1, 2, 1}"
        model = load(text_model(nodes, outputs="float[] c", constants=constants, opset=21))
        with one_line(ModelError, *parts):
            model.run({"a": A, "b": B})

    def test_of_types_that_only_the_run_knows(self) -> None:
        # The evaluator takes a TypeError for its own; ours must come through as they are.
        nodes = f"x = If(k) {branches('t = Cast <to = 9> (a)', 't = Identity(a)')} y = d.Foo(x)"
        function = "Foo (p) => (q) { [n] q = Reciprocal(p) }"
        model = load(text_model(nodes, "float[2] a, bool k", "float[2] y", function))
        assert model.run({"a": B, "k": np.array(False)})["y"].tolist() == (np.float32(1) / B).tolist()
        with one_line(ElementTypeError, "node 'n' (Reciprocal-13 in Foo)", "bool"):
            model.run({"a": B, "k": np.array(True)})


class TestOutputs:
    """Outputs that the evaluator does not give, or that have no name."""

    def test_a_value_that_is_not_given_and_not_used(self) -> None:
        model = load(text_model("b, more = Neg(a) c = Div(b, a)", "float[2] a"))
        assert model.run({"a": A})["c"].tolist() == [-1, -1]

    def test_outputs_without_a_name_are_no_inputs(self) -> None:
        nodes = ", places = TopK(a, one) c = Clip(a, , most)"
        constants = "float most = {7}, int64[1] one = {1}"
        model = load(text_model(nodes, "float[2] a", "float[2] c, int64[1] places", constants=constants))
        assert model.run({"a": A})["c"].tolist() == [6, 7]


def test_floating_point_exceptions_make_no_noise(capfd: pytest.CaptureFixture[str]) -> None:
    model = load(text_model("l = Log(a) e = Exp(b) m = Mul(l, e) c = Div(m, l)"))
    output = model.run({"a": np.array([0, -1], np.float32), "b": np.array([1000, 1], np.float32)})["c"]
    assert np.isnan(output[1])
    assert capfd.readouterr() == ("", "")
