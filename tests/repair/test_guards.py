"""Hardened divisions and remainders on runtimes that are wrong in each way that the guards of the target allow for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, numpy_helper

import vinculum
from tests import fake_runtime
from tests.fake_runtime import FakeRuntime
from tests.models.built_models import text_model
from tests.repair.fakes import TOLERATED, outcomes
from vinculum.models.sampling.comparison import check_equal
from vinculum.models.sampling.edge_values import edge_values
from vinculum.ops.policies import Overflow, Policies, ZeroDivisor
from vinculum.repair import Runtime, harden
from vinculum.repair.bounds import Bounds
from vinculum.repair.decision import Facts
from vinculum.repair.guards import guard
from vinculum.repair.validation import Pairs, expected_of, pairs_for
from vinculum.spec.element_types import BFLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, ElementType
from vinculum.tensors.storage import dtype_of, element_type_of

Run = Callable[[ModelProto, Mapping[str, NDArray[Any]]], Sequence[NDArray[Any]]]

INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
WIDE = tuple(each for each in INTEGERS if each.bits >= 32)
OPSETS = (9, 10, 14, 21)
"""Operator sets whose guards differ. Before 14 there are divisions of the wide types only."""
PLACES = ("", "A", "B", "AB")
"""Which operands are constants."""
OPERATORS = {
    "Div": "{c} = Div ({a}, {b})",
    "FloorDiv": "{c}a = Cast <to = 1> ({a}) {c}b = Cast <to = 1> ({b}) {c}q = Div ({c}a, {c}b) {c}f = Floor ({c}q) "
    "{c} = Cast <to = {code}> ({c}f)",
    "Mod": "{c} = Mod <fmod = 0> ({a}, {b})",
    "Fmod": "{c} = Mod <fmod = 1> ({a}, {b})",
}


def operators_of(element_type: ElementType, opset: int) -> list[str]:
    """Return the operators to test: below 10 there is no Mod, and FloorDiv is rewritten for wide types only."""
    return ["Div", *(["FloorDiv"] if element_type in WIDE else []), *(["Mod", "Fmod"] if opset >= 10 else [])]


def all_pairs(element_type: ElementType, target: Runtime) -> Pairs:
    """Return all pairs of edge values, random pairs and multiples; for OpenVINO those within int32."""
    return pairs_for(Facts("Div", 14, element_type), target)


def declared(name: str, element_type: ElementType, sizes: Sequence[object]) -> str:
    return f"{element_type}[{', '.join(map(str, sizes))}] {name}" if sizes else f"{element_type} {name}"


def model_of(
    pairs: Sequence[Pairs], places: Sequence[str], opset: int, operators: Sequence[str] = ()
) -> tuple[ModelProto, dict[str, NDArray[Any]]]:
    """Return a model that applies operators, by default all, to all pairs with each choice of constants; and inputs."""
    nodes: list[str] = []
    inputs: dict[str, NDArray[Any]] = {}
    outputs, constants = [], []
    for number, pair in enumerate(pairs):
        element_type, rank = element_type_of(pair[0]), max(x.ndim for x in pair)
        operands = {f"{name}{number}": x for name, x in zip("AB", pair, strict=True)}
        constants += [numpy_helper.from_array(array, f"constant_{name}") for name, array in operands.items()]
        for operator, place in product(operators or operators_of(element_type, opset), places):
            a, b = (f"constant_{name}" if name[0] in place else name for name in operands)
            inputs |= {name: operands[name] for name in (a, b) if name in operands}
            nodes.append(OPERATORS[operator].format(a=a, b=b, c=f"C{len(nodes)}", code=element_type.onnx_code))
            outputs.append(declared(f"C{len(nodes) - 1}", element_type, "?" * rank))
    given = [declared(name, element_type_of(x), x.shape) for name, x in inputs.items()]
    model = text_model(" ".join(nodes), ", ".join(given), ", ".join(outputs), opset=opset, ir_version=8)
    model.graph.initializer.extend(constants)
    return model, inputs


@cache
def exact(element_type: ElementType, target: Runtime, operator: str, opset: int, policies: Any) -> NDArray[Any]:
    return expected(*all_pairs(element_type, target), operator, opset, policies)


def expected(a: NDArray[Any], b: NDArray[Any], operator: Any, opset: int, policies: Any) -> NDArray[Any]:
    """Return exact quotients or remainders, as the validation expects them, which tests compare with exact integers."""
    return expected_of(Facts(operator, opset, element_type_of(a)), (a, b), Policies(*(policies or POLICIES[0])))


POLICIES: tuple[tuple[ZeroDivisor, Overflow], ...] = (("zero", "wrap"), ("saturate", "saturate"))


def taken(types: Sequence[ElementType], target: Runtime, zero_divisor: str) -> list[ElementType]:
    beyond = target == "openvino" and zero_divisor != "zero"
    return [each for each in types if not beyond or each.maximum <= INT32.maximum]


@cache
def hardened(
    target: Runtime, types: tuple[ElementType, ...], opset: int, places: tuple[str, ...], policies: Any
) -> tuple[ModelProto, dict[str, NDArray[Any]]]:
    """Return a hardened model of every pair, type and place, and its inputs.

    One has the nodes of all element types: to make and check each takes longer than the quotients.
    """
    pairs = [all_pairs(each, target) for each in taken(types, target, policies[0])]
    model, inputs = model_of(pairs, places, opset)
    made = harden(model, target, zero_divisor=policies[0], overflow=policies[1], fix_exported=True)
    return made.model, inputs


def check(run: Run, target: Runtime, types: Sequence[ElementType], opset: int, places: Sequence[str] = PLACES) -> None:
    """Compare hardened nodes with the expected results under both policies."""
    for policies in POLICIES:
        found = iter(run(*hardened(target, tuple(types), opset, tuple(places), policies)))
        for each in taken(types, target, policies[0]):
            for operator, place in product(operators_of(each, opset), places):
                # Remainders are the same in every operator set and under every policy.
                by = (opset, policies) if "Div" in operator else (0, None)
                name = f"{operator} of {each} in {opset}, constants {place!r}, {policies}"
                want = exact(each, target, operator, *by)
                check_equal(name, want, np.asarray(next(found)), ("expected", "hardened"))
        assert next(found, None) is None


def on(behaviour: type[FakeRuntime]) -> Run:
    """Return a function that runs models on a fake runtime."""
    return lambda model, inputs: outcomes(behaviour, [(model, inputs)])[0]


def compare(
    pairs: Sequence[Pairs], places: Sequence[str], opset: int, target: Runtime, behaviour: type[FakeRuntime]
) -> None:
    """Compare the hardened operators on the given pairs with the expected results."""
    model, inputs = model_of(pairs, places, opset)
    found = iter(on(behaviour)(harden(model, target, fix_exported=True).model, inputs))
    for a, b in pairs:
        for operator in operators_of(element_type_of(a), opset):
            want = expected(a, b, operator, opset, POLICIES[0])
            name = f"{operator} of {a.dtype}{a.shape} by {b.shape}, constants {places}"
            check_equal(name, want, np.asarray(next(found)), ("our engine", target))


class TestEveryPair:
    """No pair of integers is wrong or kills the process, for each type, policy, operator set and constant operands."""

    @pytest.mark.parametrize("opset", OPSETS)
    @pytest.mark.parametrize("target", ["onnxruntime", "openvino", "portable"])
    def test_in_every_form(self, target: Runtime, opset: int) -> None:
        check(on(TOLERATED[target][0]), target, INTEGERS if opset >= 14 else WIDE, opset)
        for policies in POLICIES if opset == 14 else ():
            model, _ = hardened(target, INTEGERS, opset, PLACES, policies)
            assert vinculum.check(model, runs=0).findings == ()

    @pytest.mark.parametrize(
        ("target", "behaviour"), [(target, each) for target, group in TOLERATED.items() for each in group[1:]]
    )
    def test_on_every_wrong_division(self, target: Runtime, behaviour: type[FakeRuntime]) -> None:
        check(on(behaviour), target, INTEGERS, 14, [""])

    @pytest.mark.parametrize("behaviour", [fake_runtime.EstimatesByReciprocal, fake_runtime.FloorsByReciprocal])
    def test_portable_ones_of_few_bits(self, behaviour: type[FakeRuntime]) -> None:
        """Two estimates of 24 bits give exact 32-bit quotients."""
        check(on(behaviour), "portable", (INT8, INT16, INT32, UINT8, UINT16), 14)

    @pytest.mark.parametrize("target", ["onnxruntime", "portable"])
    def test_what_constants_exclude_is_not_written(self, target: Runtime) -> None:
        """If constants exclude 0, -1 or MIN, the shorter guards are exact."""
        groups: tuple[list[Pairs], ...] = ([], [], [], [])
        for each in INTEGERS:
            constants = ((None, [2, 7]), (None, [1, 3, each.maximum]), ([5, 9], None), ([0], [0, 3]))
            for group, held in zip(groups, constants, strict=True):
                a, b = (
                    x if values is None else np.resize(np.array(values, x.dtype), x.shape)
                    for x, values in zip(all_pairs(each, target), held, strict=True)
                )
                group.append((a, b))
        for group, place in zip(groups, ("B", "B", "A", "AB"), strict=True):
            compare(group, [place], 14, target, fake_runtime.RefusesFaults)


@pytest.mark.parametrize(
    ("facts", "divides"),
    [
        (Facts("Div", 9, INT32), ["Div"]),
        (Facts("FloorDiv", 9, INT32), ["Div", "Div"]),
        (Facts("FloorDiv", 10, INT32), ["Div", "Mod"]),
        (Facts("Mod", 10, INT32), ["Mod"]),
        (Facts("Fmod", 10, INT32), ["Mod"]),
    ],
)
def test_what_onnxruntime_divides_exactly_is_left_to_it(facts: Facts, divides: list[str]) -> None:
    """On other targets a quotient is estimated, and corrected by a second division."""
    nodes = guard(facts, "onnxruntime", Policies())
    assert [node.op_type for node in nodes if node.op_type in ("Div", "Mod")] == divides
    assert len(guard(facts, "portable", Policies())) > 40


@pytest.mark.parametrize(
    "facts",
    [Facts("Mod", 14, INT32), Facts("Div", 14, INT8), Facts("Div", 14, INT32, Bounds(frozenset({"minus one"})))],
    ids=["a remainder", "in a wider type", "no divisor of -1"],
)
def test_min_is_not_looked_for_where_it_does_not_matter(facts: Facts) -> None:
    nodes = guard(facts, "portable", Policies("zero", "wrap"))
    assert not {"lowest", "overflows"} & {node.output[0] for node in nodes}


@pytest.mark.parametrize("operator", ["Div", "Reciprocal"])
def test_floats_bfloat16(operator: str) -> None:
    """bfloat16 is computed in float, since ONNX Runtime has no kernel for it."""
    values = edge_values(BFLOAT16)
    a, b = (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(values, values))
    inputs = {"A": a, "B": b} if operator == "Div" else {"B": b}
    tensors = ", ".join(f"bfloat16[{a.size}] {name}" for name in inputs)
    model = text_model(f"C = {operator} ({', '.join(inputs)})", tensors, f"bfloat16[{a.size}] C", opset=14)
    ((found,),) = outcomes(fake_runtime.CutsBfloat16, [(harden(model, "onnxruntime").model, inputs)])
    want = vinculum.div(a, b) if operator == "Div" else vinculum.reciprocal(b)
    assert want.dtype == ml_dtypes.bfloat16
    check_equal(operator, want, found, ("our engine", "hardened"))


SHAPES = (((), ()), ((3, 1), (2,)), ((2,), (3, 1)), ((0, 2), (1,)), ((2, 3), ()), ((1,), (2, 1, 3)))


@pytest.mark.parametrize("target", TOLERATED)
def test_shapes(target: Runtime) -> None:
    pairs = []
    for element_type, (a_shape, b_shape) in product((INT32, INT64, UINT64), SHAPES):
        dtype = dtype_of(element_type)
        a = np.resize(np.array([5, 98, 1], dtype), a_shape)
        pairs.append((np.asarray(-a) if element_type.minimum else a, np.resize(np.array([0, 2, 3], dtype), b_shape)))
    compare(pairs, [""], 9, target, TOLERATED[target][0])
