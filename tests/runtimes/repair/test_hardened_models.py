"""Hardened models on the real runtimes: every integer type, policy, operator set and choice of constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper, load

from tests.models.built_models import text_model, written
from tests.repair.test_guards import INTEGERS, OPSETS, PLACES, WIDE, all_pairs, check, model_of
from tests.repair.test_hardening import EXPECTED, A, B, in_function
from vinculum.models.engines.model_runner import NAMES, Case, run_cases
from vinculum.models.sampling.comparison import check_equal
from vinculum.repair import Runtime, harden, harden_file
from vinculum.spec.element_types import BFLOAT16, INT32

TARGETS: list[tuple[Runtime, str]] = [
    ("onnxruntime", "onnxruntime"),
    ("openvino", "openvino"),
    ("portable", "onnxruntime"),
    ("portable", "reference"),
]


def ran(runtime: str, model: ModelProto, inputs: Mapping[str, Any]) -> Sequence[NDArray[Any]]:
    """Return what a runtime computes in a process of its own."""
    (outcome,) = run_cases(runtime, [Case(model.SerializeToString(), inputs)])
    assert outcome.problem is None, (NAMES[runtime], outcome.problem)
    return outcome.outputs


class TestEveryPair:
    """Quotients of each type and policy, at run time and folded, are those of `vinculum.div`."""

    @pytest.mark.parametrize(("target", "runtime"), TARGETS)
    @pytest.mark.parametrize("opset", OPSETS)
    def test_in_every_form(self, target: Runtime, runtime: str, opset: int) -> None:
        places = PLACES[:: 3 if runtime == "openvino" else 1]  # OpenVINO takes a hundred times as long to compile each.
        types = INTEGERS if opset >= 14 else WIDE
        check(lambda model, inputs: ran(runtime, model, inputs), target, types, opset, places)

    @pytest.mark.parametrize("size", [4, "N"])
    def test_saturation_on_openvino(self, size: int | str) -> None:
        """For open sizes OpenVINO uses other kernels, and some compute a Where of integers in float."""
        low, high = INT32.minimum, INT32.maximum
        pair = np.array([low, low, low, high], np.int32), np.array([-1, 1, 0, -1], np.int32)
        for target in ("openvino", "portable"):
            model, inputs = model_of([pair], [""], 17, ["Div"])
            for value in model.graph.input:
                value.type.tensor_type.shape.dim[0].CopyFrom(
                    helper.make_tensor_value_info("x", 1, [size]).type.tensor_type.shape.dim[0]
                )
            (found,) = ran("openvino", harden(model, target, overflow="saturate").model, inputs)
            assert found.tolist() == [high, low, 0, -high]

    def test_bfloat16_on_onnxruntime(self) -> None:
        pair = all_pairs(BFLOAT16, "onnxruntime")
        model, inputs = model_of([pair], [""], 14, ["Div"])
        (found,) = ran("onnxruntime", harden(model, "onnxruntime").model, inputs)
        with np.errstate(all="ignore"):
            check_equal("quotients", pair[0] / pair[1], found, ("NumPy", "ONNX Runtime"))


_BRANCH = "() => (int64[3] r) { q = Div(o, three) r = Mul(q, A) }"
INVERSES = {
    "in a function": "q = d.Third(one) C = Mul(q, A)",
    "in an If": f"o = Identity(one) C = If (yes) <then_branch = t {_BRANCH}, else_branch = e {_BRANCH}>",
    "by folding": "o = Cast<to = 7>(yes) s = Shape(A) e = Expand(three, s) q = Div(o, e) C = Mul(q, A)",
    "of a size": "e = Gather(A, first) s = Shape(e) m = Max(A, three) q = Div(s, m) C = Mul(q, A)",
}
"""Nodes that divide 1 by 3 or more and multiply, by the place where ONNX Runtime finds the 1."""


class TestOnnxRuntime:
    """ONNX Runtime's optimisations of a hardened model change no quotient."""

    @pytest.mark.parametrize("nodes", INVERSES.values(), ids=INVERSES)
    def test_an_inverse_is_not_fused_with_a_product(self, nodes: str) -> None:
        constants = "int64 one = {1}, int64 three = {3}, bool yes = {1}, int64[1] first = {0}"
        third = "Third (p) => (q) { three = Constant <value = int64 {3}> () q = Div(p, three) }"
        model = text_model(nodes, "int64[n] A", "int64[n] C", third, constants=constants, ir_version=9)
        (found,) = ran("onnxruntime", harden(model, "onnxruntime").model, {"A": np.array([10, 7, -9])})
        assert found.tolist() == [0, 0, 0]

    @pytest.mark.parametrize("around", [18, 19])  # In 19 a Constant, a Cast and an Equal are others.
    def test_a_function_of_another_operator_set_calls_one_of_the_model_s(self, around: int) -> None:
        model = in_function()
        model.opset_import[0].version = around
        (found,) = ran("onnxruntime", harden(model, "onnxruntime").model, {"A": A, "B": B})
        assert found.tolist() == EXPECTED


@pytest.mark.parametrize("target", ["onnxruntime", "openvino", "portable"])
@pytest.mark.parametrize("operator", ["Div", "Mod"])
def test_files_validated(tmp_path: Path, target: Runtime, operator: str) -> None:
    """The validation accepts correct rewrites on the real runtimes."""
    source = written(text_model(f"c = {operator}(a, b)", "int64[n] a, int64[n] b", "int64[n] c"), tmp_path)
    validation = harden_file(source, source.with_name("hardened.onnx"), target).validation
    assert validation is not None
    assert validation.rewrites == 1


@pytest.mark.filterwarnings("ignore")  # What the exporters advise.
@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize(
    ("rounding", "expected"), [("trunc", [16777217, -16777217, -3]), ("floor", [16777217, -16777217, -4])]
)
def test_py_torch_an_export(
    torch_or_skip: Any, tmp_path: Path, dynamo: bool, rounding: str, expected: list[int]
) -> None:
    """The integer divisions that PyTorch's exporters write in floats are found."""
    file = tmp_path / "model.onnx"
    _export(torch_or_skip, file, rounding, dynamo=dynamo)
    hardening = harden(load(file), "onnxruntime", fix_exported=True)
    assert any("the exporter wrote" in decision.why for decision in hardening.decisions)
    operands = {"a": np.array([16777217, -16777217, -7]), "b": np.array([1, 1, 2])}
    assert ran("onnxruntime", hardening.model, operands)[0].tolist() == expected


def _export(torch: Any, file: Path, rounding: str, *, dynamo: bool) -> None:
    class Quotient(torch.nn.Module):  # type: ignore[misc]  # its types are not looked at here
        def forward(self, a: Any, b: Any) -> Any:
            if dynamo:
                return torch.div(a, b, rounding_mode=rounding)
            # The older exporter writes such a div in integers; but so it writes what a user wrote in floats.
            return (torch.floor(a / b) if rounding == "floor" else a / b).to(torch.int64)

    operands = (torch.tensor([7, 7, 7]), torch.tensor([2, 2, 2]))
    torch.onnx.export(Quotient().eval(), operands, str(file), dynamo=dynamo, input_names=["a", "b"])
