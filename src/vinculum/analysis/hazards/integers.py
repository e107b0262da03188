"""Quotients of integers: beyond their type, rounded in the wrong direction, or computed in floating point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from onnx import NodeProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.domain.formats import INTEGERS, is_discrete, type_range
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.hazards.hazard import Found, Hazard, HazardOfDivisions, is_empty, readers
from vinculum.analysis.interpreter import Site
from vinculum.analysis.places import frames
from vinculum.analysis.transfer.call import named_type

_NARROWED = {"int64": 2.0**31 - 1, "uint64": 2.0**31 - 1, "uint32": 2.0**31 - 1, "int32": 2.0**24}
"""The largest integers that OpenVINO's CPU device divides exactly."""
_MOST_QUOTIENTS = 1 << 20
_MOST_DIVISORS = 64
_DEEPEST = 8
"""The most nested conditions that are examined: each doubles the work."""
_ROUNDS = frozenset({"Floor", "Ceil", "Round"})
_BEHIND = frozenset({"Identity", "Floor", "Ceil", "Round", "Squeeze", "Unsqueeze", "Reshape"})


class MinOverMinusOne(HazardOfDivisions):
    """The smallest integer can be divided by -1: the type does not hold the quotient, and some runtimes crash."""

    code = "min-over-minus-one"
    operators: ClassVar[tuple[str, ...]] = ("Div", "Mod")
    fix = "keep the dividend above the smallest integer, or the divisor from -1"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the divisor if it can be -1 where the dividend can be the smallest integer."""
        if dividend is None or dividend.element_type not in INTEGERS:
            return None
        smallest = type_range(dividend.element_type)[0]
        if smallest == 0 or not bool((dividend.low <= smallest).any()):
            return None
        if not _may_be(site.call.values, divisor.number, -1, {dividend.number: smallest}):
            return None
        certain = dividend.box.hull() == (smallest, smallest) and divisor.box.hull() == (-1, -1)
        return Found(place, certain)


def _may_be(values: Numbering, number: int, value: float, held: Mapping[int, float], deep: int = 0) -> bool:
    """Tell whether a value may be a number where others are what they are held to be: conditions may exclude it."""
    number = _uncast(values, number)
    if held.get(number, value) != value:
        return False
    known, definition = values.tensor(number), values.made_by(number, "Where")
    if known is not None and not bool(((known.low <= value) & (known.high >= value) & (known.mag <= abs(value))).any()):
        return False
    if definition is None or deep == _DEEPEST:
        return True
    condition, *choices = definition.operands
    return any(
        _may_be(values, chosen, value, held, deep + 1)
        and _truth(values, condition, {**held, chosen: value}) is not (not truth)
        for chosen, truth in zip((_uncast(values, one) for one in choices), (True, False), strict=True)
    )


def _uncast(values: Numbering, number: int) -> int:
    """Return the integer that was cast to one, if the type holds every value of it."""
    cast = values.made_by(number, "Cast")
    before, after = (None, None) if cast is None else (values.tensor(cast.operands[0]), values.tensor(number))
    if cast is None or before is None or after is None or after.element_type not in INTEGERS:
        return number
    low, high = type_range(after.element_type)
    fits = is_discrete(before.element_type) and low <= before.low.min() and before.high.max() <= high
    return _uncast(values, cast.operands[0]) if fits else number


def _truth(values: Numbering, condition: int, held: Mapping[int, float], deep: int = 0) -> bool | None:
    """Return the truth of a condition where values are what they are held to be; None if that leaves it open."""
    definition = values.made_by(condition, "Equal", "And", "Or", "Not")
    if definition is None or deep == _DEEPEST:
        return None
    if definition.operator == "Equal":
        a, b = (held.get(_uncast(values, one), values.scalar(one)) for one in definition.operands)
        return None if a is None or b is None else a == b
    truths = [_truth(values, operand, held, deep + 1) for operand in definition.operands]
    if definition.operator == "Not":
        return None if truths[0] is None else not truths[0]
    decisive = definition.operator == "Or"
    return decisive if decisive in truths else None if None in truths else not decisive


def _becomes_integer(site: Site) -> bool:
    """Tell whether the quotient is rounded to an integer, for an index or a size."""
    return any(
        node.op_type in _ROUNDS or (node.op_type == "Cast" and _casts_to_integer(node))
        for node, _ in readers(site.scope, site.node.output[0], _BEHIND)
    )


def _casts_to_integer(node: NodeProto) -> bool:
    return any(attribute.name == "to" and named_type(attribute.i) in INTEGERS for attribute in node.attribute)


def _was_integer(site: Site, value: AbstractTensor) -> bool:
    """Tell whether a floating-point value was an integer until it was divided."""
    cast = site.call.values.made_by(value.number, "Cast")
    before = None if cast is None else site.call.values.tensor(cast.operands[0])
    return before is not None and is_discrete(before.element_type)


class IntegersThroughFloat(HazardOfDivisions):
    """Large integers are divided in floating point, which rounds them, and the quotient is rounded to an integer."""

    code = "integers-through-float"
    operators = ("Div",)
    fix = "divide the integers themselves (Div truncates; floor needs a correction), or divide in float64"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the dividend if it can be beyond what the type holds exactly."""
        if dividend is None or dividend.form is None:
            return None
        if not (dividend.integral and divisor.integral) or not _becomes_integer(site):
            return None
        exact = 1 / dividend.form.u
        for operand_place, operand in ((0, dividend), (1, divisor)):
            largest = operand.largest
            if largest > exact and (np.isfinite(largest) or _was_integer(site, operand)):
                return Found(operand_place, detail={"exact_up_to": int(exact)})
        return None


