"""Guards on runtimes whose Div is not exact: their nodes, with every Div in them simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, checker, helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import vinculum
from vinculum.models.sampling.edge_values import edge_values
from vinculum.ops.policies import Policies
from vinculum.repair.decision import Facts, Operator, Runtime
from vinculum.repair.guard_text import guard
from vinculum.spec.element_types import INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, ElementType
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]
Divider = Callable[[Array, Array], Array]

INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)


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


def evaluated(nodes: Sequence[NodeProto], opset: int, divider: Divider, a: Array, b: Array) -> Array:
    """Return what nodes give for A and B where this divides."""

    class Div(OpRun):
        op_domain = ""

        def _run(self, a: Array, b: Array) -> tuple[Array]:
            return (divider(a, b).astype(a.dtype),)

    types = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), [None]) for name in "ABC"]
    model = helper.make_model(
        helper.make_graph(nodes, "guard", types[:2], types[2:]), opset_imports=[helper.make_opsetid("", opset)]
    )
    checker.check_model(model, full_check=True)
    with np.errstate(over="ignore"):
        return np.asarray(ReferenceEvaluator(model, new_ops=[Div]).run(None, {"A": a, "B": b})[0])  # type: ignore[index]


def assert_same(found: Array, wanted: Array, a: Array, b: Array) -> None:
    wrong = np.flatnonzero(found != wanted)
    assert not wrong.size, [(a[i], b[i], found[i], wanted[i]) for i in wrong[:5]]


def expected(operator: Operator, a: Array, b: Array, policies: Policies) -> Array:
    """Return exact quotients or remainders."""
    given: dict[str, Any] = {"zero_divisor": policies.zero_divisor, "overflow": policies.overflow}
    if operator == "Div":
        return np.asarray(vinculum.div(a, b, **given))
    if operator == "FloorDiv":
        return np.asarray(vinculum.floor_divide(a, b, **given))
    if operator == "Mod":
        return np.asarray(vinculum.remainder(a, b, zero_divisor="zero"))
    return np.where(b == 0, 0, np.fmod(a, np.where(b == 0, 1, b)))


@pytest.mark.parametrize("policies", [Policies("zero"), Policies("saturate", "saturate")], ids=["wrap", "saturate"])
@pytest.mark.parametrize("operator", ["Div", "FloorDiv", "Mod", "Fmod"])
class TestEveryOperator:
    """A guard for every runtime is exact for all operands, however the runtime's Div rounds."""

    @pytest.mark.parametrize("name", DIVIDERS)
    @pytest.mark.parametrize(
        ("element_type", "opset"), [*((each, 14) for each in INTEGERS), (INT32, 9), (INT64, 9), (UINT64, 9)], ids=str
    )
    def test_any_operands(
        self, operator: Operator, element_type: ElementType, opset: int, name: str, policies: Policies
    ) -> None:
        a, b = operands(element_type)
        if element_type is UINT64:  # The runtime's own quotient is that of large ones.
            exact = (a < 2**63) & (b < 2**63)
            a, b = a[exact], b[exact]
        if name not in EXACT_TO_ONE and element_type.bits == 64:
            small = (a <= INT32.maximum) & (b <= INT32.maximum)
            if element_type.minimum:
                small &= (a >= INT32.minimum) & (b >= INT32.minimum)
            a, b = a[small], b[small]
        nodes = guard(Facts(operator, opset, element_type), "portable", policies)
        found = evaluated(nodes, opset, DIVIDERS[name], a, b)
        assert_same(found, expected(operator, a, b, policies), a, b)

    @pytest.mark.parametrize("runtime", ["onnxruntime", "portable"])
    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    def test_what_constants_exclude_is_not_written(
        self, operator: Operator, element_type: ElementType, runtime: Runtime, policies: Policies
    ) -> None:
        """By a divisor without 0 and -1 or a dividend without MIN; what is left is exact."""
        a, b = operands(element_type)
        dtype = dtype_of(element_type)
        every = guard(Facts(operator, 14, element_type), runtime, policies)
        for dividend, divisor in ((None, [2, 7]), (None, [1, 3, element_type.maximum]), ([5, 9], None), ([0], [0, 3])):
            fixed = [None if values is None else np.array(values, dtype) for values in (dividend, divisor)]
            nodes = guard(Facts(operator, 14, element_type, fixed[0], fixed[1]), runtime, policies)
            assert len(nodes) < len(every) if divisor and 0 not in divisor else len(nodes) <= len(every)
            firsts, seconds = (
                x if values is None else np.resize(values, a.shape) for x, values in zip((a, b), fixed, strict=True)
            )
            found = evaluated(nodes, 14, truncated_safely, firsts, seconds)
            assert_same(found, expected(operator, firsts, seconds, policies), firsts, seconds)


def truncated_safely(a: Array, b: Array) -> Array:
    """Return what ONNX Runtime's Div gives, which ends the process in two cases."""
    assert np.all(b != 0)
    assert a.dtype.kind != "i" or not np.any((a == np.iinfo(a.dtype).min) & (b == -1))
    return truncated(a, b)
