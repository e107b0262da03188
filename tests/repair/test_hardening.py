"""Hardening of whole models: which divisions are rewritten, and what the result computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, checker, helper, shape_inference

import vinculum
from tests.fake_runtime import RefusesFaults
from tests.models.built_models import one_line, text_model
from tests.repair.fakes import TOLERATED, division, outcomes
from vinculum.errors import AttributeValueError, ModelError
from vinculum.repair import Hardening, Runtime, harden
from vinculum.spec import element_types
from vinculum.spec.element_types import INT32, INT64

N = helper.make_node
I64 = TensorProto.INT64
MIN = -(2**63)
A = np.array([MIN, 7, -7, 5, 0])
B = np.array([-1, -2, 2, 0, 0])
EXPECTED = [MIN, -3, -3, 0, 0]
NARROW_A = np.array([-(2**31) + 1, 7, -7, 5, 0])


def names(hardening: Hardening) -> dict[str, bool]:
    """Return the paths of the divisions and whether they were rewritten."""
    return {f"{d.path}:{d.name}": d.rewritten for d in hardening.decisions}


IN = "int64[5] A, int64[5] B"
RATIO = "Ratio (p, q) => (r) { [ratio] r = Div(p, q) }"


def in_if() -> ModelProto:
    then = "() => (int64[5] r) { [ratio] r = Div(A, B) }"
    otherwise = "() => (int64[5] r) <int64 seven = {7}> { [safe] r = Div(A, seven) }"
    nodes = f"[choice] C = If (yes) <then_branch = then {then}, else_branch = otherwise {otherwise}>"
    return text_model(nodes, f"{IN}, bool yes", "int64[5] C", ir_version=8)


def in_function() -> ModelProto:
    return text_model("[call] C = d.Ratio(A, B)", IN, "int64[5] C", RATIO, ir_version=9)


def of_two_types() -> ModelProto:
    inputs = f"{IN}, int32[2] X, int32[2] Y"
    return text_model("[call] C = d.Ratio(A, B) Z = d.Ratio(X, Y)", inputs, "int64[5] C, int32[2] Z", RATIO)


BODY = "(int64 i, bool go, int64[5] x) => (bool on, int64[5] y) { on = Identity(go) [ratio] y = Div(x, B) }"
BODIES = "body = body (int64 p, int64 q) => (int64 r) { [ratio] r = Div(p, q) }"
IN_BODIES = f"""
    C = Scan (A, B) <{BODIES}, num_scan_inputs = 2>
    dividends = SplitToSequence <keepdims = 0> (A)
    divisors = SplitToSequence <keepdims = 0> (B)
    quotients = SequenceMap (dividends, divisors) <{BODIES}>
    D = ConcatFromSequence <axis = 0, new_axis = 1> (quotients)
