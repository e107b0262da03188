"""Sums, differences, products, quotients, remainders and powers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from vinculum.analysis.domain import dimensions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.affine import Affine, combined
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Dimension, Shape
from vinculum.analysis.domain.facts import Fact, Facts, Kind
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
from vinculum.analysis.transfer.norms import at_most_of_norm, scaled_by_inverse_root
from vinculum.analysis.transfer.operator import Hidden, Operator
from vinculum.analysis.transfer.refinement import by_cases
from vinculum.analysis.transfer.shared import (
    apart_from_zero,
    broadcast,
    hull_of,
    like,
    margined,
    rest_on,
    spread_facts,
    unbounded,
)

_FOLDED = 64
"""Elements of integer constants that are computed with."""


def _add(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    return _sum(call, a, b, 1)


def _subtract(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    return _sum(call, a, b, -1)


def _sum(call: Call, a: AbstractTensor, b: AbstractTensor, sign: int) -> AbstractTensor:
    shape, form = broadcast(a.shape, b.shape), a.form
    folded = _folded(a, b, np.add if sign > 0 else np.subtract, dimensions.plus if sign > 0 else dimensions.minus)
    if sign < 0 and a.number == b.number:
        nan = a.may_nan or a.may_infinite
        return tensor(a.element_type, shape, 0, 0, may_nan=nan, may_minus_zero=False, integral=True, **folded)
    other_low, other_high = (b.low, b.high) if sign > 0 else (-b.high, -b.low)
    low, high = a.low + other_low, a.high + other_high
    nan = a.may_nan or b.may_nan or (form is not None and _may_be_opposite(a, other_low, other_high))
    integral = a.integral and b.integral
    exact = integral and form is not None and _within(low, high, 1 / form.u)
    if form is not None:
        low, high = outward(low, high, form, exact=exact)
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    elif not _within(low, high, 2.0**53) and 0 not in (a.scalar, b.scalar):
        low, high = downward(low), upward(high)
    if sign < 0 and form is None and a.scalar == 0:
        low = _with_minimum(low, b)
    affine = _affine_sum(a, b, sign)
    if affine is not None and len(affine.terms) <= 4:
        ends = affine.bounds(lambda number: _box_of(call, number))
        low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
    other_minus = b.may_minus_zero if sign > 0 else b.may_plus_zero
    # What a runtime holds in float32 rounds to zero later.
    rounds_to_zero = form is not None and form.least < form.smallest_subnormal and some(low < 0)
    facts: Facts = (*_raised(a, b, shape), *_raised(b, a, shape)) if sign > 0 else ()
    if sign < 0 and _are_extremes(call, a, b):
        low = np.maximum(low, 0.0)
    other = b if a.scalar == 0 else a if b.scalar == 0 else None
    mag = other.mag if form is not None and other is not None else None
    zero = form is None or some((low <= 0) & (high >= 0))
    parts = [_sum(call, x, y, sign) for x, y in by_cases(call.values, a, b)] if zero else []
    if parts:
        low = np.maximum(low, min(part.box.hull()[0] for part in parts))
        high = np.minimum(high, max(part.box.hull()[1] for part in parts))
        least = min(float(part.mag.min()) for part in parts)
        mag = np.asarray(least) if mag is None else np.maximum(mag, least)
    top_axis = _axis_of_largest(call, a, b) if sign < 0 else None
    if top_axis is not None:
        facts = (Fact(Kind.SOME_AT_LEAST, top_axis, 0.0),)
        if not a.may_nan:  # Beside a NaN, runtimes' ReduceMax may miss the largest element.
            high = np.minimum(high, 0.0)
    result = tensor(
        a.element_type,
        shape,
        low,
        high,
        mag,
        may_nan=nan,
        may_minus_zero=(a.may_minus_zero and other_minus) or rounds_to_zero,
        affine=affine,
        facts=facts,
        integral=integral,
        bounds_from=rest_on(a, b),
        **folded,
    )
    # A negated integer is 0 only for 0, even if it wraps.
    return apart_from_zero(result) if form is None and other is not None and every(other.mag >= 1) else result


def _are_extremes(call: Call, a: AbstractTensor, b: AbstractTensor) -> bool:
    """Tell whether these are the largest and the smallest element of the same rows.

    Beside a NaN a runtime may miss some elements, but it misses the same of both. One of them alone may have been
    rounded to a narrow type yet.
    """
    if a.form is not None and a.form.least < a.form.smallest_subnormal:
        return False
    largest, smallest = call.definition(a), call.definition(b)
    if largest is None or smallest is None or (largest.operator, smallest.operator) != ("ReduceMax", "ReduceMin"):
        return False
    return largest.operands == smallest.operands and largest.attributes == smallest.attributes


def _may_be_opposite(a: AbstractTensor, other_low: Bounds, other_high: Bounds) -> bool:
    """Tell whether infinities of both signs may be added."""
    if not a.may_infinite:
        return False
    return some((a.high == np.inf) & (other_low == -np.inf)) or some((a.low == -np.inf) & (other_high == np.inf))


def _raised(a: AbstractTensor, b: AbstractTensor, shape: Shape | None) -> Facts:
    """Return what is left of facts on a where no element of b is less than a finite number."""
    if not a.facts or a.form is None or not isfinite(least := float(b.low.min())):
        return ()
    found = spread_facts(a, shape)
    sums = [np.asarray(fact.low + least) for fact in found]
    return tuple(replace(f, low=float(outward(s, s, a.form)[0])) for f, s in zip(found, sums, strict=True))


def _within(low: Bounds, high: Bounds, limit: float) -> bool:
    return every(low >= -limit) and every(high <= limit)


def _box_of(call: Call, number: int) -> Box:
    known = call.values.tensor(number)
    return known.box if known is not None else Box(np.asarray(-np.inf), np.asarray(np.inf), np.asarray(0.0))


def _axis_of_largest(call: Call, a: AbstractTensor, b: AbstractTensor) -> int | None:
    """Return the axis along which b holds the largest elements of a."""
    definition = call.definition(b)
    if definition is None or definition.operator != "ReduceMax" or definition.operands[0] != a.number or not a.shape:
        return None
    differing = [axis for axis, (p, q) in enumerate(zip(a.shape, b.shape or (), strict=False)) if p != q]
    return differing[0] if b.rank == a.rank and len(differing) == 1 else None


def _folded(a: AbstractTensor, b: AbstractTensor, f: Any, g: Any) -> dict[str, Any]:
    """Return a computed constant of few integers, or what each of few is."""
    if not is_discrete(a.element_type) or a.element_type == "bool":
        return {}
    if a.small is not None and b.small is not None and max(a.small.size, b.small.size) <= _FOLDED:
        return {"constant": np.asarray(f(a.small, b.small))}
    p, q = a.sizes(), b.sizes()
    if p is None or q is None or (a.rank or 0) > 1 or (b.rank or 0) > 1 or a.rank is None or b.rank is None:
        return {}
    if len(p) != len(q) and 1 not in (len(p), len(q)):
        return {}
    count = max(len(p), len(q))
    p, q = (x * count if len(x) == 1 and count > 1 else x for x in (p, q))
    return {"entries": tuple(None if x is None or y is None else g(x, y) for x, y in zip(p, q, strict=True))}


def _affine_of(a: AbstractTensor, shape: Any) -> Affine | None:
    """Return an operand as a form over values of a shape; its own range if it is spread over it."""
    if a.shape == shape and a.constant is None:
        return a.affine or Affine(((a.number, 1.0),), 0.0, 0.0)
    low, high = a.box.hull()
    return Affine((), low, high) if isfinite(low) and isfinite(high) else None


def _affine_sum(a: AbstractTensor, b: AbstractTensor, sign: int) -> Affine | None:
    if a.form is None or a.shape is None or b.shape is None or a.may_infinite or b.may_infinite:
        return None
    shape = broadcast(a.shape, b.shape)
    if shape not in (a.shape, b.shape):
        return None
    p, q = _affine_of(a, shape), _affine_of(b, shape)
    largest = float(a.box.largest().max()) + float(b.box.largest().max())
    if p is None or q is None or not largest <= a.form.max:
        return None
    return combined(p, q, float(sign), a.form.u * largest * 1.001 + a.form.smallest_subnormal)


def _multiply(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    if a.number == b.number:
        return square(a)
    shape, form = broadcast(a.shape, b.shape), a.form
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = hull_of(corners)
    mag = a.mag * b.mag
    mag = np.where(np.isnan(mag), 0.0, mag)
    integral = a.integral and b.integral
    nan = a.may_nan or b.may_nan
    if form is not None:
        low, high = outward(low, high, form, exact=integral and _within(low, high, 1 / form.u))
        mag = below(mag, form)
        nan = nan or (a.may_infinite and b.may_zero) or (b.may_infinite and a.may_zero)
    elif not _within(low, high, 2.0**53):
        low, high, mag = downward(low), upward(high), downward(mag)
    result = tensor(
        a.element_type,
        shape,
        low,
        high,
        mag if form is not None or _within(low, high, type_range(a.element_type)[1]) else None,
        may_nan=nan,
        may_minus_zero=not (a.never_negative and b.never_negative),
        integral=integral,
        bounds_from=rest_on(a, b),
        affine=_affine_product(a, b),
        **_folded(a, b, np.multiply, dimensions.times),
    )
    return scaled_by_inverse_root(call, a, b, result)


def _affine_product(a: AbstractTensor, b: AbstractTensor) -> Affine | None:
    for x, factor in ((a, b.scalar), (b, a.scalar)):
        if factor is None or x.affine is None or x.form is None or x.may_infinite:
            continue
        largest = abs(factor) * float(x.box.largest().max())
        if largest > x.form.max:
            continue
        scaled = Affine(tuple((n, c * factor) for n, c in x.affine.terms), 0.0, 0.0)
        rest = Affine((), *sorted((x.affine.low * factor, x.affine.high * factor)))
        error = x.form.u * largest * 1.001 + x.form.smallest_subnormal
        # Coefficients are products of floats themselves; the slack covers their rounding.
        slack = 2.0**-50 * sum(abs(c) for _, c in scaled.terms) * largest
        return combined(scaled, rest, 1.0, error + slack) if np.isfinite(slack) else None
    return None


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
    entries = None
    if a.sizes() is not None and (a.rank or 0) <= 1:
        entries = tuple(None if s is None else dimensions.times(s, s) for s in a.sizes() or ())
    return tensor(
        a.element_type,
        a.shape,
        low,
        high,
        low if a.form is not None else None,
        may_nan=a.may_nan,
        may_minus_zero=False,
        integral=a.integral,
        bounds_from=a.bounds_from,
        entries=entries,
    )


def _divide(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    if a.form is None:
        return _divide_integers(call, a, b)
    shape, form = broadcast(a.shape, b.shape), a.form
    if a.number == b.number:
        nan = a.may_nan or a.may_infinite or a.may_zero
        return tensor(a.element_type, shape, 1, 1, may_nan=nan, integral=True)
    low, high = quotient_bounds(a, b)
    largest = b.box.largest()
    mag = np.where(np.isfinite(largest) & (largest > 0), a.mag / np.where(largest > 0, largest, 1.0), 0.0)
    low, high = outward(low, high, form)
    parts = [_divide(call, x, y) for x, y in by_cases(call.values, a, b)]
    if parts:
        low = np.maximum(low, min(part.box.hull()[0] for part in parts))
        high = np.minimum(high, max(part.box.hull()[1] for part in parts))
    nan = a.may_nan or b.may_nan or (a.may_zero and b.may_zero) or (a.may_infinite and b.may_infinite)
    result = tensor(
        a.element_type,
        shape,
        low,
        high,
        below(mag, form),
        may_nan=nan,
        may_minus_zero=not (a.never_negative and b.never_negative),
        bounds_from=rest_on(a, b),
    )
    return at_most_of_norm(call, a, b, result)


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
    low = np.where(np.abs(low) <= 2.0**52, low, downward(low))
    high = np.where(np.abs(high) <= 2.0**52, high, upward(high))
    return tensor(
        a.element_type,
        shape,
        np.trunc(low),
        np.trunc(high),
        np.floor(downward(a.mag / np.maximum(b.box.largest(), 1.0))),
        integral=True,
        bounds_from=rest_on(a, b),
        **_folded_quotient(a, b),
    )


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


def _reciprocal(call: Call, a: AbstractTensor) -> AbstractTensor:
    one = call.values.constant(np.ones((), np.float32), a.element_type)
    return _divide(call, one, a)


def _modulo(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape = broadcast(a.shape, b.shape)
    limit = b.box.largest()
    if is_discrete(a.element_type):
        if b.may_zero:
            return unbounded(a, shape, b)
        limit = limit - 1
    signs = a if call.attribute("fmod", 0) else b
    low = np.where(signs.low >= 0, 0.0, -limit)
    high = np.where(signs.high <= 0, 0.0, limit)
    if call.attribute("fmod", 0):
        low, high = np.maximum(low, np.minimum(a.low, 0.0)), np.minimum(high, np.maximum(a.high, 0.0))
    nan = a.may_nan or b.may_nan or (a.form is not None and (b.may_zero or a.may_infinite))
    if a.form is not None and not call.attribute("fmod", 0):
        low, high = np.minimum(np.broadcast_arrays(-limit, low + 0 * limit)[0], 0), np.maximum(limit, 0)
    return tensor(
        a.element_type,
        shape,
        low,
        high,
        may_nan=nan,
        integral=a.integral and b.integral,
        bounds_from=rest_on(b if not call.attribute("fmod", 0) else a),
        **({} if call.attribute("fmod", 0) else _folded_remainder(a, b)),
    )


def _folded_remainder(a: AbstractTensor, b: AbstractTensor) -> dict[str, Any]:
    def remainder(x: Dimension, y: Dimension) -> Dimension | None:
        return x % y if isinstance(x, int) and isinstance(y, int) and y else None

    return _folded(a, b, np.mod, remainder)


def _negate(call: Call, a: AbstractTensor) -> AbstractTensor:
    box = Box(_with_minimum(-a.high, a), -a.low, a.mag)
    affine = a.affine
    if affine is None and a.form is not None and a.shape is not None and a.constant is None:
        affine = Affine(((a.number, 1.0),), 0.0, 0.0)
    turned = None
    if affine is not None:
        turned = Affine(tuple((n, -c) for n, c in affine.terms), -affine.high, -affine.low)
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


def _square_root(call: Call, a: AbstractTensor) -> AbstractTensor:
    return square_root(a)


def square_root(a: AbstractTensor, ulps: float = 0.0) -> AbstractTensor:
    """Return the square root: NaN below zero, -0 of -0."""
    if a.form is None:
        return anything(a.element_type, a.shape)
    below_zero = bool((a.low < 0).any())
    low, high = margined(np.sqrt(np.maximum(a.low, 0.0)), np.sqrt(np.maximum(a.high, 0.0)), a.form, ulps)
    mag = below(np.sqrt(a.mag) * (1 - 8 * a.form.u), a.form)
    facts = tuple(
        Fact(Kind.SOME_AT_LEAST, f.axis, float(np.sqrt(max(f.low, 0.0)) * (1 - 8 * a.form.u)))
        for f in a.facts
        if f.kind is Kind.SOME_AT_LEAST
    )
    return tensor(
        a.element_type,
        a.shape,
        np.maximum(low, 0.0),
        np.maximum(high, 0.0),
        mag,
        may_nan=a.may_nan or below_zero,
        may_plus_zero=a.may_plus_zero,
        may_minus_zero=a.may_minus_zero,
        facts=facts,
        bounds_from=a.bounds_from,
    )


def _power(call: Call, a: AbstractTensor, b: AbstractTensor) -> AbstractTensor:
    shape, exponent = broadcast(a.shape, b.shape), b.scalar
    if a.form is None:
        if exponent == 2 and shape == a.shape:
            return square(a)
        return unbounded(a, shape, b)
    if exponent is not None and shape == a.shape:
        if exponent == 1:
            return like(a, shape, a.box)
        if exponent == 2:
            return _with_ulps(square(a), 2)
        if exponent == 0.5:
            root = square_root(a, 2)  # Pow(-0, 0.5) is +0.
            high = np.where(np.isneginf(a.low), np.inf, root.high)  # So is Pow(-inf, 0.5) +inf.
            return like(root, shape, Box(root.low, high, root.mag), may_plus_zero=a.may_zero)
        if exponent > 0 and exponent == int(exponent):
            return _whole_power(a, exponent)
    if bool((a.low >= 0).all()):
        return _power_of_nonnegative(a, b, shape)
    may_infinite_or_nan = tensor(a.element_type, shape, -np.inf, np.inf, may_nan=True, bounds_from=BoundsFrom.TYPE)
    if exponent is not None and exponent == int(exponent) and exponent % 2 == 0:
        return like(may_infinite_or_nan, shape, Box(np.zeros(()), may_infinite_or_nan.high, np.zeros(())))
    return may_infinite_or_nan


def _with_ulps(a: AbstractTensor, ulps: float) -> AbstractTensor:
    low, high = margined(a.low, a.high, a.form, ulps)
    mag = np.maximum(margined(a.mag, a.mag, a.form, ulps)[0], 0.0)
    low = np.where(a.low >= 0, np.maximum(low, 0.0), low)
    mag = np.where(mag < (a.form.smallest_subnormal if a.form else 0.0), 0.0, mag)
    zero = a.may_zero or bool((mag == 0).any())
    return like(a, a.shape, Box(low, high, mag), may_plus_zero=zero, may_minus_zero=a.may_minus_zero, integral=False)


def _whole_power(a: AbstractTensor, exponent: float) -> AbstractTensor:
    assert a.form is not None
    even = exponent % 2 == 0
    low, high = (a.mag**exponent, a.box.largest() ** exponent) if even else (a.low**exponent, a.high**exponent)
    low, high = margined(low, high, a.form, 4)
    low = np.maximum(low, 0.0) if even else low
    mag = np.maximum(margined(a.mag**exponent, a.mag**exponent, a.form, 4)[0], 0.0)
    mag = np.where(mag < a.form.smallest_subnormal, 0.0, mag)
    return tensor(
        a.element_type,
        a.shape,
        low,
        high,
        mag,
        may_nan=a.may_nan,
        may_minus_zero=not even,
        bounds_from=a.bounds_from,
    )


def _power_of_nonnegative(a: AbstractTensor, b: AbstractTensor, shape: Any) -> AbstractTensor:
    """Return a power, monotone in both operands on each side of 1 and of 0."""
    assert a.form is not None
    corners = [np.power(np.abs(x), y) for x in (a.low, a.high) for y in (b.low, b.high)]
    corners.append(np.where((a.low <= 1) & (a.high >= 1), 1.0, corners[0]))
    corners.append(np.where((b.low <= 0) & (b.high >= 0), 1.0, corners[0]))
    nan = [np.isnan(corner) for corner in corners]
    low, high = hull_of(corners)
    unknown = np.logical_or.reduce(np.broadcast_arrays(*nan))
    low, high = np.where(unknown, 0.0, low), np.where(unknown, np.inf, high)
    low, high = margined(low, high, a.form, 4)
    below_zero = a.may_minus_zero and bool((b.low < 0).any())  # pow(-0, -1) is -inf.
    low = np.full_like(low, -np.inf) if below_zero else np.maximum(low, 0.0)
    return tensor(
        a.element_type,
        shape,
        low,
        high,
        may_nan=a.may_nan or b.may_nan,
        bounds_from=rest_on(a, b),
    )


def _sum_of_many(call: Call, *operands: Operand) -> AbstractTensor:
    given = [operand for operand in operands if operand is not None]
    total = given[0]
    for operand in given[1:]:
        total = call.values.numbered(_sum(call, total, operand, 1))
    return total if len(given) > 1 else like(total, total.shape, total.box)


def _mean_of_many(call: Call, *operands: Operand) -> AbstractTensor:
    total = call.values.numbered(_sum_of_many(call, *operands))
    held_in = operands[0].element_type if operands[0] is not None else None
    quotient = _divide(call, total, call.values.constant(np.array(len(operands), np.float32), held_in))
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
    "Add": Operator(_add, error=errors.added, commutative=True),
    "Div": Operator(_divide, error=errors.divided),
    "Mean": Operator(_mean_of_many, commutative=True),
    "Mod": Operator(_modulo),
    "Mul": Operator(_multiply, error=errors.multiplied, commutative=True),
    "Neg": Operator(_negate, error=errors.kept),
    "Pow": Operator(_power, hidden=_base_of_power),
    "Reciprocal": Operator(_reciprocal, error=errors.divided),
    "Sign": Operator(_sign),
    "Sqrt": Operator(_square_root, error=errors.rooted),
    "Sub": Operator(_subtract, error=errors.added),
    "Sum": Operator(_sum_of_many, error=errors.added_up, commutative=True),
}
