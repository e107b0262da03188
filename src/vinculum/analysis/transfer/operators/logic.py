"""Comparisons, logic and bits, and the choice by a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Shape
from vinculum.analysis.domain.facts import Fact, Facts, Kind
from vinculum.analysis.domain.formats import every, is_discrete, type_range
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.operators.arithmetic import divide
from vinculum.analysis.transfer.relations import TURNED, axes_reaching, refine, surely_above
from vinculum.analysis.transfer.shared import boolean, broadcast, like, result_of, spread_facts, unbounded


def _comparison(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape = broadcast(a.shape, b.shape)
    if "" in (a.element_type, b.element_type) or "string" in (a.element_type, b.element_type):
        return boolean(shape)
    always, never = _decided(call.operator, a, b)
    if a.may_nan or b.may_nan:  # A comparison with NaN is false.
        always = np.zeros_like(always)
    facts = (
        *_facts_of_comparison(call, call.operator, a, b, shape),
        *_facts_of_comparison(call, TURNED.get(call.operator, call.operator), b, a, shape),
    )
    return boolean(shape, always.astype(float), 1.0 - never.astype(float)).known(facts=facts)


def _facts_of_comparison(
    call: Call, operator: str, x: AbstractTensor, limit: AbstractTensor, shape: Shape | None
) -> Facts:
    """Return where a comparison is true or false somewhere in every row, since some element reaches the limit."""
    strict, most = operator in ("Greater", "LessOrEqual"), float(limit.high.max())
    spread = [fact for fact in spread_facts(x, shape) if fact.kind is Kind.SOME_AT_LEAST]
    axes = {fact.axis for fact in spread if fact.low > most or (fact.low == most and not strict)}
    if operator == "Equal" and float(x.high.max()) > float(limit.low.min()):  # Others may exceed the limit.
        axes = set()
    if x.form is not None and not x.form.may_round_later and x.shape == shape:
        reached = surely_above(call.values, limit) if strict else limit
        if reached is not None:
            axes |= axes_reaching(call.values, x, reached, exactly=operator == "Equal")
    if operator.startswith("Less"):
        return tuple(Fact(Kind.SOME_AT_MOST, axis, high=0.0) for axis in axes)
    if x.may_nan or limit.may_nan:  # A comparison with NaN is false.
        return ()
    return tuple(Fact(Kind.SOME_AT_LEAST, axis, 1.0) for axis in axes)


def _decided(operator: str, a: AbstractTensor, b: AbstractTensor) -> tuple[Any, Any]:
    """Return where a comparison of numbers always holds, and where it never does."""
    if operator == "Equal":
        same = (a.low == a.high) & (b.low == b.high) & (a.low == b.low) & (np.abs(a.low) < 2.0**53)
        if a.number == b.number and (a.form is None or not a.form.may_round_later):
            same = np.ones_like(same)
        return same, (a.high < b.low) | (b.high < a.low) | (a.mag > b.box.largest()) | (b.mag > a.box.largest())
    if operator.startswith("Less"):
        a, b = b, a
    if operator.endswith("OrEqual"):
        return a.low >= b.high, a.high < b.low
    return a.low > b.high, a.high <= b.low


def _connected(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return And or Or, which keeps one kind of fact, and all of one operand beside another that changes nothing."""
    shape, is_and = broadcast(a.shape, b.shape), call.operator == "And"
    outer, kind, neutral = (np.minimum, Kind.SOME_AT_MOST, 1.0) if is_and else (np.maximum, Kind.SOME_AT_LEAST, 0.0)
    facts = tuple(
        fact
        for one, other in ((a, b), (b, a))
        for fact in spread_facts(one, shape)
        if fact.kind is kind or every((other.low == neutral) & (other.high == neutral))
    )
    return boolean(shape, outer(a.low, b.low), outer(a.high, b.high)).known(facts=facts)


def _not(call: Call, a: AbstractTensor) -> AbstractTensor:
    turned = {Kind.SOME_AT_LEAST: Kind.SOME_AT_MOST, Kind.SOME_AT_MOST: Kind.SOME_AT_LEAST}
    facts = tuple(Fact(turned[f.kind], f.axis, 1 - f.high, 1 - f.low) for f in a.facts if f.kind in turned)
    return boolean(a.shape, 1 - a.high, 1 - a.low).known(facts=facts)


