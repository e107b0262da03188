"""Small models for validation, each of one rewrite, with test operands and the exact results."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from vinculum.models.engines.model_runner import Case
from vinculum.models.onnx.scopes import Scope
from vinculum.models.sampling.edge_values import edge_values
from vinculum.ops import onnx as onnx_ops
from vinculum.ops.policies import Policies
from vinculum.repair.decision import Decision, Facts, Hardening, Runtime, Values
from vinculum.repair.guards import Guards
from vinculum.spec.element_types import INT32, ElementType
from vinculum.tensors.storage import dtype_of

_IR_VERSION = 8  # All current runtimes read it; newer operator sets need a later one.
_RANDOM = 2000
_MULTIPLES = 2000
_MOST_CONSTANTS = 60  # Elements taken of an operand that is constant in the model: a weight may have millions.


@dataclass(frozen=True, eq=False)
class Pairs:
    """Dividends and divisors, in two one-dimensional arrays of the same size."""

    a: NDArray[Any]
    b: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Trial:
    """A model of one rewrite, its operands, and the expected results."""

    decision: Decision  # A division with this rewrite.
    case: Case  # The model and its inputs.
    constant: str  # Which operands are constants of the model: ``"no operand constant"``.
    pairs: Pairs
    expected: NDArray[Any]  # The exact quotients or remainders.


def trials(decision: Decision, facts: Facts, hardening: Hardening) -> Iterator[Trial]:
    """Yield models of a rewrite with no, one or both operands constant; those constant in the original always are.

    Inputs are declared with their size and with an open size, for which a runtime may choose another kernel.
    """
    pairs = pairs_for(facts, hardening.runtime)
    expected = expected_of(facts, pairs, hardening.policies)
    names = ("B",) if facts.operator == "Reciprocal" else ("A", "B")
    arrays = {name: array for name, array in (("A", pairs.a), ("B", pairs.b)) if name in names}
    fixed = {name for name, values in (("A", facts.dividend), ("B", facts.divisor)) if values is not None}
    titles = {(): "no operand constant", ("A",): "A constant", ("B",): "B constant", ("A", "B"): "both constant"}
    for constant, title in titles.items():
        sizes = ((expected.size, title), ("N", f"{title} and sizes open"))
        if fixed <= set(constant) <= set(names):
            inputs = {name: array for name, array in arrays.items() if name not in constant}
            inputs["unused"] = np.zeros(1, np.float32)
            for size, words in sizes[: 1 if len(constant) == len(names) else 2]:
                model = _model(facts, hardening, arrays, constant, size)
                yield Trial(decision, Case(model, inputs), words, pairs, expected)


def expected_of(facts: Facts, pairs: Pairs, policies: Policies) -> NDArray[Any]:
    """Return the exact quotients, computed by Vinculum, or the exact remainders of integers, by NumPy."""
    zero_divisor, overflow = policies.zero_divisor, policies.overflow
    if facts.operator == "Reciprocal":
        return onnx_ops.reciprocal(pairs.b, opset=facts.opset)
    if facts.operator == "Div":
        return onnx_ops.div(pairs.a, pairs.b, opset=facts.opset, zero_divisor=zero_divisor, overflow=overflow)
    minus_one = facts.is_signed & (pairs.b == -1)
    divisors = np.where((pairs.b == 0) | minus_one, pairs.b.dtype.type(1), pairs.b)  # x mod 1 is 0, as x mod 0 here.
    if facts.is_remainder:
        return np.asarray(np.remainder(pairs.a, divisors) if facts.operator == "Mod" else np.fmod(pairs.a, divisors))
    quotients: NDArray[Any] = onnx_ops.div(pairs.a, pairs.b, opset=14, zero_divisor=zero_divisor, overflow=overflow)
    remainders = np.fmod(pairs.a, divisors)
    rounded_up = (remainders != 0) & ((remainders < 0) != (pairs.b < 0))
    return np.asarray(np.subtract(quotients, rounded_up, dtype=quotients.dtype))


def _model(
    facts: Facts,
    hardening: Hardening,
    arrays: Mapping[str, NDArray[Any]],
    constant: tuple[str, ...],
    size: int | str,
) -> bytes:
    model = ModelProto()
    model.opset_import.add(domain="", version=facts.opset)
    model.ir_version = max(_IR_VERSION, helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True))
    graph = model.graph
    graph.name = "rewrite"
    graph.node.append(NodeProto(op_type="Div", name="division", input=list(arrays), output=["C"]))
    for name, array in arrays.items():
        if name in constant:
            graph.initializer.append(numpy_helper.from_array(array, name))
        else:
            graph.input.append(_declared(name, facts.element_type, size))
    graph.output.append(_declared("C", facts.element_type, size))
    # A model with only constant operands needs an input too, and runtimes drop unused ones.
    graph.node.append(helper.make_node("Identity", ["unused"], ["unused_too"]))
    graph.input.append(helper.make_tensor_value_info("unused", TensorProto.FLOAT, (1,)))
    graph.output.append(helper.make_tensor_value_info("unused_too", TensorProto.FLOAT, (1,)))
    guards = Guards(model, hardening.runtime, hardening.policies, functions=hardening.functions)
    nodes = guards.replace(Scope("", graph, {}, ChainMap()), graph.node[0], facts, "")
    del graph.node[0]
    graph.node.extend(nodes)
    guards.complete()
    return bytes(model.SerializeToString())


def _declared(name: str, element_type: ElementType, size: int | str) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, element_type.onnx_code or 0, (size,))


def pairs_for(facts: Facts, runtime: Runtime) -> Pairs:
    """Return the test operands for a rewrite, the same in every call.

    They are all pairs of edge values (zeros, units, the limits of the type, the neighbours of the powers of 2 at which
    a type or a significand ends), random pairs, and pairs next to a whole quotient, where rounding errors would show.
    An operand that is constant in the model keeps its values, and what no run has is left out. For OpenVINO operands
    and quotients are within int32.
    """
    generator = np.random.default_rng(0)
    firsts = _values(facts.dividend, facts.element_type)
    seconds = _values(facts.divisor, facts.element_type)
    a, b = (x.ravel() for x in np.meshgrid(firsts, seconds))
    if facts.element_type.is_integer:
        more = [tuple(_drawn(x, facts.element_type, generator) for x in (facts.dividend, facts.divisor))]
        if facts.dividend is None:
            more.append(_near_multiples(facts, seconds, generator))
        a, b = np.concatenate([a, *(pair[0] for pair in more)]), np.concatenate([b, *(pair[1] for pair in more)])
        kept = ~_excluded(a, b, facts)
        if runtime == "openvino":
            kept &= _within_int32(a, b, facts.element_type)
        a, b = a[kept], b[kept]
    return Pairs(np.ascontiguousarray(a), np.ascontiguousarray(b))


def _values(constant: Values, element_type: ElementType) -> NDArray[Any]:
    if constant is None:
        return edge_values(element_type)
    if constant.size <= _MOST_CONSTANTS:
        return constant
    places = np.linspace(0, constant.size - 1, _MOST_CONSTANTS).astype(
        np.intp
    )  # Sorted values: both ends are included.
    special = constant[np.isin(constant, np.array([-1, 0, 1]).astype(constant.dtype))]
    return np.unique(np.concatenate([constant[places], special]))


def _drawn(constant: Values, element_type: ElementType, generator: np.random.Generator) -> NDArray[Any]:
    """Return numbers of every magnitude."""
    if constant is not None:
        return generator.choice(constant, _RANDOM)
    dtype = dtype_of(element_type)
    wide = generator.integers(element_type.minimum, element_type.maximum, _RANDOM, dtype, endpoint=True)
    return np.asarray(wide >> generator.integers(0, element_type.bits, _RANDOM).astype(dtype))


def _near_multiples(
    facts: Facts, divisors: NDArray[Any], generator: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return dividends that are a multiple of their divisor or differ by one from it, wrapped; and the divisors."""
    b = generator.choice(divisors, _MULTIPLES)
    if facts.divisor is None:
        b = np.where(generator.integers(0, 2, _MULTIPLES) == 1, _drawn(None, facts.element_type, generator), b)
    quotient = _drawn(None, facts.element_type, generator)
    return quotient * b + generator.integers(0, 3, _MULTIPLES).astype(b.dtype) - b.dtype.type(1), b


def _excluded(a: NDArray[Any], b: NDArray[Any], facts: Facts) -> NDArray[np.bool_]:
    """Return where operands are what no run has."""
    excluded = (b == 0) & (not facts.may_be_zero)
    if facts.is_signed:
        excluded |= (b == -1) & (not facts.may_be_minus_one)
        excluded |= (a == facts.element_type.minimum) & (b == -1) & (not facts.may_overflow)
    return np.asarray(excluded)


def _within_int32(a: NDArray[Any], b: NDArray[Any], element_type: ElementType) -> NDArray[np.bool_]:
    if element_type.maximum <= INT32.maximum:
        return np.ones(a.shape, bool)
    inside = (a <= INT32.maximum) & (b <= INT32.maximum)
    if element_type.minimum:
        inside &= (a >= INT32.minimum) & (b >= INT32.minimum) & ~((a == INT32.minimum) & (b == -1))
    return np.asarray(inside)
