"""Hardened divisions and remainders on runtimes that are wrong in every way that the target's guards allow for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import vinculum
from tests import fake_runtime
from tests.fake_runtime import FakeRuntime
from tests.repair.fakes import TOLERATED, outcomes
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.sampling.edge_values import edge_values
from vinculum.ops.policies import Overflow, ZeroDivisor
from vinculum.repair import Runtime, harden
from vinculum.spec.element_types import BFLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, ElementType
from vinculum.tensors.storage import dtype_of, element_type_of

Pair = tuple[NDArray[Any], NDArray[Any]]
Run = Callable[[ModelProto, Mapping[str, NDArray[Any]]], Sequence[NDArray[Any]]]
Node = tuple[str, Mapping[str, Any]]
"""An operator and its attributes."""

INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
WIDE = [each for each in INTEGERS if each.bits >= 32]
OPSETS = (9, 10, 14, 21)
"""In which the guards are written differently; before 14 only of the wide types."""
PLACES = ("", "A", "B", "AB")
"""Which operands are constants."""
DIV: Node = ("Div", {})
MODS: tuple[Node, ...] = (("Mod", {"fmod": 0}), ("Mod", {"fmod": 1}))


def all_pairs(element_type: ElementType, target: Runtime) -> Pair:
    """Return every edge value with every other; for OpenVINO those within its int32."""
    values = edge_values(element_type)
    if target == "openvino":
        wide = values.astype(object)
        values = values[(wide <= INT32.maximum) & (wide >= INT32.minimum)]
    a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(values, values))
    if target == "openvino" and element_type is INT64:  # The quotient is not within int32.
        kept = ~((a == INT32.minimum) & (b == -1))
        a, b = a[kept], b[kept]
    return a, b


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


@cache
def exact(element_type: ElementType, target: Runtime, node: Sequence[Any], opset: int, policies: Any) -> NDArray[Any]:
    """Return what a node gives for every pair."""
    a, b = all_pairs(element_type, target)
    operator, fmod = node
    if operator == "Mod":
        return remainders(a, b, fmod)
    zero_divisor, overflow = policies
    return vinculum.div(a, b, opset=opset, zero_divisor=zero_divisor, overflow=overflow)


def remainders(a: NDArray[Any], b: NDArray[Any], fmod: int) -> NDArray[Any]:
    """Return exact remainders, 0 for a zero divisor."""
    wide_a, wide_b = a.astype(object), np.where(b == 0, 1, b.astype(object))
    floored = wide_a % wide_b
    truncated = floored - wide_b * ((floored != 0) & ((wide_a < 0) != (wide_b < 0)))
    return np.where(b == 0, 0, truncated if fmod else floored).astype(a.dtype)


def check(run: Run, target: Runtime, types: Sequence[ElementType], opset: int, places: Sequence[str] = PLACES) -> None:
    """Demand of hardened nodes what our engine gives, under both policies, of every pair, type and place.

    One model has the nodes of all element types: to make and check each takes longer than the quotients.
    """
    nodes = (DIV, *MODS) if opset >= 10 else (DIV,)
    policies: tuple[tuple[ZeroDivisor, Overflow], ...] = (("zero", "wrap"), ("saturate", "saturate"))
    for zero_divisor, overflow in policies:
        beyond = target == "openvino" and zero_divisor != "zero"  # The policy is refused there.
        asked = [each for each in types if not beyond or each.maximum <= INT32.maximum]
        pairs = [all_pairs(each, target) for each in asked]
        model, inputs = model_of(pairs, nodes, places, opset)
        found = iter(run(harden(model, target, zero_divisor=zero_divisor, overflow=overflow).model, inputs))
        for each, (operator, attributes), place in product(asked, nodes, places):
            # Remainders are the same in every operator set and under every policy.
            by = (opset, (zero_divisor, overflow)) if operator == "Div" else (0, None)
            want = exact(each, target, (operator, attributes.get("fmod", 0)), *by)
            name = f"{operator} {attributes} of {each} in {opset}, constants {place!r}, {zero_divisor}, {overflow}"
            check_equal(name, want, np.asarray(next(found)), ("expected", "hardened"))
        assert next(found, None) is None


def on(behaviour: type[FakeRuntime]) -> Run:
    """Return a function that runs models on a fake."""

    def run(model: ModelProto, inputs: Mapping[str, NDArray[Any]]) -> Sequence[NDArray[Any]]:
        (outputs,) = outcomes(behaviour, [(model, inputs)])
        return outputs

    return run


class TestEveryPair:
    """No pair of integers is wrong or kills the process: of each type and policy, in each operator set and place."""

    @pytest.mark.parametrize("opset", OPSETS)
    @pytest.mark.parametrize("target", ["onnxruntime", "openvino", "portable"])
    def test_in_every_form(self, target: Runtime, opset: int) -> None:
        check(on(TOLERATED[target][0]), target, INTEGERS if opset >= 14 else WIDE, opset)

    @pytest.mark.parametrize(
        ("target", "behaviour"), [(target, each) for target, group in TOLERATED.items() for each in group[1:]]
    )
    def test_on_every_wrong_division(self, target: Runtime, behaviour: type[FakeRuntime]) -> None:
        check(on(behaviour), target, INTEGERS, 14, [""])

    @pytest.mark.parametrize("behaviour", [fake_runtime.EstimatesByReciprocal, fake_runtime.FloorsByReciprocal])
    def test_portable_ones_of_few_bits(self, behaviour: type[FakeRuntime]) -> None:
        """Two guesses of 24 bits give 32-bit quotients."""
        check(on(behaviour), "portable", [each for each in INTEGERS if each not in (INT64, UINT32, UINT64)], 14)


@pytest.mark.parametrize("operator", ["Div", "Reciprocal"])
def test_floats_bfloat16(operator: str) -> None:
    """bfloat16 is carried by float where ONNX Runtime has no kernel."""
    values = edge_values(BFLOAT16)
    a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(values, values))
    names = ["A", "B"] if operator == "Div" else ["B"]
    declared = [helper.make_tensor_value_info(name, TensorProto.BFLOAT16, a.shape) for name in (*names, "C")]
    graph = helper.make_graph([helper.make_node(operator, names, ["C"], "n")], "g", declared[:-1], declared[-1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    inputs = {"A": a, "B": b} if operator == "Div" else {"B": b}
    ((found,),) = outcomes(fake_runtime.CutsBfloat16, [(harden(model, "onnxruntime").model, inputs)])
    want = vinculum.div(a, b) if operator == "Div" else vinculum.reciprocal(b)
    assert want.dtype == ml_dtypes.bfloat16
    check_equal(operator, want, found, ("our engine", "hardened"))


class TestShapes:
    """Operands of any two shapes that broadcast are hardened, empty ones and those of rank 0 included."""

    SHAPES = (((), ()), ((3, 1), (2,)), ((2,), (3, 1)), ((0, 2), (1,)), ((2, 3), ()), ((1,), (2, 1, 3)))

    @pytest.mark.parametrize("target", TOLERATED)
    def test_shapes(self, target: Runtime) -> None:
        pairs = []
        for element_type, (a_shape, b_shape) in product((INT8, INT32, INT64, UINT64), self.SHAPES):
            dtype = dtype_of(element_type)
            a = np.resize(np.array([5, 98, 1], dtype), a_shape)
            pairs.append(
                (np.asarray(-a) if element_type.minimum else a, np.resize(np.array([0, 2, 3], dtype), b_shape))
            )
        model, inputs = model_of(pairs, [DIV], [""], 17)
        (found,) = outcomes(TOLERATED[target][0], [(harden(model, target).model, inputs)])
        for (a, b), quotient in zip(pairs, found, strict=True):
            want = vinculum.div(a, b, zero_divisor="zero")
            check_equal(f"{a.dtype}{a.shape} by {b.shape}", want, np.asarray(quotient), ("our engine", target))
