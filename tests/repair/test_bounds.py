"""What the analysis proves needs no guard; what it does not prove keeps one, and no run of the model is refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper
from onnx.inliner import inline_local_functions

import vinculum
from tests.fake_runtime import RefusesFaults
from tests.models.built_models import text_model
from tests.repair.fakes import TOLERATED, outcomes
from vinculum.models.sampling.edge_values import edge_values
from vinculum.repair import Runtime, harden
from vinculum.repair.bounds import Bounds, bounds_of
from vinculum.spec.element_types import ELEMENT_TYPES, INT32, INT64, ElementType

INTEGERS = [each for each in ELEMENT_TYPES if each.is_integer and each.bits >= 8]

CONSTANTS = "int64 one = {1}, int64 zero = {0}, int64 nine = {9}, int64 minus = {-1}, int64[2] pair = {1, 1}"


def model_of(
    nodes: str, inputs: str = "int64[n] a, int64[n] b", outputs: str = "int64[n] c", *functions: str
) -> ModelProto:
    return text_model(nodes, inputs, outputs, *functions, constants=CONSTANTS, opset=18)


REPLACED = "e = Equal(b, zero) d = Where(e, one, b)"
PROVED = {
    "at least one": "d = Max(b, one) c = Div(a, d)",
    "at most minus two": "m = Add(minus, minus) d = Min(b, m) c = Div(a, d)",
    "between bounds": "d = Clip(b, one, nine) c = Div(a, d)",
    "replaced where zero, of dividends that are not negative": f"s = Abs(a) m = Max(s, zero) {REPLACED} c = Div(m, d)",
    "a remainder by at least one": "d = Max(b, one) c = Mod(a, d)",
    "MIN/-1 is replaced": f"l = Constant<value = int64 {{{-(2**63)}}}>() x = Equal(a, l) y = Equal(b, minus) "
    "o = And(x, y) z = Equal(b, zero) u = Or(o, z) d = Where(u, one, b) c = Div(a, d)",
    "by itself": "d = Max(b, one) c = Div(d, d)",
    "by itself, replaced where zero": f"{REPLACED} c = Div(b, d)",
    "by a magnitude, and one": "s = Clip(b, zero, nine) d = Add(s, one) c = Div(a, d)",
}
OPEN = {
    "d = Add(b, one) c = Div(a, d)": "x/0 gives 0, MIN/-1 gives MIN",  # One more, which wraps.
    f"{REPLACED} c = Div(a, d)": "MIN/-1 gives MIN",
    f"s = Abs(a) {REPLACED} c = Div(s, d)": "MIN/-1 gives MIN",  # Of a magnitude, which MIN has none of.
    f"s = Min(a, minus) n = Neg(s) {REPLACED} c = Div(n, d)": "MIN/-1 gives MIN",
    f"s = Min(a, minus) n = Sub(zero, s) {REPLACED} c = Div(n, d)": "MIN/-1 gives MIN",
    "d = Min(b, minus) c = Div(a, d)": "MIN/-1 gives MIN",
    "d = Shape(b) c = Div(a, d)": "x/0 gives 0",  # A size may be 0.
    **dict.fromkeys(
        (  # ONNX Runtime fuses 1/b with a product, where it finds 1: here, in a size, or by a computation.
            "d = Max(b, one) e = Identity(one) q = Div(e, d) c = Mul(q, a)",
            "s = Shape(one_element) d = Max(b, one) q = Div(s, d) c = Mul(q, a)",
            'd = Max(b, one) p = Einsum<equation = "i,i->">(pair, pair) q = Div(p, d) c = Mul(q, a)',
        ),
        "kept separate from a product that follows",
    ),
}


def run(model: ModelProto, target: Runtime) -> None:
    """Demand of a hardened model what our engine gives, of every pair of edge values."""
    hardened = harden(model, target).model
    for element_type in (INT32, INT64):  # OpenVINO has no more than int32.
        if element_type is INT32 or target != "openvino":
            values = edge_values(element_type).astype(np.int64)
            values = values[values > INT32.minimum] if element_type is INT32 else values
            a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(values, values))
            wanted: Any = list(vinculum.load(model).run({"a": a, "b": b}, zero_divisor="zero").values())
            for behaviour in TOLERATED[target]:
                if behaviour is RefusesFaults or target != "portable" or element_type is INT32:
                    (found,) = outcomes(behaviour, [(hardened, {"a": a, "b": b})])
                    assert [x.tolist() for x in found] == [x.tolist() for x in wanted]


NEVER = {
    "d = Clip(b, zero, nine)": {"minus one", "overflow"},
    "d = Max(b, one)": {"minus one", "overflow", "zero"},
    "d = Min(b, minus)": {"zero"},
    "m = Add(minus, minus) d = Min(b, m)": {"minus one", "overflow", "zero"},
    "d = Clip(b, minus, nine)": set(),
}


@pytest.mark.parametrize("divisor", NEVER)
def test_what_a_divisor_never_is(divisor: str) -> None:
    (bounds,) = bounds_of(model_of(f"{divisor} c = Div(a, d)")).values()
    assert bounds.never - {"inverse"} == NEVER[divisor]


def test_the_values_of_two_calls_are_known_if_those_of_both_are() -> None:
    one, other = (Bounds(divisor=np.array(values)) for values in ([1, 2], [2, 3]))
    both = one.and_also(other)
    assert both.divisor is not None
    assert both.divisor.tolist() == [1, 2, 3]
    for first, second in ((one, Bounds()), (Bounds(), one)):
        assert first.and_also(second).divisor is None


class TestProved:
    """What is proved is left alone on ONNX Runtime, and the report says by which bounds."""

    @pytest.mark.parametrize("nodes", PROVED.values(), ids=PROVED)
    def test_no_guard(self, nodes: str) -> None:
        model = model_of(nodes)
        (decision,) = harden(model, "onnxruntime").decisions
        assert not decision.rewritten
        assert ": every divisor lies in [" in decision.why
        run(model, "onnxruntime")

    def test_in_a_second_branch_too(self) -> None:
        both = f"If (yes) <then_branch = t {BRANCH}, else_branch = e {BRANCH}>"
        model = model_of(f"d = Max(b, one) u = {both} c = {both}", "int64[n] a, int64[n] b, bool yes")
        assert [decision.rewritten for decision in harden(model, "onnxruntime").decisions] == [False] * 4

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_of_every_type(self, element_type: ElementType) -> None:
        inputs, output, one = (
            text.format(element_type) for text in ("{0}[n] a, {0}[n] b", "{0}[n] c", "{0} one = {{1}}")
        )
        model = text_model("d = Max(b, one) c = Div(a, d)", inputs, output, constants=one)
        assert not any(decision.rewritten for decision in harden(model, "onnxruntime").decisions)

    @pytest.mark.parametrize("target", ["portable", "openvino"])
    def test_exact_elsewhere(self, target: Runtime) -> None:
        for nodes in PROVED.values():
            run(model_of(nodes), target)

    @pytest.mark.parametrize("ranked", [True, False])
    def test_what_is_hardened_needs_no_more(self, ranked: bool) -> None:
        for element_type, operator in product(("int8", "int32", "int64", "uint64"), ("Div", "Mod")):
            inputs = f"{element_type}[n] a, {element_type}[n] b"
            model = model_of(f"c = {operator}(a, b)", inputs, f"{element_type}[n] c")
            for value in () if ranked else (*model.graph.input, *model.graph.output):
                value.type.tensor_type.ClearField("shape")
            once = inline_local_functions(harden(model, "onnxruntime").model)
            assert not vinculum.check(once, runs=0).findings
            assert harden(once, "onnxruntime").model == once


BRANCH = "() => (int64[n] x) { x = Div(a, d) }"


class TestConstants:
    """What is the same in every run is known, with its values; what may be another in another run is not."""

    @pytest.mark.parametrize(
        ("nodes", "known"),
        [
            ("d = Identity(k) c = Div(a, d)", [1, 3]),
            ("r = Reshape(k, shape) d = Transpose(r) c = Div(a, d)", [1, 3]),
            ("d = Constant <value_ints = [2, 2]> () c = Div(a, d)", [2]),
            ("d = Add(k, k) c = Div(a, d)", [2, 6]),
            (f"d = Identity(k) t = If (yes) <then_branch = t {BRANCH}, else_branch = e {BRANCH}> c = Neg(t)", [1, 3]),
            ("c = Div(a, large)", [2, 5]),
            ("c = Div(a, b)", None),
            ("c = Div(a, given)", None),
            ("d = e.Identity(k) c = Div(a, d)", None),
        ],
    )
    def test_divisors(self, nodes: str, known: list[int] | None) -> None:
        model = model_of(nodes, "int64[n] a, int64[n] b, bool yes, int64[1] given")
        model.opset_import.add(domain="e", version=1)
        arrays = {"k": [[3, 1, 3]], "shape": [3], "given": [7], "large": [2, 5] * 1000}
        model.graph.initializer.extend(numpy_helper.from_array(np.array(x), name) for name, x in arrays.items())
        found = next(iter(bounds_of(model).values()))
        assert (None if found.divisor is None else found.divisor.tolist()) == known

    def test_calls_of_a_function_are_joined(self) -> None:
        function = '<opset_import: ["": 18], domain: "d"> F (p, q) => (r) { r = Div(p, q) }'
        model = model_of("d = d.F(a, one) c = d.F(d, nine)", "int64[n] a", "int64[n] c", function)
        (found,) = bounds_of(model).values()
        assert found.divisor is not None
        assert (found.divisor.tolist(), found.dividend, "inverse" in found.never) == ([1, 9], None, True)

    def test_functions_of_one_name_are_not(self) -> None:
        bodies = [f'<opset_import: ["": 18], domain: "{d}"> F (p, q) => (r) {{ r = Div(p, q) }}' for d in "de"]
        model = model_of("d = d.F(a, one) c = e.F(d, nine)", "int64[n] a", "int64[n] c", *bodies)
        model.opset_import.add(domain="e", version=1)
        found = {path: bounds.high for (path, _), bounds in bounds_of(model).items()}
        assert found == {"d:F": 1, "e:F": 9}


class TestOpen:
    """What is not proved for every input and size is guarded."""

    @pytest.mark.parametrize("nodes", OPEN)
    def test_a_guard(self, nodes: str) -> None:
        model = model_of(nodes, "int64[n] a, int64[n] b, int64[1] one_element")
        (decision,) = harden(model, "onnxruntime").decisions
        assert decision.what == OPEN[nodes]

    def test_an_initializer_that_an_input_overrides(self) -> None:
        model = model_of("d = Max(b, k) c = Div(a, d)", "int64[n] a, int64[n] b, int64 k")
        model.graph.initializer.append(helper.make_tensor("k", 7, (), [1]))
        (decision,) = harden(model, "onnxruntime").decisions
        assert decision.rewritten

    def test_every_call_of_a_function_counts(self) -> None:
        function = '<opset_import: ["": 18], domain: "d"> F (p, q) => (r) { [ratio] r = Mod(p, q) }'
        model = model_of(
            "d = Max(b, one) e = d.F(a, d) c = d.F(e, b)", "int64[n] a, int64[n] b", "int64[n] c", function
        )
        (decision,) = harden(model, "onnxruntime").decisions
        assert decision.what == "x mod 0 gives 0"  # A remainder is never MIN.
        model.graph.node[-1].input[1] = "d"
        assert not any(decision.rewritten for decision in harden(model, "onnxruntime").decisions)

    @pytest.mark.parametrize(
        "nodes",
        [
            PROVED["at least one"],
            "n = Clip(a, zero, nine) d = Max(b, one) c = Div(n, d)",
            "n = Min(a, minus) d = Clip(b, one, nine) c = Div(n, d)",
        ],
    )
    def test_what_openvino_narrows(self, nodes: str) -> None:
        """A divisor of 2**32 is 0 in int32."""
        (decision,) = harden(model_of(nodes), "openvino").decisions
        assert decision.what is not None
        assert decision.what.startswith("x/0 gives 0")

    def test_nothing_is_proved_of_a_model_that_cannot_be_analysed(self) -> None:
        model = model_of("c = Div(a, b)")
        model.graph.node[0].input[1] = "missing"
        assert bounds_of(model) == {}
