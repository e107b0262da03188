"""The nodes that take the place of a division, and the words for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from vinculum.models.harden.decision import Runtime
from vinculum.models.harden.exact_quotient import exact_quotient
from vinculum.models.harden.facts import Facts
from vinculum.models.harden.integer_nodes import IntegerNodes
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.ops.policies import Policies
from vinculum.spec.element_types import FLOAT, INT32, INT64, UINT32, UINT64, ElementType

_HALF = float(2**62)
"""Below it an unsigned number is a signed one too, and so is what its quotient leaves."""


@dataclass(frozen=True)
class Quotient:
    """Names of values.

    Attributes
    ----------
    value : str
        The quotient.
    overflows : str or None
        Where it is MIN/-1 and still MIN; None if it never is.
    """

    value: str
    overflows: str | None = None


def carrier_of(element_type: ElementType, runtime: Runtime) -> ElementType:
    """Return the type that the division is written in: one that holds every operand.

    OpenVINO's CPU device has no integers beyond int32, so there every type is carried by it. Elsewhere 8 and 16 bits
    are carried by int32, because not every operator has a kernel for them; uint32 by int64, for the same reason and
    because remainders need a sign.
    """
    if not element_type.is_integer:
        return FLOAT
    if runtime == "openvino" or element_type.bits < 32:
        return INT32
    return INT64 if element_type is UINT32 else element_type


def may_be_fused(facts: Facts, runtime: Runtime) -> bool:
    """Whether ONNX Runtime may make 1/b*c into c/b, which it does with integers too unless a node stands between."""
    return runtime == "onnxruntime" and facts.may_be_inverse and facts.element_type in (INT32, INT64)


def rewrite(rewriter: Rewriter, facts: Facts, operands: list[str], runtime: Runtime, policies: Policies) -> str:
    """Add the nodes that divide without a risk, and return the name of the quotient.

    Parameters
    ----------
    rewriter : Rewriter
        Where the nodes go.
    facts : Facts
        What is known of the division.
    operands : list of str
        Dividend and divisor; of a Reciprocal the divisor alone.
    runtime : {"onnxruntime", "openvino", "portable"}
        What has to run them.
    policies : Policies
        What x/0 and MIN/-1 are to be.
    """
    carrier = carrier_of(facts.element_type, runtime)
    if carrier is not facts.element_type:
        operands = [rewriter.cast(x, carrier, f"{carrier}_{k}") for k, x in enumerate(operands)]
    if carrier is FLOAT:
        return rewriter.cast(rewriter.add(facts.operator, operands, "in_float"), facts.element_type, "cast_back")
    nodes = IntegerNodes(rewriter, facts.opset, carrier)
    quotient = _integer_quotient(nodes, rewriter, facts, operands[0], operands[1], runtime, policies)
    return quotient if carrier is facts.element_type else rewriter.cast(quotient, facts.element_type, "cast_back")


def _integer_quotient(
    nodes: IntegerNodes, rewriter: Rewriter, facts: Facts, a: str, b: str, runtime: Runtime, policies: Policies
) -> str:
    guarded = facts.may_be_zero or may_be_fused(facts, runtime)
    zeros = nodes.equals(b, 0, "divisor_is_zero") if guarded else None
    divisor = b if zeros is None else nodes.select(zeros, nodes.number(1), b, "nonzero_divisor")
    if nodes.element_type is UINT64:
        divide = _unsigned_long if runtime == "portable" else _plain
        quotient = divide(nodes, rewriter, facts, a, divisor)
    elif runtime == "onnxruntime":
        quotient = _guarded(nodes, facts, a, divisor)
    else:
        # OpenVINO's int64 ends where int32 does, so there MIN is that of the carrying type.
        wide = facts.element_type.bits >= nodes.element_type.bits
        overflow = wide and facts.may_be_minus_one
        saturate = policies.overflow == "saturate" and facts.element_type is nodes.element_type
        quotient = Quotient(
            exact_quotient(nodes, a, divisor, signed=facts.is_signed, may_overflow=overflow, saturate=saturate)
        )
    value = _with_overflow(nodes, facts, quotient, policies)
    return value if zeros is None else nodes.select(zeros, _over_zero(nodes, facts, a, policies), value, "with_zeros")


def _plain(nodes: IntegerNodes, rewriter: Rewriter, facts: Facts, a: str, b: str) -> Quotient:
    return Quotient(nodes.divide(a, b, "quotient"))


def _guarded(nodes: IntegerNodes, facts: Facts, a: str, b: str) -> Quotient:
    """Divide by 1 where it would be MIN/-1: the quotient then is MIN."""
    if not facts.may_overflow or nodes.element_type is not facts.element_type:
        return Quotient(nodes.divide(a, b, "quotient"))
    minimum = nodes.equals(a, nodes.element_type.minimum, "dividend_is_min")
    overflows = nodes.both(minimum, nodes.equals(b, -1, "divisor_is_minus_1"), "overflows")
    safe = nodes.select(overflows, nodes.number(1), b, "safe_divisor")
    return Quotient(nodes.divide(a, safe, "quotient"), overflows)


def _unsigned_long(nodes: IntegerNodes, rewriter: Rewriter, facts: Facts, a: str, b: str) -> Quotient:
    """Divide in int64, made exact there, where both operands are small enough; elsewhere leave it to the runtime."""
    limit = rewriter.constant(np.array(_HALF), "half")
    small = [
        rewriter.add("Less", [rewriter.cast(x, TensorProto.DOUBLE, f"{hint}_double"), limit], f"{hint}_is_small")
        for x, hint in ((a, "dividend"), (b, "divisor"))
    ]
    both = nodes.both(small[0], small[1], "small")
    signed = IntegerNodes(rewriter, facts.opset, INT64)
    narrow_a = signed.select(both, signed.cast_from(a, "signed_a"), signed.number(0), "small_dividend")
    narrow_b = signed.select(both, signed.cast_from(b, "signed_b"), signed.number(1), "small_divisor")
    narrow = exact_quotient(signed, narrow_a, narrow_b, signed=False, may_overflow=False)
    wide = signed.cast_from(nodes.divide(a, b, "large_quotient"), "signed_quotient")
    return Quotient(nodes.cast_from(signed.select(both, narrow, wide, "signed_result"), "quotient"))


def _with_overflow(nodes: IntegerNodes, facts: Facts, quotient: Quotient, policies: Policies) -> str:
    """Let MIN/-1 be MAX where the policy asks for it; it is MIN or MAX already, or will be when it is cast back."""
    narrow = facts.element_type.bits < nodes.element_type.bits
    if policies.overflow == "wrap" or not facts.may_overflow or not (narrow or quotient.overflows):
        return quotient.value
    largest = nodes.number(facts.element_type.maximum)
    overflows = quotient.overflows
    if overflows is None:
        distance = nodes.subtract(largest, quotient.value, "distance_to_max")
        overflows = nodes.negative(distance, "overflows")
    return nodes.select(overflows, largest, quotient.value, "saturated")


def _over_zero(nodes: IntegerNodes, facts: Facts, a: str, policies: Policies) -> str:
    """Return what x/0 is by the policy."""
    zero = nodes.number(0)
    if policies.zero_divisor == "zero":
        return zero
    largest = nodes.number(facts.element_type.maximum)
    if not facts.is_signed:
        return nodes.select(nodes.equals(a, 0, "dividend_is_zero"), zero, largest, "over_zero")
    smallest = nodes.number(facts.element_type.minimum)
    not_above = nodes.select(nodes.negative(a, "below_zero"), smallest, zero, "not_above_zero")
    return nodes.select(nodes.positive(a, "above_zero"), largest, not_above, "over_zero")