def _xor(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    known = (a.low == a.high) & (b.low == b.high)
    differ = (a.low != b.low).astype(float)
    return boolean(broadcast(a.shape, b.shape), np.where(known, differ, 0.0), np.where(known, differ, 1.0))


def _is_infinite(call: Call, a: AbstractTensor) -> AbstractTensor:
    positive = np.isposinf(a.high) & bool(call.attribute("detect_positive", 1))
    negative = np.isneginf(a.low) & bool(call.attribute("detect_negative", 1))
    overflows = a.form is not None and bool((a.box.largest() > a.form.max).any())
    return boolean(a.shape, 0, np.maximum((positive | negative).astype(float), float(overflows)))


def _where(call: Call, condition: AbstractTensor, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape = broadcast(condition.shape, a.shape, b.shape)
    low, high = condition.box.hull()
    then, other = _where_it_is(call, condition, True, a), _where_it_is(call, condition, False, b)
    for certain, taken, untouched in ((low >= 1, then, a), (high <= 0, other, b), (a.number == b.number, a, a)):
        if certain and taken.shape == shape:
            return _chosen(untouched)
    may_then, may_other = condition.high >= 1, condition.low <= 0
    return result_of(
        (a, b),
        shape,
        np.minimum(np.where(may_then, then.low, np.inf), np.where(may_other, other.low, np.inf)),
        np.maximum(np.where(may_then, then.high, -np.inf), np.where(may_other, other.high, -np.inf)),
        np.minimum(np.where(may_then, then.mag, np.inf), np.where(may_other, other.mag, np.inf)),
        may_nan=then.may_nan or other.may_nan,
        may_plus_zero=then.may_zero or other.may_zero,  # Some runtimes add what is chosen to zeros.
        may_minus_zero=then.may_minus_zero or other.may_minus_zero,
        facts=_facts_of_choice(call, condition, a, b, shape),
        integral=a.integral and b.integral,
    )


def _where_it_is(call: Call, condition: AbstractTensor, truth: bool, x: AbstractTensor) -> AbstractTensor:
    """Return a value where a condition has a truth; of a quotient its divisor is known better there, too."""
    values = call.values
    quotient = values.made_by(x.number, "Div", "Reciprocal") if x.form is not None else None
    operands = [] if quotient is None else [values.tensor(number) for number in quotient.operands]
    divisor = operands[-1] if operands else None
    if divisor is not None and divisor.may_zero:
        kept = refine(values, condition.number, truth, divisor)
        dividend = operands[0] if len(operands) > 1 else values.constant(np.ones((), np.float32), x.element_type)
        if dividend is not None and not kept.may_zero:
            x = divide(call, dividend, kept).known(number=x.number)
    return refine(values, condition.number, truth, x)


def _chosen(a: AbstractTensor) -> AbstractTensor:
    """Return what is chosen everywhere; some runtimes add what is chosen to zeros, which changes -0."""
    return a.known(number=0, may_plus_zero=True) if a.may_minus_zero else a


def _facts_of_choice(
    call: Call, condition: AbstractTensor, a: AbstractTensor, b: AbstractTensor, shape: Shape | None
) -> Facts:
    """Return the sums that are left where rows of NaN are replaced by zeros, and what is chosen somewhere in a row."""
    unknown = call.values.made_by(condition.number, "IsNaN")
    if unknown is not None and unknown.operands[0] == b.number:
        if a.constant is None or np.asarray(a.constant).astype(np.float64).any():
            return ()
        return tuple(Fact(f.kind, f.axis, min(0.0, f.low), max(0.0, f.high)) for f in b.facts if f.kind is Kind.SUM)
    facts = (fact for fact in spread_facts(condition, shape) if fact.low > 0 or fact.high < 1)
    return tuple(Fact(Kind.SOME_AT_LEAST, f.axis, float((a if f.low > 0 else b).low.min())) for f in facts)


def _bits(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    """Return bits of both: operands that are not negative stay below a power of two."""
    shape = broadcast(a.shape, b.shape)
    signed = [operand for operand in (a, b) if (operand.low < 0).any()]
    if call.operator == "BitwiseAnd" and len(signed) == 1:  # No bit is set that the other one lacks.
        return result_of((a, b), shape, 0, (b if signed[0] is a else a).high, integral=True)
    if signed or not is_discrete(a.element_type):
        return unbounded(a, shape, b)
    high = np.minimum(a.high, b.high) if call.operator == "BitwiseAnd" else _all_ones(np.maximum(a.high, b.high))
    low = np.maximum(a.low, b.low) if call.operator == "BitwiseOr" else 0.0
    return result_of((a, b), shape, low, high, integral=True)


def _all_ones(values: Any) -> Any:
    return np.exp2(np.ceil(np.log2(values + 1))) - 1 if np.isfinite(values).all() else values


def _bitwise_not(call: Call, a: AbstractTensor) -> AbstractTensor:
    smallest, biggest = type_range(a.element_type)
    box = Box(smallest + biggest - a.high, smallest + biggest - a.low, np.zeros_like(a.mag))
    return like(a, a.shape, box, may_plus_zero=True)


def _shift(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape = broadcast(a.shape, b.shape)
    if (a.low < 0).any() or (b.low < 0).any():
        return unbounded(a, shape, b)
    if call.attribute("direction", "") == "RIGHT":
        return result_of((a, b), shape, 0, a.high, integral=True)
    high = a.high * np.exp2(np.minimum(b.high, 128))
    kept = every(high <= type_range(a.element_type)[1])
    return result_of((a, b), shape, a.low * np.exp2(b.low) if kept else 0, high, integral=True)


TABLE: Mapping[str, Operator] = {
    **dict.fromkeys(("And", "Or"), Operator(_connected, commutative=True)),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), Operator(_bits)),
    **dict.fromkeys(TURNED, Operator(_comparison, error=errors.decided)),
    "BitShift": Operator(_shift),
    "BitwiseNot": Operator(_bitwise_not),
    "Equal": Operator(_comparison, error=errors.decided, commutative=True),
    "IsInf": Operator(_is_infinite, error=errors.decided),
    "IsNaN": Operator(lambda call, a: boolean(a.shape, 0, float(a.may_nan)), error=errors.decided),
    "Not": Operator(_not),
    "Where": Operator(_where, error=errors.where),
    "Xor": Operator(_xor, commutative=True),
}
