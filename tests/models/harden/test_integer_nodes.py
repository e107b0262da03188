"""The exact quotient on runtimes whose Div is not exact: the guard's nodes, with every Div in them simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import GraphProto, helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import vinculum
from vinculum.models.harden.decision import Facts, Operator
from vinculum.models.harden.guards import rewrite
from vinculum.models.harden.integer_nodes import IntegerNodes, exact_quotient
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.sampling.edge_values import edge_values
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import INT8, INT16, INT32, INT64, UINT8, UINT32, ElementType
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]
Divider = Callable[[Array, Array], Array]


def floored(a: Array, b: Array) -> Array:
    return np.asarray(a // b)


def raised(a: Array, b: Array) -> Array:
    return np.asarray(a // b + (a % b != 0))


def truncated(a: Array, b: Array) -> Array:
    return np.where((a < 0) == (b < 0), floored(a, b), raised(a, b))


def nearest(a: Array, b: Array) -> Array:
    rest = a % b  # of the divisor's sign
    return np.asarray(a // b + np.where(b < 0, rest < b - rest, rest > b - rest))


def one_low(a: Array, b: Array) -> Array:
    """Return the quotient one nearer to zero, as if a whole quotient had come out a little too small."""
    exact = truncated(a, b)
    return exact - np.sign(exact)


def of_floats(dtype: Any, quotient: Callable[[Array, Array], Array]) -> Divider:
    def divide(a: Array, b: Array) -> Array:
        return np.asarray(np.trunc(quotient(a.astype(dtype), b.astype(dtype))).astype(a.dtype))

    return divide


EXACT_TO_ONE: dict[str, Divider] = {
    "truncating": truncated,
    "flooring": floored,
    "rounding up": raised,
    "rounding to nearest": nearest,
    "one low": one_low,
    "by a double's reciprocal": of_floats(np.float64, lambda a, b: a * (1 / b)),
}
"""Whose quotients are right to some 50 bits, and so serve for any integers."""
DIVIDERS: dict[str, Divider] = {
    **EXACT_TO_ONE,
    "by a float's reciprocal": of_floats(np.float32, lambda a, b: a * (np.float32(1) / b)),
    "of floats": of_floats(np.float32, lambda a, b: a / b),
    "2**-21 low": of_floats(np.float64, lambda a, b: a / b * (1 - 2.0**-21)),
    "2**-21 high": of_floats(np.float64, lambda a, b: a / b * (1 + 2.0**-21)),
}
"""Whose quotients are right to 20 bits, and so serve for integers of up to 32 bits."""


def operands(element_type: ElementType) -> tuple[Array, Array]:
    """Return every edge value with every other, random numbers of every size, and multiples with their neighbours."""
    rng = np.random.default_rng(0)
    dtype, count = dtype_of(element_type), 4000
    full = rng.integers(element_type.minimum, element_type.maximum, (2, count), dtype, endpoint=True)
    first, second = full >> rng.integers(0, element_type.bits - 1, (2, count)).astype(dtype)
    with np.errstate(over="ignore"):
        near = first // np.where(second == 0, 1, second) * second + rng.integers(0, 3, count).astype(dtype) - 1
    edges = np.meshgrid(edge_values(element_type), edge_values(element_type))
    a = np.concatenate([edges[0].ravel(), first, near.astype(dtype)])
    return a, np.concatenate([edges[1].ravel(), second, second])


def evaluated(rewriter: Rewriter, result: str, opset: int, divider: Divider, a: Array, b: Array) -> Array:
    """Return what the nodes give for A and B where this divides."""

    class Div(OpRun):
        op_domain = ""

        def _run(self, a: Array, b: Array) -> tuple[Array]:
            return (divider(a, b).astype(a.dtype),)

    types = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), [None]) for name in "AB"]
    output = helper.make_empty_tensor_value_info(result)
    graph = helper.make_graph(rewriter.nodes, "guard", types, [output], rewriter.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    with np.errstate(over="ignore"):
        return np.asarray(ReferenceEvaluator(model, new_ops=[Div]).run(None, {"A": a, "B": b})[0])  # type: ignore[index]


def assert_same(found: Array, wanted: Array, a: Array, b: Array) -> None:
    wrong = np.flatnonzero(found != wanted)
    assert not wrong.size, [(a[i], b[i], found[i], wanted[i]) for i in wrong[:5]]


def new_rewriter(opset: int) -> Rewriter:
    return Rewriter(GraphProto(), opset, {"A", "B"}, "")


@pytest.mark.parametrize("name", DIVIDERS)
@pytest.mark.parametrize("opset", [7, 13])
class TestExactQuotient:
    """The quotient is exact for any rounding of the runtime's Div."""

    @pytest.mark.parametrize("saturate", [False, True], ids=["wrap", "saturate"])
    @pytest.mark.parametrize("element_type", [INT32, INT64], ids=str)
    def test_signed(self, name: str, opset: int, element_type: ElementType, saturate: bool) -> None:
        a, b = operands(element_type)
        self.check(name, opset, element_type, a, b, signed=True, saturate=saturate)

    @pytest.mark.parametrize("element_type", [INT32, INT64], ids=str)
    def test_never_negative(self, name: str, opset: int, element_type: ElementType) -> None:
        a, b = operands(element_type)
        kept = (a >= 0) & (b > 0)
        self.check(name, opset, element_type, a[kept], b[kept], signed=False)

    def check(
        self,
        name: str,
        opset: int,
        element_type: ElementType,
        a: Array,
        b: Array,
        *,
        signed: bool,
        saturate: bool = False,
    ) -> None:
        kept = b != 0
        if name not in EXACT_TO_ONE:
            kept &= np.logical_and.reduce([(x >= INT32.minimum) & (x <= INT32.maximum) for x in (a, b)])
        a, b = a[kept], b[kept]
        rewriter = new_rewriter(opset)
        nodes = IntegerNodes(rewriter, opset, element_type)
        result = exact_quotient(nodes, "A", "B", signed=signed, may_overflow=signed, saturate=saturate)
        found = evaluated(rewriter, result, opset, DIVIDERS[name], a, b)
        wanted = truncated(a.astype(object), b.astype(object))
        beyond = element_type.maximum if saturate else element_type.minimum
        wanted = np.where(wanted > element_type.maximum, beyond, wanted)
        assert_same(found, wanted, a, b)


