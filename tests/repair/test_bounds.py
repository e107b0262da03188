"""Divisions that the analysis proves harmless need no guard, and all others keep one.

`bounds.txt` records the decision about each of some models on each target. Record anew with
``python -m tests.repair.test_bounds``, and look at what has changed.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
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

TARGETS: tuple[Runtime, ...] = ("onnxruntime", "openvino", "portable")
RECORDED = Path(__file__).with_name("bounds.txt")
BLOCKS = RECORDED.read_text("utf-8").rstrip("\n").split("\n\n")
CONSTANTS = "int64 one = {1}, int64 zero = {0}, int64 nine = {9}, int64 minus = {-1}, int64[2] pair = {1, 1}"


def model_of(
    nodes: str,
    inputs: str = "int64[n] a, int64[n] b, int64[1] one_element",
    outputs: str = "int64[n] c",
    *functions: str,
) -> ModelProto:
    return text_model(nodes, inputs, outputs, *functions, constants=CONSTANTS, opset=18)


def run(model: ModelProto, target: Runtime) -> None:
    """Compare a hardened model with our engine on all pairs of edge values."""
    hardened = harden(model, target).model
    for element_type in (INT32, INT64):  # OpenVINO has only int32.
        if element_type is INT32 or target != "openvino":
            values = edge_values(element_type).astype(np.int64)
            values = values[values > INT32.minimum] if element_type is INT32 else values
            a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(values, values))
            inputs = {"a": a, "b": b, "one_element": np.array([5])}
            wanted: Any = list(vinculum.load(model).run(inputs, zero_divisor="zero").values())
            for behaviour in TOLERATED[target]:
                if behaviour is RefusesFaults or target != "portable" or element_type is INT32:
                    (found,) = outcomes(behaviour, [(hardened, inputs)])
                    assert [x.tolist() for x in found] == [x.tolist() for x in wanted]


def recorded(nodes: str) -> str:
    """Return nodes, and below them the decision about their division on each target."""
    model, lines = model_of(nodes), [nodes]
    for target in TARGETS:
        (decision,) = harden(model, target).decisions
        lines.append(f"  {target}: {decision.what or f'left, as {decision.why}'}")
    return "\n".join(lines)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0])
def test_as_recorded(block: str) -> None:
    nodes = block.split("\n")[0]
    assert recorded(nodes) == block
    for target in TARGETS:
        run(model_of(nodes), target)


def test_the_values_of_two_calls_are_known_if_those_of_both_are() -> None:
    one, other = (Bounds(divisor=np.array(values)) for values in ([1, 2], [2, 3]))
    both = one.and_also(other)
    assert both.divisor is not None
    assert both.divisor.tolist() == [1, 2, 3]
    for first, second in ((one, Bounds()), (Bounds(), one)):
        assert first.and_also(second).divisor is None


class TestProved:
    """A division that is proved harmless is not changed on ONNX Runtime."""

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
    """The values of an operand are known only if they are the same in every run."""

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
    """A division that is not proved harmless for every input and size is guarded."""

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

    def test_sizes_beyond_int32_count(self) -> None:
        """ONNX Runtime takes an array of 2**32 - 1 rows of no elements, whose size cast to int32 is -1."""
        size = "s = Shape <start = 0, end = 1> (e) t = Cast <to = 6> (s) u = Cast <to = 7> (t)"
        nodes = f"{size} d = Add(u, one) c = Div(a, d)"
        (decision,) = harden(model_of(nodes, "int64[n] a, uint8[m, 0] e"), "onnxruntime").decisions
        assert decision.rewritten

    def test_nothing_is_proved_of_a_model_that_cannot_be_analysed(self) -> None:
        model = model_of("c = Div(a, b)")
        model.graph.node[0].input[1] = "missing"
        assert bounds_of(model) == {}


if __name__ == "__main__":
    RECORDED.write_text("\n\n".join(recorded(block.split("\n")[0]) for block in BLOCKS) + "\n", "utf-8")