"""
IN_USE = "[ratio] C = Div(A, B) [ratio_overflows_And] ratio_overflows = Identity(A) [ratio] D = Div(C, A)"
IN_NEWER_FUNCTION, EVERYWHERE = in_function(), in_if()
IN_NEWER_FUNCTION.opset_import[0].version = 18
TWICE = text_model("[first] D = Div(A, B) E = Div(B, A) F = d.Ratio(A, B)", IN, "", RATIO)
EVERYWHERE.graph.node.extend(TWICE.graph.node)
EVERYWHERE.graph.output.extend(helper.make_tensor_value_info(name, I64, (5,)) for name in "DEF")
EVERYWHERE.functions.extend(TWICE.functions)
MODELS = {
    "in a branch": in_if(),
    "in a loop": text_model(
        f"C = Loop (once, true, A) <body = body {BODY}>",
        IN,
        "int64[5] C",
        constants="int64 once = {1}, bool true = {1}",
    ),
    "in a function": in_function(),
    "in a function of another operator set with the same operators": IN_NEWER_FUNCTION,
    "in a function of two element types": of_two_types(),
    "in bodies": text_model(IN_BODIES, IN, "int64[5] C, int64[5] D", ir_version=8),
    "everywhere": EVERYWHERE,
    "names in use": text_model(IN_USE, IN, "int64[5] C, int64[5] D, int64[5] ratio_overflows"),
}
"""Models that divide at every depth, in subgraphs and functions."""
MADE = {
    "in a branch": ({"If:then_branch:ratio": True, "If:else_branch:safe": False}, ["Div_int64"], 0),
    "in a loop": ({"Loop:body:ratio": True}, ["Div_int64"], 0),
    "in a function": ({"Ratio:ratio": True}, ["Div_int64", "Ratio"], 0),
    "in a function of two element types": ({":ratio__1": True, ":ratio__2": True}, ["Div_int64", "Div_int32"], 1),
    "in bodies": ({"Scan:body:ratio": True, "SequenceMap:body:ratio": True}, ["Div_int64"], 0),
    "names in use": ({":ratio": True}, ["Div_int64"], 0),
}
"""For ONNX Runtime: whether each division is rewritten, the functions, and the number of inlined ones."""


def inputs_of(model: ModelProto, narrow: bool) -> dict[str, Any]:
    """Return inputs for which divisions go wrong; for OpenVINO within int32."""
    low = -(2**31)
    inputs = {"A": NARROW_A if narrow else A, "B": B, "yes": np.array(True)}
    inputs |= {"X": np.array([low + narrow, 7], np.int32), "Y": np.array([-1, 0], np.int32)}
    return {value.name: inputs[value.name] for value in model.graph.input}


class TestEveryModel:
    """A hardened model computes the same on every runtime, and has no zero divisor; the given model is not changed."""

    @pytest.mark.parametrize("place", MODELS)
    @pytest.mark.parametrize("runtime", TOLERATED)
    def test_on_every_target(self, place: str, runtime: Runtime) -> None:
        model = MODELS[place]
        before, inputs = model.SerializeToString(deterministic=True), inputs_of(model, runtime == "openvino")
        hardened = harden(model, runtime).model
        assert model.SerializeToString(deterministic=True) == before
        expected = [x.tolist() for x in vinculum.load(model).run(inputs, zero_divisor="zero").values()]
        assert [x.tolist() for x in vinculum.load(hardened).run(inputs).values()] == expected
        for behaviour in TOLERATED[runtime]:
            (found,) = outcomes(behaviour, [(hardened, inputs)])
            assert [x.tolist() for x in found] == expected

    @pytest.mark.parametrize("place", MADE)
    def test_what_is_made(self, place: str) -> None:
        hardened = harden(MODELS[place], "onnxruntime")
        assert (names(hardened), [f.name for f in hardened.model.functions], hardened.inlined) == MADE[place]
        if place == "in a branch":
            assert hardened.model.graph.node[0].attribute[1] == MODELS[place].graph.node[0].attribute[1]


class TestModels:
    """Only risky divisions of integers are rewritten, and what a node carries is kept."""

    @pytest.mark.parametrize("target", ["onnxruntime", "portable"])  # A function, and nodes.
    def test_what_the_exporter_wrote_about_a_node_is_kept(self, target: Runtime) -> None:
        model = division(INT64, (5,), (5,))
        node = model.graph.node[0]
        node.doc_string = "mean of the batch"
        node.metadata_props.add(key="stack_trace", value="model.py, line 7")
        (kept,) = (made for made in harden(model, target).model.graph.node if "C" in made.output)
        assert (kept.name, kept.doc_string) == ("ratio", node.doc_string)
        assert [one for one in kept.metadata_props if one.key == "stack_trace"] == list(node.metadata_props)

    @pytest.mark.parametrize("target", ["onnxruntime", "openvino", "portable"])
    def test_a_model_without_risk_is_the_same(self, target: Runtime) -> None:
        """Also one with a function, which OpenVINO does not support."""
        model = text_model("c = d.F(a, b)", "float[2] a, float[2] b", "float[2] c", "F (x, y) => (z) { z = Div(x, y) }")
        assert harden(model, target).model == model

    def test_every_node_of_a_guard_has_a_name_of_its_own(self) -> None:
        nodes = harden(division(INT64, (5,), (5,)), "portable").model.graph.node
        made = [node.name for node in nodes if node.output[0].startswith("ratio_")]
        assert len(set(made) - {""}) == len(made) > 20

    def test_a_function_that_is_called_div_is_none(self) -> None:
        model = division(INT64, (5,), (5,))
        model.ir_version = 10
        product = [N("Mul", ["p", "q"], ["r"])]
        model.functions.append(helper.make_function("", "Div", ["p", "q"], ["r"], product, model.opset_import))
        hardened = harden(model, "onnxruntime")
        assert (hardened.model, names(hardened)) == (model, {})

    def test_old_operator_sets(self) -> None:
        """Below operator set 9 a model is refused if a division needs a guard."""
        for opset, version in ((8, 7), (6, 6)):
            words = f"node 'ratio' (Div-{version}) is of operator set {opset}, and guards begin at 9; convert the model"
            with one_line(ModelError, words, "vinculum convert --opset 17"):
                harden(division(INT64, (5,), (5,), opset=opset), "onnxruntime")
        assert names(harden(division(element_types.FLOAT, (5,), (5,), opset=8), "portable")) == {":ratio": False}

    @pytest.mark.parametrize(("code", "named"), [("int64", {":rest": True}), ("float", {})])
    def test_remainders_of_floats_are_left_alone(self, code: str, named: dict[str, bool]) -> None:
        model = text_model("[rest] b = Mod <fmod = 1> (a, a)", f"{code}[1] a", f"{code}[1] b")
        assert names(harden(model, "onnxruntime")) == named


class TestGuardFunctions:
    """A division becomes a call of a function, which all divisions that are alike share."""

    def test_what_differs_has_a_function_of_its_own(self) -> None:
        nodes = "C = Div(A, B) D = Div(A, minus) E = Mod <fmod = 1> (A, B)"
        model = text_model(nodes, IN, "int64[5] C", constants="int64 minus = {-1}")
        hardened = harden(model, "onnxruntime").model
        assert [f.name for f in hardened.functions] == ["Div_int64", "Div_int64_2", "Fmod_int64"]
        checker.check_model(hardened, full_check=True)

    def test_a_name_in_use_is_not_taken(self) -> None:
        model = division(INT64, (5,), (5,))
        model.ir_version = 9
        model.functions.append(
            helper.make_function("vinculum", "Div_int64", ["a"], ["b"], [N("Neg", ["a"], ["b"])], model.opset_import)
        )
        hardened = harden(model, "onnxruntime").model
        assert [f.name for f in hardened.functions] == ["Div_int64_2", "Div_int64"]
        assert hardened.functions[1] == model.functions[0]
        twice = harden(hardened, "onnxruntime").model
        assert (twice.functions[0].name, len(twice.opset_import)) == ("Div_int64_3", len(hardened.opset_import))
        checker.check_model(hardened, full_check=True)

    @pytest.mark.parametrize(("opset", "before", "after"), [(9, 3, 8), (17, 8, 8), (17, 10, 10)])
    def test_the_ir_version_is_one_that_holds_functions(self, opset: int, before: int, after: int) -> None:
        model = division(INT64, (5,), (5,), opset=opset)
        model.ir_version = before
        hardened = harden(model, "onnxruntime").model
        assert (hardened.ir_version, len(hardened.functions)) == (after, 1)
        (outcome,) = outcomes(RefusesFaults, [(hardened, {"A": A, "B": B, "unused": np.zeros(1, np.float32)})])
        assert outcome[0].tolist() == EXPECTED

    def test_a_remainder_whose_kind_the_call_decides(self) -> None:
        model = in_function()
        (node,) = model.functions[0].node
        node.op_type = "Mod"
        node.attribute.add(name="fmod", ref_attr_name="kind", type=AttributeProto.INT)
        model.functions[0].attribute.append("kind")
        model.graph.node[0].attribute.append(helper.make_attribute("kind", 1))
        hardened = harden(model, "onnxruntime").model
        assert [f.name for f in hardened.functions] == ["Fmod_int64"]
        (outcome,) = outcomes(RefusesFaults, [(hardened, {"A": A, "B": B})])
        assert outcome[0].tolist() == [0, 1, -1, 0, 0]

    def test_shapes_are_inferred_through_it(self) -> None:
        model = division(INT64, ("n", 1), (3,))
        model.graph.node.append(N("Neg", ["C"], ["negated"]))
        for each in (model, harden(model, "onnxruntime").model):
            types = {info.name: info.type for info in shape_inference.infer_shapes(each).graph.value_info}
            dims = types["negated"].tensor_type.shape.dim
            assert [dim.dim_param or dim.dim_value for dim in dims] == ["n", 3]


class TestLeft:
    """A division whose element type is not known is left, and named."""

    @pytest.mark.parametrize("operator", ["Div", "Mod"])
    def test_an_unknown_element_type(self, operator: str) -> None:
        model = text_model(f"y = d.Surprise(x) [n] z = {operator}(y, y)", "float[1] x", "")
        hardened = harden(model, "portable")
        assert [(d.name, d.why.split(",")[0]) for d in hardened.left] == [("n", "its element type is not known")]
        assert hardened.model == model

    def test_a_function_of_two_types_that_cannot_be_inlined(self) -> None:
        model = of_two_types()
        model.opset_import[0].version = 13
        hardened = harden(model, "onnxruntime")
        (left,) = hardened.left
        assert (left.label, left.rewritten) == ("node 'ratio' (Div-14 in Ratio)", False)
        assert "inline the function" in left.why
        assert hardened.model == model


_NO_ERROR = ", and no ONNX operator can raise an error; allowed here: "


class TestRefused:
    """A model that cannot be hardened is refused in one line that names the division."""

    @pytest.mark.parametrize("runtime", ["portable", "openvino"])
    def test_a_function_of_another_operator_set(self, runtime: Runtime) -> None:
        model = in_function()
        model.opset_import[0].version = 13
        with one_line(ModelError, "'Ratio'", "operator set 17", "vinculum convert --opset 17"):
            harden(model, runtime)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"zero_divisor": "raise"}, f"'raise'{_NO_ERROR}'zero', 'saturate'"),
            ({"overflow": "raise"}, f"'raise'{_NO_ERROR}'wrap', 'saturate'"),
            ({"zero_divisor": "one"}, "zero_divisor is 'one'; allowed here: 'zero', 'saturate'"),
            ({"runtime": "cuda"}, "the runtime is 'cuda'; allowed: onnxruntime, openvino, portable"),
        ],
    )
    def test_other_words(self, arguments: Any, words: str) -> None:
        with one_line(AttributeValueError, words):
            harden(division(INT32, (5,), (5,)), **{"runtime": "onnxruntime", **arguments})