@pytest.mark.parametrize("name", DIVIDERS)
@pytest.mark.parametrize("element_type", [INT8, INT16, INT32, UINT8, UINT32], ids=str)
@pytest.mark.parametrize("operator", ["Div", "FloorDiv", "Mod", "Fmod"])
@pytest.mark.parametrize("policies", [Policies("zero"), Policies("saturate", "saturate")], ids=["wrap", "saturate"])
def test_every_operator(name: str, element_type: ElementType, operator: Operator, policies: Policies) -> None:
    """A guard that is written for every runtime, of operands that may be any."""
    a, b = operands(element_type)
    rewriter = new_rewriter(14)
    result = rewrite(rewriter, Facts(operator, 14, element_type), ["A", "B"], "portable", policies)
    found = evaluated(rewriter, result, 14, DIVIDERS[name], a, b)
    given: dict[str, Any] = {"zero_divisor": policies.zero_divisor, "overflow": policies.overflow}
    if operator == "Div":
        wanted = vinculum.div(a, b, **given)
    elif operator == "FloorDiv":
        wanted = vinculum.floor_divide(a, b, **given)
    elif operator == "Mod":
        wanted = vinculum.remainder(a, b, zero_divisor="zero")
    else:
        wanted = np.where(b == 0, 0, np.fmod(a, np.where(b == 0, 1, b)))
    assert_same(found, wanted, a, b)
