"""Hardened divisions and remainders on the real runtimes: every integer type, policy, operator set and place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

import vinculum
from vinculum.models.engines.model_runner import Outcome
from vinculum.models.harden import Runtime, harden
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.sampling.edge_values import edge_values
from vinculum.ops.policies import Overflow, ZeroDivisor
from vinculum.spec.element_types import (
    BFLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ElementType,
)
from vinculum.tensors.storage import dtype_of

INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
POLICIES: tuple[tuple[ZeroDivisor, Overflow], ...] = (("zero", "wrap"), ("saturate", "saturate"))
PLACES = ("", "A", "B", "AB")
"""Which operands are constants."""

Division = Callable[..., ModelProto]
Outcomes = Callable[..., list[Outcome]]
Pair = tuple[NDArray[Any], NDArray[Any]]


def all_pairs(element_type: ElementType, largest: int | None = None, smallest: int = 0) -> Pair:
    """Return every edge value with every other; those from `smallest` to `largest` if it is given."""
    values = edge_values(element_type)
    if largest is not None:
        wide = values.astype(object)
        values = values[(wide <= largest) & (wide >= smallest)]
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def opsets(element_type: ElementType) -> tuple[int, ...]:
    """Return operator sets in which the guards are written differently."""
    return (7, 9, 14, 21) if element_type.bits >= 32 else (14, 21)


def check(
    outcomes: Outcomes,
    division: Division,
    ran_on: str,
    runtime: Runtime,
    element_type: ElementType,
    operands: Callable[[ZeroDivisor], Pair],
    *,
    fmod: int | None = None,
    pairwise: bool = False,
) -> None:
    """Demand of a hardened division what our engine gives, in any operator set, policy and place, or two of them.

    With fmod it is a remainder, and Python's integers say what it is.
    """
    kinds = list(_kinds(element_type, runtime, pairwise=pairwise))
    if fmod is not None:
        kinds = [kind for kind in kinds if kind[0] >= 10]  # Before, there is no Mod.
    cases, expected = [], []
    for opset, place, zero_divisor, overflow in kinds:
        a, b = operands(zero_divisor)
        arrays = {"A": a, "B": b}
        shown = [arrays[name] if name in place else arrays[name].shape for name in "AB"]
        model = division(element_type, *shown, opset=opset)
        if fmod is not None:
            model.graph.node[0].op_type = "Mod"
            model.graph.node[0].attribute.append(helper.make_attribute("fmod", fmod))
        inputs = {name: array for name, array in arrays.items() if name not in place}
        hardened = harden(model, runtime, zero_divisor=zero_divisor, overflow=overflow)
        cases.append((hardened.model, inputs | {"unused": np.zeros(1, np.float32)}))
        if fmod is None:
            expected.append(vinculum.div(a, b, opset=opset, zero_divisor=zero_divisor, overflow=overflow))
        else:
            expected.append(remainders(a, b, fmod))
    found = outcomes(ran_on, cases)
    assert len(found) == len(cases)
    for kind, outcome, want in zip(kinds, found, expected, strict=True):
        assert outcome.problem is None, (kind, outcome.problem)
        check_equal(str(kind), want, outcome.outputs[0], ("expected", ran_on))


def remainders(a: NDArray[Any], b: NDArray[Any], fmod: int) -> NDArray[Any]:
    """Return exact remainders, 0 for a zero divisor."""
    wide_a, wide_b = a.astype(object), np.where(b == 0, 1, b.astype(object))
    floored = wide_a % wide_b
    truncated = floored - wide_b * ((floored != 0) & ((wide_a < 0) != (wide_b < 0)))
    return np.where(b == 0, 0, truncated if fmod else floored).astype(a.dtype)


def _kinds(
    element_type: ElementType, runtime: Runtime, *, pairwise: bool
) -> Iterator[tuple[int, str, ZeroDivisor, Overflow]]:
    kinds = product(enumerate(opsets(element_type)), enumerate(POLICIES), enumerate(PLACES))
    for (i, opset), (j, (zero_divisor, overflow)), (k, place) in kinds:
        if pairwise and (i + j + k) % 2:
            continue  # Each two of the three remain together.
        if runtime == "openvino" and element_type.maximum > INT32.maximum:
            zero_divisor = "zero"  # The other policy is refused there.
        yield opset, place, zero_divisor, overflow


class TestOnnxRuntime:
    """Issue 3, point 5: hardened for ONNX Runtime, no pair of integers is wrong or kills the process."""

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_every_pair(self, outcomes: Outcomes, division: Division, element_type: ElementType) -> None:
        pairs = all_pairs(element_type)
        check(outcomes, division, "onnxruntime", "onnxruntime", element_type, lambda _: pairs)

    @pytest.mark.parametrize("operator", ["Div", "Reciprocal"])
    def test_bfloat16_is_carried_by_float(self, outcomes: Outcomes, operator: str) -> None:
        a, b = all_pairs(BFLOAT16)
        names = ["A", "B"] if operator == "Div" else ["B"]
        declared = [helper.make_tensor_value_info(name, TensorProto.BFLOAT16, a.shape) for name in (*names, "C")]
        node = helper.make_node(operator, names, ["C"], "n")
        graph = helper.make_graph([node], "g", declared[:-1], declared[-1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
        hardened = harden(model, "onnxruntime")
        (outcome,) = outcomes("onnxruntime", [(hardened.model, {"A": a, "B": b} if operator == "Div" else {"B": b})])
        assert outcome.problem is None
        want = vinculum.div(a, b) if operator == "Div" else vinculum.reciprocal(b)
        assert want.dtype == ml_dtypes.bfloat16
        check_equal(operator, want, outcome.outputs[0], ("our engine", "ONNX Runtime"))

    @pytest.mark.parametrize("element_type", [INT32, INT64], ids=str)
    def test_an_inverse_is_not_fused_with_a_product(self, outcomes: Outcomes, element_type: ElementType) -> None:
        # ONNX Runtime makes 1/b*c into c/b, with integers too: 1/2*6 becomes 3.
        dtype = dtype_of(element_type)
        code = element_type.onnx_code or 0
        nodes = [helper.make_node("Div", ["one", "B"], ["q"], "n"), helper.make_node("Mul", ["q", "c"], ["C"])]
        constants = [numpy_helper.from_array(np.array(1, dtype), "one")]
        divisors = np.array([1, 2, 3], dtype)
        cases = []
        for constant in (True, False):
            inputs = {"c": np.array([6, 6, 6], dtype)} | ({} if constant else {"B": divisors})
            declared = [helper.make_tensor_value_info(name, code, (3,)) for name in inputs]
            given = [*constants, numpy_helper.from_array(divisors, "B")] if constant else constants
            output = helper.make_tensor_value_info("C", code, (3,))
            graph = helper.make_graph(nodes, "g", declared, [output], given)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
            cases.append((harden(model, "onnxruntime").model, inputs))
        for outcome in outcomes("onnxruntime", cases):
            assert outcome.outputs[0].tolist() == [6, 0, 0]


class TestOpenVino:
    """Hardened for OpenVINO, every quotient is truncated exactly, at run time and folded, within its int32."""

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    @pytest.mark.parametrize(
        "pairwise", [pytest.param(True, id="two of three"), pytest.param(False, id="all", marks=pytest.mark.exhaustive)]
    )
    def test_every_pair(
        self, outcomes: Outcomes, division: Division, element_type: ElementType, pairwise: bool
    ) -> None:
        def operands(zero_divisor: ZeroDivisor) -> Pair:
            a, b = all_pairs(element_type, INT32.maximum, INT32.minimum)
            if element_type is not INT64:
                return a, b
            beyond = (a == INT32.minimum) & (b == -1)  # The quotient is not within int32.
            return a[~beyond], b[~beyond]

        check(outcomes, division, "openvino", "openvino", element_type, operands, pairwise=pairwise)


class TestPortable:
    """The portable form is right on ONNX Runtime, the reference evaluator, and OpenVINO strictly within its int32."""

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    @pytest.mark.parametrize("ran_on", ["onnxruntime", "reference"])
    def test_every_pair(self, outcomes: Outcomes, division: Division, element_type: ElementType, ran_on: str) -> None:
        pairs = all_pairs(element_type)
        check(outcomes, division, ran_on, "portable", element_type, lambda _: pairs)

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_every_pair_within_int32_on_openvino(
        self, outcomes: Outcomes, division: Division, element_type: ElementType
    ) -> None:
        wide = element_type.maximum > INT32.maximum

        def operands(zero_divisor: ZeroDivisor) -> Pair:
            a, b = all_pairs(element_type, INT32.maximum, INT32.minimum + 1) if wide else all_pairs(element_type)
            if not wide or zero_divisor == "zero":
                return a, b
            return a[b != 0], b[b != 0]  # The largest of the type is not within int32.

        # The same models run in every kind on the other two; OpenVINO takes a hundred times as long to compile each.
        check(outcomes, division, "openvino", "portable", element_type, operands, pairwise=True)


class TestRemainders:
    """Hardened remainders are exact, of either sign, for every pair on every runtime; x mod 0 gives 0."""

    @pytest.mark.parametrize("fmod", [0, 1])
    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    @pytest.mark.parametrize(
        ("runtime", "ran_on"),
        [
            ("onnxruntime", "onnxruntime"),
            ("openvino", "openvino"),
            ("portable", "onnxruntime"),
            ("portable", "reference"),
        ],
    )
    def test_every_pair(
        self,
        outcomes: Outcomes,
        division: Division,
        element_type: ElementType,
        runtime: Runtime,
        ran_on: str,
        fmod: int,
    ) -> None:
        narrow = (INT32.maximum, INT32.minimum) if runtime == "openvino" else ()
        pairs = all_pairs(element_type, *narrow)
        slow = runtime == "openvino"
        check(outcomes, division, ran_on, runtime, element_type, lambda _: pairs, fmod=fmod, pairwise=slow)


class TestShapes:
    """Operands of any two shapes that broadcast are hardened, empty ones and those of rank 0 included."""

    SHAPES = (((), ()), ((3, 1), (2,)), ((2,), (3, 1)), ((0, 2), (1,)), ((2, 3), ()), ((1,), (2, 1, 3)))

    @pytest.mark.parametrize(
        ("runtime", "ran_on"),
        [
            ("onnxruntime", "onnxruntime"),
            ("openvino", "openvino"),
            ("portable", "onnxruntime"),
            ("portable", "reference"),
        ],
    )
    @pytest.mark.parametrize("element_type", [INT8, INT32, INT64, UINT64], ids=str)
    def test_shapes(
        self, outcomes: Outcomes, division: Division, element_type: ElementType, runtime: Runtime, ran_on: str
    ) -> None:
        cases, expected = [], []
        for a_shape, b_shape in self.SHAPES:
            dtype = dtype_of(element_type)
            a = np.resize(np.array([5, 98, 1], dtype), a_shape)
            a = np.asarray(-a) if element_type.minimum else a
            b = np.resize(np.array([0, 2, 3], dtype), b_shape)
            model = division(element_type, a_shape, b_shape)
            inputs = {"A": a, "B": b, "unused": np.zeros(1, np.float32)}
            cases.append((harden(model, runtime).model, inputs))
            expected.append(vinculum.div(a, b, zero_divisor="zero"))
        for outcome, want in zip(outcomes(ran_on, cases), expected, strict=True):
            assert outcome.problem is None
            check_equal("quotient", want, np.asarray(outcome.outputs[0]), ("our engine", ran_on))
