"""Comparisons, logic and bits, and the choice by a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Shape
from vinculum.analysis.domain.facts import Fact, Facts, Kind
from vinculum.analysis.domain.formats import is_discrete, type_range
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Transfer
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.refinement import refine
from vinculum.analysis.transfer.shared import boolean, broadcast, like, rest_on, spread_facts, unbounded


def _comparison(operator: str) -> Transfer:
    def transfer(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
        shape = broadcast(a.shape, b.shape)
        if "" in (a.element_type, b.element_type) or "string" in (a.element_type, b.element_type):
            return boolean(shape)
        always, never = _decided(operator, a, b)
        if a.may_nan or b.may_nan:  # A comparison with NaN is false.
            always = np.zeros_like(always)
        facts = _facts_of_equality(a, b, shape) if operator == "Equal" else ()
        return boolean(shape, always.astype(float), 1.0 - never.astype(float)).known(facts=facts)

    return transfer


def _facts_of_equality(a: AbstractTensor, b: AbstractTensor, shape: Shape | None) -> Facts:
    """Return that some element of every row is the largest that it can be, with which all are compared."""
    facts: Facts = ()
    for compared, number in ((a, b.scalar), (b, a.scalar)):
        if number is None or compared.may_nan or float(compared.high.max()) > number:
            continue
        facts += tuple(replace(fact, low=1.0) for fact in spread_facts(compared, shape) if fact.low >= number)
    return facts


def _decided(operator: str, a: AbstractTensor, b: AbstractTensor) -> tuple[Any, Any]:
    """Return where a comparison of numbers always holds, and where it never does."""
    if operator == "Equal":
        same = (a.low == a.high) & (b.low == b.high) & (a.low == b.low) & (np.abs(a.low) < 2.0**53)
        if a.number == b.number:
            same = np.ones_like(same)
        return same, (a.high < b.low) | (b.high < a.low) | (a.mag > b.box.largest()) | (b.mag > a.box.largest())
    if operator.startswith("Less"):
        a, b = b, a
    if operator.endswith("OrEqual"):
        return a.low >= b.high, a.high < b.low
    return a.low > b.high, a.high <= b.low


def _and(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape = broadcast(a.shape, b.shape)
    both = boolean(shape, np.minimum(a.low, b.low), np.minimum(a.high, b.high))
    return both.known(facts=_facts_of_both(a, b, shape))


def _facts_of_both(a: AbstractTensor, b: AbstractTensor, shape: Shape | None) -> Facts:
    """Return facts on rows of one operand where the other is true everywhere."""
    pairs = ((a, b), (b, a))
    return tuple(fact for p, q in pairs if bool((q.low >= 1).all()) for fact in spread_facts(p, shape))


def _or(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    return boolean(broadcast(a.shape, b.shape), np.maximum(a.low, b.low), np.maximum(a.high, b.high))


def _xor(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    known = (a.low == a.high) & (b.low == b.high)
    differ = np.not_equal(a.low, b.low).astype(float)
    return boolean(broadcast(a.shape, b.shape), np.where(known, differ, 0.0), np.where(known, differ, 1.0))


def _not(call: Call, a: AbstractTensor) -> AbstractTensor:
    return boolean(a.shape, 1 - a.high, 1 - a.low)


def _is_nan(call: Call, a: AbstractTensor) -> AbstractTensor:
    return boolean(a.shape, 0, float(a.may_nan))


def _is_infinite(call: Call, a: AbstractTensor) -> AbstractTensor:
    positive = np.isposinf(a.high) & bool(call.attribute("detect_positive", 1))
    negative = np.isneginf(a.low) & bool(call.attribute("detect_negative", 1))
    overflows = a.form is not None and bool((a.box.largest() > a.form.max).any())
    return boolean(a.shape, 0, np.maximum((positive | negative).astype(float), float(overflows)))


def _where(call: Call, condition: AbstractTensor, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape = broadcast(condition.shape, a.shape, b.shape)
    low, high = condition.box.hull()
    then = refine(call.values, condition.number, True, a)
    other = refine(call.values, condition.number, False, b)
    for taken, untouched in ((then, a), (other, b)):
        certain = low >= 1 if taken is then else high <= 0
        if certain and taken.shape == shape:
            return _chosen(untouched)
    if a.number == b.number and a.shape == shape:
        return _chosen(a)
    may_then, may_other = condition.high >= 1, condition.low <= 0
    low_then, low_other = np.where(may_then, then.low, np.inf), np.where(may_other, other.low, np.inf)
    high_then, high_other = np.where(may_then, then.high, -np.inf), np.where(may_other, other.high, -np.inf)
    mag_then, mag_other = np.where(may_then, then.mag, np.inf), np.where(may_other, other.mag, np.inf)
    return tensor(
        a.element_type,
        shape,
        np.minimum(low_then, low_other),
        np.maximum(high_then, high_other),
        np.minimum(mag_then, mag_other),
        may_nan=then.may_nan or other.may_nan,
        may_plus_zero=then.may_zero or other.may_zero,  # Some runtimes add what is chosen to zeros.
        may_minus_zero=then.may_minus_zero or other.may_minus_zero,
        facts=_facts_of_choice(call, condition, a, b, shape),
        integral=a.integral and b.integral,
        bounds_from=rest_on(a, b),
        entries=_entries_of_choice(condition, a, b),
    )


def _chosen(a: AbstractTensor) -> AbstractTensor:
    """Return what is chosen everywhere; some runtimes add what is chosen to zeros, which changes -0."""
    return a.known(number=0, may_plus_zero=True) if a.may_minus_zero else a


def _entries_of_choice(condition: AbstractTensor, a: AbstractTensor, b: AbstractTensor) -> Any:
    chosen, p, q = condition.small, a.sizes(), b.sizes()
    if chosen is None or p is None or q is None or chosen.size != 1 or len(p) != 1 or len(q) != 1:
        return None
    return p if bool(chosen.reshape(())) else q


def _facts_of_choice(
    call: Call, condition: AbstractTensor, a: AbstractTensor, b: AbstractTensor, shape: Shape | None
) -> Facts:
    """Return the sums that are left where rows of NaN are replaced by zeros, and what is chosen somewhere in a row."""
    definition = call.definition(condition)
    if definition is not None and definition.operator == "IsNaN" and definition.operands[0] == b.number:
        if a.constant is None or np.asarray(a.constant).astype(np.float64).any():
            return ()
        return tuple(Fact(f.kind, f.axis, min(0.0, f.low), max(0.0, f.high)) for f in b.facts if f.kind is Kind.SUM)
    if definition is not None and definition.operator == "Not":
        turned = call.values.tensor(definition.operands[0])
        condition, a = (condition, a) if turned is None else (turned, b)
    least = float(a.low.min())
    return tuple(replace(fact, low=least) for fact in spread_facts(condition, shape) if fact.low > 0)


def _bits(operator: str) -> Transfer:
    """Return the transfer function of a bitwise operator: operands that are not negative stay below a power of two."""

    def transfer(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
        shape = broadcast(a.shape, b.shape)
        if (a.low < 0).any() or (b.low < 0).any() or not is_discrete(a.element_type):
            return unbounded(a, shape, b)
        high = np.minimum(a.high, b.high) if operator == "and" else _all_ones(np.maximum(a.high, b.high))
        low = np.maximum(a.low, b.low) if operator == "or" else 0.0
        return tensor(a.element_type, shape, low, high, integral=True, bounds_from=rest_on(a, b))

    return transfer


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
        return tensor(a.element_type, shape, 0, a.high, integral=True, bounds_from=rest_on(a, b))
    high = a.high * np.exp2(np.minimum(b.high, 128))
    return tensor(a.element_type, shape, 0, high, integral=True, bounds_from=rest_on(a, b))


TABLE: Mapping[str, Operator] = {
    "And": Operator(_and, commutative=True),
    "BitShift": Operator(_shift),
    "BitwiseAnd": Operator(_bits("and")),
    "BitwiseNot": Operator(_bitwise_not),
    "BitwiseOr": Operator(_bits("or")),
    "BitwiseXor": Operator(_bits("xor")),
    "Equal": Operator(_comparison("Equal"), error=errors.decided, commutative=True),
    "Greater": Operator(_comparison("Greater"), error=errors.decided),
    "GreaterOrEqual": Operator(_comparison("GreaterOrEqual"), error=errors.decided),
    "IsInf": Operator(_is_infinite, error=errors.decided),
    "IsNaN": Operator(_is_nan, error=errors.decided),
    "Less": Operator(_comparison("Less"), error=errors.decided),
    "LessOrEqual": Operator(_comparison("LessOrEqual"), error=errors.decided),
    "Not": Operator(_not),
    "Or": Operator(_or, commutative=True),
    "Where": Operator(_where, error=errors.where),
    "Xor": Operator(_xor, commutative=True),
}
