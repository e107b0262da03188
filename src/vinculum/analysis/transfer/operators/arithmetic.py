"""Sums, differences, products, quotients, remainders and powers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from vinculum.analysis.domain import dimensions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Dimension, Shape
from vinculum.analysis.domain.facts import Affine, Fact, Facts, Kind, carried, combined
from vinculum.analysis.domain.formats import (
    Bounds,
    Format,
    downward,
    every,
    is_discrete,
    outward,
    some,
    type_range,
    upward,
)
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand
from vinculum.analysis.transfer.declarations import Hidden, Operator
from vinculum.analysis.transfer.relations import (
    at_most_of_norm,
    axes_reaching,
    by_cases,
    error_of_variance,
    extremes_of,
    is_largest_of_all,
    scaled_by_inverse_root,
)
from vinculum.analysis.transfer.shared import (
    apart_from_zero,
    broadcast,
    hull_of,
    like,
    margined,
    result_of,
    spread_facts,
    unbounded,
)

_FOLDED = 64
"""Elements of integer constants that are computed with."""
_DEEPEST = 4
"""The most nested conditions by whose cases a result is bounded: each doubles the work."""


def _sum(call: Call, a: AbstractTensor, b: AbstractTensor, subtracts: bool, deep: int = 0) -> AbstractTensor:
    shape, form = broadcast(a.shape, b.shape), a.form
    folded = _folded(a, b, *((np.subtract, dimensions.minus) if subtracts else (np.add, dimensions.plus)))
    if subtracts and a.number == b.number:
        nan, apart = a.may_nan or a.may_infinite, 0.0
        if form is not None and form.may_round_later and not a.integral:
            apart = 2 * form.u * a.largest + form.smallest_subnormal
        more = {"may_minus_zero": apart > 0, "integral": not apart, **folded}
        return tensor(a.element_type, shape, 0.0 - apart, apart, may_nan=nan, **more)
    other_low, other_high = (-b.high, -b.low) if subtracts else (b.low, b.high)
    low, high = a.low + other_low, a.high + other_high
    integral = a.integral and b.integral
    if form is not None:
        low, high = outward(low, high, form, exact=integral and _within(low, high, 1 / form.u))
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    elif not _within(low, high, 2.0**53) and 0 not in (a.scalar, b.scalar):
        low, high = downward(low), upward(high)
    if subtracts and form is None and a.scalar == 0:
        low = _with_minimum(low, b)
    affine = _affine_sum(a, b, -1.0 if subtracts else 1.0)
    if affine is not None:
        ends = affine.bounds(lambda number: _box_of(call, number))
        low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
    facts: Facts = () if subtracts else (*_raised(a, b, shape), *_raised(b, a, shape))
    # Beside a NaN a runtime may miss some elements, but it misses the same of the largest and of the smallest.
    if subtracts and not (form is not None and form.may_round_later) and extremes_of(call.values, a.number, b.number):
        low = np.maximum(low, 0.0)
    if subtracts and (axes := axes_reaching(call.values, a, b, exactly=True)):
        facts = tuple(Fact(Kind.SOME_AT_LEAST, axis, 0.0) for axis in axes)
    # Beside a NaN, runtimes' ReduceMax may miss the largest element.
    if subtracts and not a.may_nan and (facts or is_largest_of_all(call.values, a, b)):
        high = np.minimum(high, 0.0)
    if subtracts and (error := error_of_variance(call.values, a, b)) is not None:
        low = np.maximum(low, -error)
    other = b if a.scalar == 0 else a if b.scalar == 0 else None
    mag = other.mag if form is not None and other is not None else None
    splits = deep < _DEEPEST and (form is None or some((low <= 0) & (high >= 0)))
    if splits and (cases := by_cases(call.values, a, b)):
        low, high, least = _of_cases([_sum(call, x, y, subtracts, deep + 1) for x, y in cases], low, high)
        mag = least if mag is None else np.maximum(mag, least)
    rounds_to_zero = form is not None and form.may_round_later and some(low < 0)
    result = result_of(
        (a, b),
        shape,
        low,
        high,
        mag,
        may_nan=a.may_nan or b.may_nan or (form is not None and _may_be_opposite(a, other_low, other_high)),
        may_minus_zero=(a.may_minus_zero and (b.may_plus_zero if subtracts else b.may_minus_zero)) or rounds_to_zero,
        affine=affine,
        facts=facts,
        integral=integral,
        **folded,
    )
    return apart_from_zero(result) if form is None and _never_cancels(a, b, subtracts) else result


def _never_cancels(a: AbstractTensor, b: AbstractTensor, subtracts: bool) -> bool:
    """Tell whether a sum or a difference of integers is never 0, even if it wraps."""
    low, high = (b.low, b.high) if subtracts else (-b.high, -b.low)
    apart = ((a.box.largest() == 0) & (b.mag >= 1)) | ((b.box.largest() == 0) & (a.mag >= 1))
    smallest = type_range(b.element_type)[0]
    # In unsigned types another number cancels one, and the smallest integer is its own negation.
    if subtracts or (-np.inf < smallest < 0 and every(b.low > smallest)):
        apart = apart | (a.high < low) | (a.low > high)
    return every(apart)


def _of_cases(parts: Sequence[AbstractTensor], low: Bounds, high: Bounds) -> tuple[Bounds, Bounds, Bounds]:
    """Return bounds as they are in one case or the other, and the least magnitude."""
    hulls = [part.box.hull() for part in parts]
    least = np.asarray(min(float(part.mag.min()) for part in parts))
    return np.maximum(low, min(low for low, _ in hulls)), np.minimum(high, max(high for _, high in hulls)), least


def _may_be_opposite(a: AbstractTensor, other_low: Bounds, other_high: Bounds) -> bool:
    """Tell whether infinities of both signs may be added."""
    if not a.may_infinite:
        return False
    return some((a.high == np.inf) & (other_low == -np.inf)) or some((a.low == -np.inf) & (other_high == np.inf))


def _raised(a: AbstractTensor, b: AbstractTensor, shape: Shape | None) -> Facts:
    """Return the facts on a that a sum keeps, if no element of b is less than a finite number."""
    if not a.facts or a.form is None or not isfinite(least := float(b.low.min())):
        return ()

    def summed(v: float) -> float:
        total = np.asarray(v + least)
        return float(outward(total, total, a.form)[0])

    return carried(spread_facts(a, shape), summed)


def _within(low: Bounds, high: Bounds, limit: float) -> bool:
    return every(low >= -limit) and every(high <= limit)


def _box_of(call: Call, number: int) -> Box:
    known = call.values.tensor(number)
    return known.box if known is not None else Box(np.asarray(-np.inf), np.asarray(np.inf), np.asarray(0.0))


def _folded(a: AbstractTensor, b: AbstractTensor, f: Any, g: Any) -> dict[str, Any]:
    """Return a computed constant of few integers, or what each of few is."""
    if not is_discrete(a.element_type) or a.element_type == "bool":
        return {}
    if a.small is not None and b.small is not None and max(a.small.size, b.small.size) <= _FOLDED:
        return {"constant": np.asarray(f(a.small, b.small))}
    p, q = a.sizes(), b.sizes()
    if p is None or q is None or not {a.rank, b.rank} <= {0, 1}:
        return {}
    if len(p) != len(q) and 1 not in (len(p), len(q)):
        return {}
    count = max(len(p), len(q))
    p, q = (x * count if len(x) == 1 else x for x in (p, q))
    return {"entries": tuple(None if x is None or y is None else g(x, y) for x, y in zip(p, q, strict=True))}


def _affine_of(a: AbstractTensor, shape: Any) -> Affine | None:
    """Return an operand as a form over values of a shape; its own range if it is spread over it."""
    if a.shape == shape and a.constant is None:
        return a.affine or Affine(((a.number, 1.0),), 0.0, 0.0)
    low, high = a.box.hull()
    return Affine((), low, high) if isfinite(low) and isfinite(high) else None


def _affine_sum(a: AbstractTensor, b: AbstractTensor, factor: float) -> Affine | None:
    if a.form is None or a.shape is None or b.shape is None or a.may_infinite or b.may_infinite:
        return None
    shape = broadcast(a.shape, b.shape)
    if shape not in (a.shape, b.shape):
        return None
    p, q = _affine_of(a, shape), _affine_of(b, shape)
    largest = a.largest + b.largest
    if p is None or q is None or not largest <= a.form.max:
        return None
    return combined(p, q, factor, a.form.u * largest * 1.001 + a.form.smallest_subnormal)


def _multiply(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    if a.number == b.number:
        return square(a)
    low, high = hull_of([x * y for x in (a.low, a.high) for y in (b.low, b.high)])
    mag = a.mag * b.mag
    mag = np.where(np.isnan(mag), 0.0, mag)
    integral = a.integral and b.integral
    nan = a.may_nan or b.may_nan
    if a.form is not None:
        low, high = outward(low, high, a.form, exact=integral and _within(low, high, 1 / a.form.u))
        mag = below(mag, a.form)
        nan = nan or (a.may_infinite and b.may_zero) or (b.may_infinite and a.may_zero)
    elif not _within(low, high, 2.0**53):
        low, high, mag = downward(low), upward(high), downward(mag)
    result = result_of(
        (a, b),
        broadcast(a.shape, b.shape),
        low,
        high,
        mag if a.form is not None or _within(low, high, type_range(a.element_type)[1]) else None,
        may_nan=nan,
        may_minus_zero=not (a.never_negative and b.never_negative),
        integral=integral,
        **_folded(a, b, np.multiply, dimensions.times),
    )
    return scaled_by_inverse_root(call, a, b, result)


def below(mag: Bounds, form: Format) -> Bounds:
    """Return a lower bound of magnitudes after rounding: what underflows is zero."""
    mag = downward(mag)
    return np.minimum(mag, form.round(mag))


def square(a: AbstractTensor) -> AbstractTensor:
    """Return a tensor times itself."""
    low, high = a.mag**2, a.box.largest() ** 2
    if a.form is not None:
        low, high = outward(low, high, a.form, exact=a.integral and _within(low, high, 1 / a.form.u))
        low = np.maximum(low, 0.0)
        low = np.minimum(low, a.form.round(low))
    sizes = a.sizes() if (a.rank or 0) <= 1 else None
    entries = None if sizes is None else tuple(None if s is None else dimensions.times(s, s) for s in sizes)
    return result_of((a,), a.shape, low, high, may_minus_zero=False, integral=a.integral, entries=entries)


def divide(call: Call, a: AbstractTensor, b: AbstractTensor, deep: int = 0) -> AbstractTensor:
    """Return bounds of quotients, of floats or of integers."""
    if a.form is None:
        return _divide_integers(call, a, b)
    shape = broadcast(a.shape, b.shape)
    if a.number == b.number and not a.form.may_round_later:
        nan = a.may_nan or a.may_infinite or a.may_zero
        return tensor(a.element_type, shape, 1, 1, may_nan=nan, integral=True)
    low, high = outward(*quotient_bounds(a, b), a.form)
    if deep < _DEEPEST and (cases := by_cases(call.values, a, b)):
        low, high, _ = _of_cases([divide(call, x, y, deep + 1) for x, y in cases], low, high)
    largest = b.box.largest()
    mag = np.where(np.isfinite(largest) & (largest > 0), a.mag / np.where(largest > 0, largest, 1.0), 0.0)
    nan = a.may_nan or b.may_nan or (a.may_zero and b.may_zero) or (a.may_infinite and b.may_infinite)
    minus = not (a.never_negative and b.never_negative)
    result = result_of((a, b), shape, low, high, below(mag, a.form), may_nan=nan, may_minus_zero=minus)
    return at_most_of_norm(call, a, b, result)


def _reciprocal(call: Call, a: AbstractTensor) -> AbstractTensor:
    if not a.element_type:
        return anything("", a.shape)
    return divide(call, call.values.constant(np.ones((), np.float32), a.element_type), a)


def quotient_bounds(a: AbstractTensor, b: AbstractTensor) -> tuple[Bounds, Bounds]:
    """Return bounds of quotients of real numbers, two-sided where the divisor has both signs."""
    low, high = np.full((), np.inf), np.full((), -np.inf)
    zero = b.mag == 0
    for sign, may in ((1.0, b.high > 0), (-1.0, b.low < 0)):
        near = np.maximum(b.mag, np.maximum(sign * np.where(sign > 0, b.low, b.high), 0.0))
        far = np.maximum(sign * np.where(sign > 0, b.high, b.low), near)
        # 0/0 is NaN and counts for nothing here; a divisor of zero may also have been rounded to it.
        corners = [sign * (x / y) for x in (a.low, a.high) for y in (near, far)]
        some_low, some_high = hull_of(corners)
        low = np.where(may, np.minimum(low, some_low), low)
        high = np.where(may, np.maximum(high, some_high), high)
    for sign, may_zero in ((1.0, b.may_plus_zero), (-1.0, b.may_minus_zero)):
        if may_zero and some(zero):
            positive, negative = zero & (a.high > 0), zero & (a.low < 0)
            up, down = (positive, negative) if sign > 0 else (negative, positive)
            high, low = np.where(up, np.inf, high), np.where(down, -np.inf, low)
    nothing = low > high  # Only 0/0 is left.
    return np.where(nothing, 0.0, low), np.where(nothing, 0.0, high)


def _divide_integers(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape = broadcast(a.shape, b.shape)
    if not is_discrete(a.element_type) or b.may_zero:
        return unbounded(a, shape, b)
    low, high = quotient_bounds(a, b)
    low = np.trunc(np.where(np.abs(low) <= 2.0**52, low, downward(low)))
    high = np.trunc(np.where(np.abs(high) <= 2.0**52, high, upward(high)))
    mag = np.floor(downward(a.mag / np.maximum(b.box.largest(), 1.0)))
    return result_of((a, b), shape, low, high, mag, integral=True, **_folded_quotient(a, b))


def _folded_quotient(a: AbstractTensor, b: AbstractTensor) -> dict[str, Any]:
    def truncated(x: Any, y: Any) -> Any:
        exact = [int(Fraction(int(p), int(q))) for p, q in np.broadcast(x, y)]
        return np.array(exact, x.dtype).reshape(np.broadcast_shapes(x.shape, y.shape))

    def exact(x: Dimension, y: Dimension) -> Dimension | None:
        if isinstance(x, int) and isinstance(y, int):
            return int(Fraction(x, y)) if y else None
        return dimensions.quotient(x, y)

    if a.small is not None and a.small.size and int(a.small.min()) <= type_range(a.element_type)[0]:
        return {}
    return _folded(a, b, truncated, exact)


def _modulo(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape, of_dividend = broadcast(a.shape, b.shape), bool(call.attribute("fmod", 0))
    limit = b.box.largest()
    if is_discrete(a.element_type):
        if b.may_zero:
            return unbounded(a, shape, b)
        limit = limit - 1
    signs = a if of_dividend else b
    low, high = np.where(signs.low >= 0, 0.0, -limit), np.where(signs.high <= 0, 0.0, limit)
    if of_dividend:
        low, high = np.maximum(low, np.minimum(a.low, 0.0)), np.minimum(high, np.maximum(a.high, 0.0))
    nan = a.may_nan or b.may_nan or (a.form is not None and (b.may_zero or a.may_infinite))
    folded = {} if of_dividend else _folded(a, b, np.mod, _remainder)
    integral = a.integral and b.integral
    return result_of((a, b), shape, low, high, may_nan=nan, integral=integral, bounds_from=signs.bounds_from, **folded)


def _remainder(x: Dimension, y: Dimension) -> Dimension | None:
    return x % y if isinstance(x, int) and isinstance(y, int) and y else None


def _negate(call: Call, a: AbstractTensor) -> AbstractTensor:
    box = Box(_with_minimum(-a.high, a), -a.low, a.mag)
    affine = a.affine
    if affine is None and a.form is not None and a.shape is not None and a.constant is None:
        affine = Affine(((a.number, 1.0),), 0.0, 0.0)
    terms = () if affine is None else tuple((n, -c) for n, c in affine.terms)
    turned = None if affine is None else Affine(terms, -affine.high, -affine.low)
    return like(a, a.shape, box, may_plus_zero=a.may_minus_zero, may_minus_zero=a.may_plus_zero, affine=turned)


def _with_minimum(low: Bounds, negated: AbstractTensor) -> Bounds:
    """Return lower bounds of negated integers: the smallest of them is its own negation."""
    smallest = type_range(negated.element_type)[0]
    if negated.form is not None or smallest == 0:
        return low
    return np.where(negated.low <= smallest, smallest, low)


def _absolute(call: Call, a: AbstractTensor) -> AbstractTensor:
    box = Box(_with_minimum(a.mag, a), a.box.largest(), a.mag)
    return like(a, a.shape, box, may_plus_zero=a.may_zero, may_minus_zero=False)


def _sign(call: Call, a: AbstractTensor) -> AbstractTensor:
    low, high, mag = np.sign(a.low), np.sign(a.high), np.where(a.mag > 0, 1.0, 0.0)
    if a.may_nan:  # Some runtimes give 0.
        low, high, mag = np.minimum(low, 0.0), np.maximum(high, 0.0), np.zeros_like(mag)
    return tensor(a.element_type, a.shape, low, high, mag, may_nan=a.may_nan, integral=True)


def square_root(a: AbstractTensor, ulps: float = 0.0) -> AbstractTensor:
    """Return the square root: NaN below zero, -0 of -0."""
    if a.form is None:
        return anything(a.element_type, a.shape)
    less = 1 - 8 * a.form.u
    low, high = margined(np.sqrt(np.maximum(a.low, 0.0)), np.sqrt(np.maximum(a.high, 0.0)), a.form, ulps)
    return result_of(
        (a,),
        a.shape,
        np.maximum(low, 0.0),
        np.maximum(high, 0.0),
        below(np.sqrt(np.where(a.high > 0, a.mag, 0.0)) * less, a.form),
        may_nan=a.may_nan or bool((a.low < 0).any()),
        may_plus_zero=a.may_plus_zero,
        may_minus_zero=a.may_minus_zero,
        facts=carried(a.facts, lambda v: float(np.sqrt(max(v, 0.0)) * less)),
    )


def _power(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape, exponent = broadcast(a.shape, b.shape), b.scalar
    if a.form is None:
        return square(a) if exponent == 2 and shape == a.shape else unbounded(a, shape, b)
    if exponent is not None and shape == a.shape:
        if exponent == 1:
            return like(a, shape, a.box)
        if exponent == 2:
            return _with_ulps(square(a), 2)
        if exponent == 0.5:
            root = square_root(a, 2)  # Pow(-0, 0.5) is +0.
            high = np.where(np.isneginf(a.low), np.inf, root.high)  # So is Pow(-inf, 0.5) +inf.
            return like(root, shape, Box(root.low, high, root.mag), may_plus_zero=a.may_zero)
        if exponent and exponent == int(exponent):
            power = call.values.numbered(_whole_power(a, abs(exponent)))
            one = call.values.constant(np.ones((), np.float32), a.element_type)
            return power if exponent > 0 else _with_ulps(divide(call, one, power), 4)
    if a.at_least_zero:
        return _power_of_nonnegative(a, b, shape)
    return result_of((a,), shape, -np.inf, np.inf, may_nan=True, bounds_from=BoundsFrom.TYPE)


def _with_ulps(a: AbstractTensor, ulps: float) -> AbstractTensor:
    if a.form is None:
        return a
    low, high = margined(a.low, a.high, a.form, ulps)
    low = np.where(a.low >= 0, np.maximum(low, 0.0), low)
    return like(a, a.shape, Box(low, high, _less_by(a.mag, a.form, ulps)), may_plus_zero=True, integral=False)


def _less_by(mag: Bounds, form: Format, ulps: float) -> Bounds:
    """Return a lower bound of magnitudes with an error of so many ulps."""
    least = margined(mag, mag, form, ulps)[0]
    return np.where(least < form.smallest_subnormal, 0.0, least)


def _whole_power(a: AbstractTensor, exponent: float) -> AbstractTensor:
    assert a.form is not None
    even = exponent % 2 == 0
    low, high = (a.mag**exponent, a.box.largest() ** exponent) if even else (a.low**exponent, a.high**exponent)
    low, high = margined(low, high, a.form, 4)
    mag = _less_by(a.mag**exponent, a.form, 4)
    minus = not even and not a.never_negative
    low = np.where(even | (a.low >= 0), np.maximum(low, 0.0), low)
    return result_of((a,), a.shape, low, high, mag, may_minus_zero=minus)


def _power_of_nonnegative(a: AbstractTensor, b: AbstractTensor, shape: Any) -> AbstractTensor:
    """Return a power, monotone in both operands on each side of 1 and of 0."""
    assert a.form is not None
    corners = [np.power(np.abs(x), y) for x in (a.low, a.high) for y in (b.low, b.high)]
    corners += [np.where((x.low <= one) & (x.high >= one), 1.0, corners[0]) for x, one in ((a, 1), (b, 0))]
    unknown = np.logical_or.reduce(np.broadcast_arrays(*map(np.isnan, corners)))
    low, high = hull_of(corners)
    low, high = margined(np.where(unknown, 0.0, low), np.where(unknown, np.inf, high), a.form, 4)
    below_zero = a.may_minus_zero and bool((b.low < 0).any())  # pow(-0, -1) is -inf.
    return result_of((a, b), shape, np.full_like(low, -np.inf) if below_zero else np.maximum(low, 0.0), high)


def _sum_of_many(call: Call, *operands: Operand) -> AbstractTensor:
    total, *others = (operand for operand in operands if operand is not None)
    for other in others:
        total = call.values.numbered(_sum(call, total, other, subtracts=False))
    return total if others else like(total, total.shape, total.box)


def _mean_of_many(call: Call, *operands: Operand) -> AbstractTensor:
    total = call.values.numbered(_sum_of_many(call, *operands))
    held_in = operands[0].element_type if operands[0] is not None else None
    quotient = divide(call, total, call.values.constant(np.array(len(operands), np.float32), held_in))
    return _with_ulps(quotient, 2)  # Some multiply by the inverse of the count.


def _base_of_power(call: Call, base: AbstractTensor, exponent: Operand = None) -> Hidden | None:
    """Return the base of a power whose exponent can be negative: 1 is divided by that power."""
    if exponent is None:
        return None
    negative = exponent.low < 0
    if not some((base.mag == 0) & negative if base.shape is not None and exponent.shape is not None else negative):
        return None
    always = bool((exponent.high < 0).all())
    return Hidden(0, base if always else base.known(may_nan=True), of_zero=False)


TABLE: Mapping[str, Operator] = {
    "Abs": Operator(_absolute, error=errors.kept),
    "Add": Operator(partial(_sum, subtracts=False), error=errors.added, commutative=True),
    "Div": Operator(divide, error=errors.divided),
    "Mean": Operator(_mean_of_many, commutative=True),
    "Mod": Operator(_modulo),
    "Mul": Operator(_multiply, error=errors.multiplied, commutative=True),
    "Neg": Operator(_negate, error=errors.kept),
    "Pow": Operator(_power, hidden=_base_of_power),
    "Reciprocal": Operator(_reciprocal, error=errors.divided),
    "Sign": Operator(_sign),
    "Sqrt": Operator(lambda call, a: square_root(a), error=errors.rooted),
    "Sub": Operator(partial(_sum, subtracts=True), error=errors.added),
    "Sum": Operator(_sum_of_many, error=errors.added_up, commutative=True),
}
