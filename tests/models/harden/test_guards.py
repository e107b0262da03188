"""Hardened divisions and remainders on the real runtimes: every integer type, policy, operator set and place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

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
from vinculum.tensors.storage import dtype_of, element_type_of

INTEGERS = [INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64]
POLICIES: tuple[tuple[ZeroDivisor, Overflow], ...] = (("zero", "wrap"), ("saturate", "saturate"))
WIDE = [each for each in INTEGERS if each.bits >= 32]
OPSETS = (7, 9, 14, 21)
"""In which the guards are written differently; before 14 only of the wide types."""
PLACES = ("", "A", "B", "AB")
"""Which operands are constants."""

Outcomes = Callable[..., list[Outcome]]
Pair = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Kind:
    """What models are made for."""

    opset: int
    zero_divisor: ZeroDivisor
    overflow: Overflow
    places: Sequence[str]
    element_types: Sequence[ElementType]


Node = tuple[str, Mapping[str, Any]]
"""An operator and its attributes."""

DIV: Node = ("Div", {})
MODS: tuple[Node, ...] = (("Mod", {"fmod": 0}), ("Mod", {"fmod": 1}))


def all_pairs(element_type: ElementType, largest: int | None = None, smallest: int = 0) -> Pair:
    """Return every edge value with every other; those from `smallest` to `largest` if it is given."""
    values = edge_values(element_type)
    if largest is not None:
        wide = values.astype(object)
        values = values[(wide <= largest) & (wide >= smallest)]
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def check(
    outcomes: Outcomes,
    ran_on: str,
    runtime: Runtime,
    operands: Callable[[ElementType, ZeroDivisor], Pair],
    nodes: Sequence[Node] = (DIV,),
    *,
    pairwise: bool = False,
) -> None:
    """Demand of hardened nodes what our engine gives, in any operator set, policy and place, or two of them.

    One model has the nodes of all element types: to make, check and compile each takes longer than the quotients.
    """
    kinds = list(_kinds(runtime, nodes, pairwise=pairwise))
    asked = [[operands(each, kind.zero_divisor) for each in kind.element_types] for kind in kinds]
    cases = []
    for kind, pairs in zip(kinds, asked, strict=True):
        model, inputs = model_of(pairs, nodes, kind.places, kind.opset)
        hardened = harden(model, runtime, zero_divisor=kind.zero_divisor, overflow=kind.overflow)
        cases.append((hardened.model, inputs))
    for kind, pairs, outcome in zip(kinds, asked, outcomes(ran_on, cases), strict=True):
        assert outcome.problem is None, (kind, outcome.problem)
        found = iter(outcome.outputs)
        for (a, b), node in product(pairs, nodes):
            want = (
                vinculum.div(a, b, opset=kind.opset, zero_divisor=kind.zero_divisor, overflow=kind.overflow)
                if node is DIV
                else remainders(a, b, node[1]["fmod"])
            )
            for place in kind.places:
                name = f"{node} of {a.dtype}, constants {place!r}, {kind}"
                check_equal(name, want, next(found), ("expected", ran_on))
        assert next(found, None) is None


def model_of(
    pairs: Sequence[Pair], nodes: Sequence[Node], places: Sequence[str], opset: int
) -> tuple[ModelProto, dict[str, NDArray[Any]]]:
    """Return a model of the nodes, of every pair of operands in every place, and its inputs."""
    made: list[NodeProto] = []
    inputs: dict[str, NDArray[Any]] = {}
    outputs, constants = [], []
    for number, pair in enumerate(pairs):
        code, rank = element_type_of(pair[0]).onnx_code or 0, max(x.ndim for x in pair)
        operands = {f"{name}{number}": x for name, x in zip("AB", pair, strict=True)}
        constants += [numpy_helper.from_array(array, f"constant {name}") for name, array in operands.items()]
        for (operator, attributes), place in product(nodes, places):
            names = [f"constant {name}" if name[0] in place else name for name in operands]
            inputs |= {name: operands[name] for name in names if name in operands}
            made.append(helper.make_node(operator, names, [f"C{len(made)}"], f"ratio {len(made)}", **attributes))
            outputs.append(helper.make_tensor_value_info(made[-1].output[0], code, [None] * rank))
    declared = [
        helper.make_tensor_value_info(name, element_type_of(x).onnx_code or 0, x.shape) for name, x in inputs.items()
    ]
    graph = helper.make_graph(made, "g", declared, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), inputs


def remainders(a: NDArray[Any], b: NDArray[Any], fmod: int) -> NDArray[Any]:
    """Return exact remainders, 0 for a zero divisor."""
    wide_a, wide_b = a.astype(object), np.where(b == 0, 1, b.astype(object))
    floored = wide_a % wide_b
    truncated = floored - wide_b * ((floored != 0) & ((wide_a < 0) != (wide_b < 0)))
    return np.where(b == 0, 0, truncated if fmod else floored).astype(a.dtype)


def _kinds(runtime: Runtime, nodes: Sequence[Node], *, pairwise: bool) -> Iterator[Kind]:
    for (i, opset), (j, (zero_divisor, overflow)) in product(enumerate(OPSETS), enumerate(POLICIES)):
        if DIV not in nodes and opset < 10:
            continue  # There is no Mod.
        places = PLACES[(i + j) % 2 :: 2] if pairwise else PLACES  # Each two of the three remain together.
        types = INTEGERS if opset >= 14 else WIDE
        if runtime == "openvino" and zero_divisor != "zero":
            beyond = [each for each in types if each.maximum > INT32.maximum]  # The policy is refused there.
            yield Kind(opset, "zero", overflow, places, beyond)
            types = [each for each in types if each not in beyond]
        yield Kind(opset, zero_divisor, overflow, places, types)


class TestOnnxRuntime:
    """Issue 3, point 5: hardened for ONNX Runtime, no pair of integers is wrong or kills the process."""

    def test_every_pair(self, outcomes: Outcomes) -> None:
        check(outcomes, "onnxruntime", "onnxruntime", lambda each, _: all_pairs(each))

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

    @pytest.mark.parametrize(
        "pairwise", [pytest.param(True, id="two of three"), pytest.param(False, id="all", marks=pytest.mark.exhaustive)]
    )
    def test_every_pair(self, outcomes: Outcomes, pairwise: bool) -> None:
        def operands(element_type: ElementType, _: ZeroDivisor) -> Pair:
            a, b = all_pairs(element_type, INT32.maximum, INT32.minimum)
            if element_type is not INT64:
                return a, b
            beyond = (a == INT32.minimum) & (b == -1)  # The quotient is not within int32.
            return a[~beyond], b[~beyond]

        check(outcomes, "openvino", "openvino", operands, pairwise=pairwise)


class TestPortable:
    """The portable form is right on ONNX Runtime, the reference evaluator, and OpenVINO strictly within its int32."""

    @pytest.mark.parametrize("ran_on", ["onnxruntime", "reference"])
    def test_every_pair(self, outcomes: Outcomes, ran_on: str) -> None:
        check(outcomes, ran_on, "portable", lambda each, _: all_pairs(each))

    def test_every_pair_within_int32_on_openvino(self, outcomes: Outcomes) -> None:
        def operands(element_type: ElementType, zero_divisor: ZeroDivisor) -> Pair:
            if element_type.maximum <= INT32.maximum:
                return all_pairs(element_type)
            a, b = all_pairs(element_type, INT32.maximum, INT32.minimum + 1)
            if zero_divisor == "zero":
                return a, b
            return a[b != 0], b[b != 0]  # The largest of the type is not within int32.

        # The same models run in every kind on the other two; OpenVINO takes a hundred times as long to compile each.
        check(outcomes, "openvino", "portable", operands, pairwise=True)


class TestRemainders:
    """Hardened remainders are exact, of either sign, for every pair on every runtime; x mod 0 gives 0."""

    @pytest.mark.parametrize(
        ("runtime", "ran_on"),
        [
            ("onnxruntime", "onnxruntime"),
            ("openvino", "openvino"),
            ("portable", "onnxruntime"),
            ("portable", "reference"),
        ],
    )
    def test_every_pair(self, outcomes: Outcomes, runtime: Runtime, ran_on: str) -> None:
        narrow = (INT32.maximum, INT32.minimum) if runtime == "openvino" else ()
        slow = runtime == "openvino"
        check(outcomes, ran_on, runtime, lambda each, _: all_pairs(each, *narrow), MODS, pairwise=slow)


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
    def test_shapes(self, outcomes: Outcomes, runtime: Runtime, ran_on: str) -> None:
        pairs = []
        for element_type, (a_shape, b_shape) in product((INT8, INT32, INT64, UINT64), self.SHAPES):
            dtype = dtype_of(element_type)
            a = np.resize(np.array([5, 98, 1], dtype), a_shape)
            pairs.append(
                (np.asarray(-a) if element_type.minimum else a, np.resize(np.array([0, 2, 3], dtype), b_shape))
            )
        model, inputs = model_of(pairs, [DIV], [""], 17)
        (outcome,) = outcomes(ran_on, [(harden(model, runtime).model, inputs)])
        assert outcome.problem is None
        for (a, b), found in zip(pairs, outcome.outputs, strict=True):
            want = vinculum.div(a, b, zero_divisor="zero")
            check_equal(f"{a.dtype}{a.shape} by {b.shape}", want, np.asarray(found), ("our engine", ran_on))