class RoundedQuotient(HazardOfDivisions):
    """A whole quotient, computed as a product with an inverse as some runtimes do, is rounded to another integer.

    Right where division is correctly rounded. OpenVINO makes 165/15 11.000001, and Ceil makes that 12.
    """

    code = "rounded-quotient"
    operators = ("Div",)
    fix = "divide the integers themselves, or round(x * 2) / 2 before taking Floor or Ceil"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the divisor if some whole quotient of the declared ranges moves."""
        if dividend is None or dividend.form is None:
            return None
        if not (_was_integer(site, dividend) and divisor.integral) or not _becomes_integer(site):
            return None
        if dividend.largest > 1 / dividend.form.u or dividend.constant is not None:
            return None
        moved = _moved_quotient(dividend, divisor, dividend.form.dtype, _roundings(site))
        return None if moved is None else Found(place, detail=moved)


def _roundings(site: Site) -> list[Any]:
    """Return how the quotient is rounded to an integer; rounding to nearest moves nothing."""
    nodes = [node for node, _ in readers(site.scope, site.node.output[0], _BEHIND)]
    by_operator: dict[str, Any] = {"Floor": np.floor, "Ceil": np.ceil, "Cast": np.trunc}
    return [by_operator[name] for name in sorted({node.op_type for node in nodes} & set(by_operator))]


def _moved_quotient(
    dividend: AbstractTensor, divisor: AbstractTensor, dtype: Any, roundings: list[Any]
) -> dict[str, Any] | None:
    """Return a quotient that a product with an inverse moves; of many divisors one that is not looked for."""
    divisors = _few_divisors(divisor)
    if divisors is None:
        return {}
    low, high = dividend.box.hull()
    for d in divisors:
        ends = sorted((low / d, high / d))
        first, last = int(np.ceil(ends[0])), int(np.floor(ends[1]))
        quotients = np.arange(first, min(last, first + _MOST_QUOTIENTS) + 1)
        if not quotients.size:
            continue
        products = (quotients * d).astype(dtype) * (np.ones((), dtype) / np.asarray(d, dtype))
        for rounding in roundings:
            wrong = rounding(products.astype(np.float64)) != quotients
            if wrong.any():
                whole = int(quotients[int(np.argmax(wrong))])
                return {"example": f"{whole * d} / {d}"}
    return None


def _few_divisors(divisor: AbstractTensor) -> list[int] | None:
    if divisor.small is not None:
        return sorted({int(value) for value in divisor.small.reshape(-1).astype(np.float64)} - {0})
    low, high = divisor.box.hull()
    return [d for d in range(int(low), int(high) + 1) if d] if high - low < _MOST_DIVISORS else None


class FloorExpected(HazardOfDivisions):
    """The program floors where Div truncates: quotients of operands with different signs are 1 too large."""

    code = "floor-expected"
    operators = ("Div",)
    fix = "export with a correction: subtract 1 where the remainder is not zero and the signs differ"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the dividend if the user's line floors, the signs can differ, and nothing corrects the quotient."""
        if dividend is None or dividend.element_type not in INTEGERS:
            return None
        pairs = ((dividend, divisor), (divisor, dividend))
        differ = any(bool((x.low < 0).any()) and bool((y.high > 0).any()) for x, y in pairs)
        return Found(0) if differ and _says_floor(site) and not _is_corrected(site) else None


def _says_floor(site: Site) -> bool:
    lines = [frame.code for frame in frames(site.node)]
    return any("//" in line.partition("#")[0] or "floor_divide" in line or '"floor"' in line for line in lines)


def _is_corrected(site: Site) -> bool:
    """Tell whether the remainder of the same operands is computed too, or the quotient is only multiplied back."""
    names = list(site.node.input)
    remainder = any(
        node.op_type == "Mod" and list(node.input) == names for name in names for node in site.scope.users.get(name, ())
    )
    return remainder or any(node.op_type == "Sub" for node in site.scope.users.get(site.node.output[0], ()))


class NarrowedIntegers(Hazard):
    """Integers can be too large for this target, which computes 64-bit ones in 32 bits and 32-bit ones in float32."""

    code = "narrowed-integers"
    operators = ("Div", "Mod")
    fix = "declare the range of the input, or keep the operands within 32 bits"
    profile = "narrowing"

    def look(self, site: Site) -> Found | None:
        """Return the first operand that declared ranges do not keep small enough."""
        for place, operand in enumerate(site.operands[:2]):
            limit = np.inf if operand is None or is_empty(site) else _NARROWED.get(operand.element_type, np.inf)
            if operand is not None and operand.largest > limit:
                certain = operand.constant is not None and operand.bounds_from is BoundsFrom.MODEL
                return Found(place, certain, {"exact_up_to": int(limit)})
        return None
