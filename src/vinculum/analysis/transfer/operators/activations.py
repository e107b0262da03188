"""Elementwise functions of one operand, and what libraries compute of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import erf

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.facts import Facts
from vinculum.analysis.domain.formats import FORMATS, Bounds, outward
from vinculum.analysis.transfer.call import Call, Operand, Transfer
from vinculum.analysis.transfer.shared import broadcast, carried, like, margined, monotone, ranged, rest_on

# Errors in ulps: twice the largest that was measured of ONNX Runtime, NumPy and PyTorch on 2 * 10**6 points.
_ULPS_EXP, _ULPS_ERF, _ULPS_LOG, _ULPS_TANH, _ULPS_OTHER = 2, 4, 8, 10, 16
_OVER_ONE = 1 + 2.0**-20
_OF_ATTRIBUTES = 2.0**-21
"""What attributes, which are float32, and numbers made of them may be off by, relatively."""
_HALF_PI = 1.5707963267948966 * _OVER_ONE


def _erf(values: Bounds) -> Bounds:
    return np.vectorize(erf, otypes=[np.float64])(values) if values.size else values


def logarithm(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return the natural logarithm: NaN below zero."""
    below_zero = bool((a.low < 0).any())
    if a.form is None:
        return anything(a.element_type, a.shape)
    ends = np.log(np.maximum(a.low, 0.0)), np.log(np.maximum(a.high, 0.0))
    low, high = margined(*ends, a.form, _ULPS_LOG)
    facts = carried(a.facts, lambda v: np.log(np.maximum(v, 0.0)), a.form, _ULPS_LOG, -np.inf)
    nan = a.may_nan or below_zero
    return tensor(a.element_type, a.shape, low, high, may_nan=nan, facts=facts, bounds_from=a.bounds_from)


def _sigmoid(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return a sigmoid, of which libraries have an absolute error: some are 0 already at -20, some above 1."""
    if a.form is None:
        return anything(a.element_type, a.shape)
    error = max(8 * a.form.u, 2.0**-20)
    low, high = (1 / (1 + np.exp(-ends)) for ends in (a.low, a.high))
    low, high = outward(np.maximum(low - error, 0.0), high + error, a.form)
    return tensor(a.element_type, a.shape, low, high, may_nan=a.may_nan, may_minus_zero=False)


def _softplus(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.form is None:
        return anything(a.element_type, a.shape)
    error = 8 * a.form.u
    low, high = margined(np.logaddexp(0, a.low), np.logaddexp(0, a.high), a.form, 4)
    low, high = np.maximum(low - error, 0.0), high + error
    high = np.where(a.high >= np.log(a.form.max) - 1, np.inf, high)  # As log(1 + exp(x)) it overflows.
    return tensor(a.element_type, a.shape, low, high, may_nan=a.may_nan, bounds_from=a.bounds_from)


def _relu(call: Call, a: AbstractTensor) -> AbstractTensor:
    mag = np.where(a.low >= 0, a.mag, 0.0)
    zero = a.may_zero or bool((a.low < 0).any())
    facts = carried(a.facts, lambda v: np.maximum(v, 0.0), None, 0, 0.0)
    box = Box(np.maximum(a.low, 0.0), np.maximum(a.high, 0.0), mag)
    return like(a, a.shape, box, may_plus_zero=zero, may_minus_zero=zero, facts=facts)


def _pieces(negative: Callable[[Call, Bounds], Bounds], positive: Callable[[Call, Bounds], Bounds]) -> Transfer:
    """Return the transfer function of an operator that is monotone below zero, monotone above, and zero at zero."""

    def transfer(call: Call, a: AbstractTensor) -> AbstractTensor:
        if a.form is None:
            return anything(a.element_type, a.shape)
        below, above = np.minimum(a.low, 0.0), np.maximum(a.high, 0.0)
        lower_end, upper_start = np.minimum(a.high, 0.0), np.maximum(a.low, 0.0)
        ends = [negative(call, below), negative(call, lower_end), positive(call, upper_start), positive(call, above)]
        nan = any(bool(np.isnan(end).any()) for end in ends)
        whole = [np.where(np.isnan(end), 0.0, end) for end in ends]
        has_negative, has_positive = a.low < 0, a.high >= 0
        low = np.minimum(
            np.where(has_negative, np.minimum(whole[0], whole[1]), np.inf),
            np.where(has_positive, np.minimum(whole[2], whole[3]), np.inf),
        )
        high = np.maximum(
            np.where(has_negative, np.maximum(whole[0], whole[1]), -np.inf),
            np.where(has_positive, np.maximum(whole[2], whole[3]), -np.inf),
        )
        low, high = margined(low, high, a.form, _ULPS_OTHER)
        low, high = (
            np.where(np.isfinite(end), end + side * _OF_ATTRIBUTES * np.abs(end), end)
            for end, side in ((low, -1), (high, 1))
        )
        low, high = low - 4 * a.form.u * (np.abs(low) < 4), high + 4 * a.form.u * (np.abs(high) < 4)
        return tensor(a.element_type, a.shape, low, high, may_nan=a.may_nan or nan, bounds_from=a.bounds_from)

    return transfer


def _same(call: Call, x: Bounds) -> Bounds:
    return x


def _selu_above(call: Call, x: Bounds) -> Bounds:
    return np.asarray(call.attribute("gamma", 1.0507009873554805) * x)


def _selu_below(call: Call, x: Bounds) -> Bounds:
    alpha, scale = call.attribute("alpha", 1.6732632423543772), call.attribute("gamma", 1.0507009873554805)
    return np.asarray(scale * alpha * np.expm1(x))


def _elu_below(call: Call, x: Bounds) -> Bounds:
    return np.asarray(call.attribute("alpha", 1.0) * np.expm1(x))


def _celu_below(call: Call, x: Bounds) -> Bounds:
    alpha = call.attribute("alpha", 1.0)
    return np.asarray(alpha * np.expm1(x / alpha)) if alpha else np.full_like(x, np.nan)


def _leaky_below(call: Call, x: Bounds) -> Bounds:
    return np.asarray(call.attribute("alpha", 0.01) * x)


def _self_gated(least: float) -> Transfer:
    """Return the transfer function of x times a gate between 0 and 1: at least some number, at most x."""

    def transfer(call: Call, a: AbstractTensor) -> AbstractTensor:
        if a.form is None:
            return anything(a.element_type, a.shape)
        alpha = call.attribute("alpha", 1.0)
        bottom = least / alpha if alpha > 0 else -np.inf
        low = np.where(a.low >= 0, 0.0, np.maximum(np.minimum(a.low * _OVER_ONE, 0.0), bottom - 8 * a.form.u))
        high = np.maximum(a.high * _OVER_ONE, 0.0)
        low, high = margined(low, high, a.form, 4)
        return tensor(
            a.element_type, a.shape, low, high, may_nan=a.may_nan or a.may_infinite, bounds_from=a.bounds_from
        )

    return transfer


def _parametric_relu(call: Call, a: AbstractTensor, slope: AbstractTensor) -> AbstractTensor:
    shape = broadcast(a.shape, slope.shape)
    if a.form is None:
        return anything(a.element_type, shape)
    below = np.minimum(a.low, 0.0)
    corners = [below * slope.low, below * slope.high]
    nan = any(bool(np.isnan(corner).any()) for corner in corners)
    low, high = np.maximum(a.low, 0.0), np.maximum(a.high, 0.0)
    for corner in corners:
        value = np.where(np.isnan(corner), 0.0, corner)
        low, high = np.minimum(low, value), np.maximum(high, value)
    low, high = np.minimum(low, np.where(a.low < 0, 0.0, low)), np.maximum(high, np.where(a.low < 0, 0.0, high))
    low, high = margined(low, high, a.form, 1)
    may_nan = a.may_nan or slope.may_nan or nan or (a.may_infinite and slope.may_zero) or slope.may_infinite
    return tensor(a.element_type, shape, low, high, may_nan=may_nan, bounds_from=rest_on(a, slope))


def _thresholded(call: Call, a: AbstractTensor) -> AbstractTensor:
    alpha = call.attribute("alpha", 1.0)
    low = np.minimum(np.maximum(a.low, alpha * (1 - 2.0**-20) if alpha > 0 else alpha * _OVER_ONE), 0.0)
    return tensor(a.element_type, a.shape, low, np.maximum(a.high, 0.0), may_nan=a.may_nan, bounds_from=a.bounds_from)


def _shrink(call: Call, a: AbstractTensor) -> AbstractTensor:
    bias = abs(call.attribute("bias", 0.0))
    low, high = np.minimum(a.low - bias, 0.0), np.maximum(a.high + bias, 0.0)
    if a.form is not None:  # Some runtimes compute it in float32 whatever the type.
        low, high = outward(*outward(low, high, a.form), FORMATS["float32"])
        slack = _OF_ATTRIBUTES * np.where(np.isfinite(bias), bias, 0.0)
        low, high = low - slack, high + slack
    return tensor(a.element_type, a.shape, low, high, may_nan=a.may_nan, bounds_from=a.bounds_from)


def _hard_sigmoid(call: Call, a: AbstractTensor) -> AbstractTensor:
    alpha, beta = call.attribute("alpha", 0.2), call.attribute("beta", 0.5)
    ends = [np.where(np.isnan(end), 0.5, end) for end in (alpha * a.low + beta, alpha * a.high + beta)]
    slack = 2.0**-20 + (8 * a.form.u if a.form is not None else 0.0)
    largest = np.maximum(np.abs(ends[0]), np.abs(ends[1])) + abs(beta)
    wide = slack * np.where(np.isfinite(largest), np.minimum(largest, 4.0), 4.0)
    low, high = np.clip(np.minimum(*ends) - wide, 0, 1), np.clip(np.maximum(*ends) + wide, 0, 1)
    nan = a.may_nan or (alpha == 0 and a.may_infinite)
    return tensor(a.element_type, a.shape, low, high, may_nan=nan)


def _inside(f: Callable[[Bounds], Bounds], low: float, high: float, *, falling: bool = False) -> Transfer:
    """Return the transfer function of a monotone function that is NaN outside of a range."""
    inner = monotone(f, ulps=_ULPS_OTHER, falling=falling)

    def transfer(call: Call, a: AbstractTensor) -> AbstractTensor:
        outside = bool((a.low < low).any() or (a.high > high).any())
        clipped = a.known(box=Box(np.clip(a.low, low, high), np.clip(a.high, low, high), np.zeros_like(a.mag)))
        result = inner(call, clipped)
        assert isinstance(result, AbstractTensor)
        return like(result, a.shape, result.box, may_nan=a.may_nan or outside)

    return transfer


def _tangent(call: Call, a: AbstractTensor) -> AbstractTensor:
    return tensor(a.element_type, a.shape, -np.inf, np.inf, may_nan=a.may_nan or a.may_infinite)


def _cosh(call: Call, a: AbstractTensor) -> AbstractTensor:
    low, high = margined(np.cosh(a.mag), np.cosh(a.box.largest()), a.form, _ULPS_OTHER)
    return tensor(a.element_type, a.shape, np.maximum(low, 0.5), high, may_nan=a.may_nan, bounds_from=a.bounds_from)


def _softsign(call: Call, a: AbstractTensor) -> AbstractTensor:
    return tensor(a.element_type, a.shape, -_OVER_ONE, _OVER_ONE, may_nan=a.may_nan or a.may_infinite)


def _clip(call: Call, a: AbstractTensor, least: Operand = None, most: Operand = None) -> AbstractTensor:
    ends = [call.attribute(name, None) for name in ("min", "max")] if call.opset < 11 else [None, None]
    low, high, may_nan = a.low, a.high, a.may_nan
    limited = 0
    for end, operand, bound in ((ends[0], least, np.maximum), (ends[1], most, np.minimum)):
        if operand is not None and operand.may_nan:
            may_nan = True  # Then x may stay as it is, too.
            low, high = (
                np.minimum(low, bound(low, operand.low.min())),
                np.maximum(high, bound(high, operand.high.max())),
            )
        elif operand is not None:
            low, high = bound(low, operand.low.min()), bound(high, operand.high.max())
            limited += bool(np.isfinite(operand.box.hull()).all())
        elif end is not None:
            low, high = bound(low, end), bound(high, end)
            limited += bool(np.isfinite(end))
    if a.form is not None:  # A limit that is missing is the largest finite value to some runtimes.
        low = np.minimum(low, a.form.max) if most is None and ends[1] is None else low
        high = np.maximum(high, -a.form.max) if least is None and ends[0] is None else high
    facts: Facts = ()
    if least is None or not least.may_nan:
        facts = carried(a.facts, lambda v: v if most is None else np.minimum(v, most.low.min()), None, 0, -np.inf)
    rests = a.bounds_from if limited < 2 else BoundsFrom.MODEL
    given = (least, most)
    limits_whole = all(limit.integral for limit in given if limit is not None) and not any(e is not None for e in ends)
    return tensor(
        a.element_type,
        a.shape,
        low,
        high,
        may_nan=may_nan,
        facts=facts,
        integral=a.integral and limits_whole,
        bounds_from=max(rests, rest_on(least, most)),
    )


def _identity(call: Call, a: AbstractTensor) -> AbstractTensor:
    return a


def _extremum(*, largest: bool) -> Transfer:
    """Return the transfer function of Max or Min, which some runtimes let drop a NaN."""

    def transfer(call: Call, *operands: Operand) -> AbstractTensor:
        given = [operand for operand in operands if operand is not None]
        result = given[0]
        for other in given[1:]:
            result = call.values.numbered(_two_extremes(result, other, largest))
        return result

    return transfer


def _two_extremes(a: AbstractTensor, b: AbstractTensor, largest: bool) -> AbstractTensor:
    outer, inner = (np.maximum, np.minimum) if largest else (np.minimum, np.maximum)
    near, far = ("low", "high") if largest else ("high", "low")
    sure = [getattr(x, near) for x in (a, b) if not x.may_nan]
    if len(sure) == 2:
        inside = outer(*sure)
    elif sure:
        inside = sure[0]
    else:
        inside = inner(getattr(a, near), getattr(b, near))
    outside = outer(getattr(a, far), getattr(b, far))
    low, high = (inside, outside) if largest else (outside, inside)
    facts = tuple(f for x in (a, b) if largest and x.shape == broadcast(a.shape, b.shape) for f in x.facts)
    kept = carried(facts, lambda v: v, None, 0, -np.inf) if not (a.may_nan or b.may_nan) else ()
    return tensor(
        a.element_type,
        broadcast(a.shape, b.shape),
        low,
        high,
        np.minimum(a.mag, b.mag),
        may_nan=a.may_nan or b.may_nan,
        facts=kept,
        integral=a.integral and b.integral,
        bounds_from=rest_on(a, b),
    )


TABLE: Mapping[str, Transfer] = {
    "Acos": _inside(np.arccos, -1, 1, falling=True),
    "Acosh": _inside(np.arccosh, 1, np.inf),
    "Asin": _inside(np.arcsin, -1, 1),
    "Asinh": monotone(np.arcsinh, ulps=_ULPS_OTHER),
    "Atan": monotone(np.arctan, ulps=_ULPS_OTHER, least=-_HALF_PI, greatest=_HALF_PI, bounded=True),
    "Atanh": _inside(np.arctanh, -1, 1),
    "Ceil": monotone(np.ceil, exact=True, integral=True),
    "Celu": _pieces(_celu_below, _same),
    "Clip": _clip,
    "Cos": ranged(-_OVER_ONE, _OVER_ONE, needs_finite=True),
    "Cosh": _cosh,
    "Elu": _pieces(_elu_below, _same),
    "Erf": monotone(_erf, ulps=_ULPS_ERF, least=-_OVER_ONE, greatest=_OVER_ONE, bounded=True),
    "Exp": monotone(np.exp, ulps=_ULPS_EXP, least=0.0, may_minus_zero=False),
    "Floor": monotone(np.floor, exact=True, integral=True),
    "Gelu": _self_gated(-0.18),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _self_gated(-0.376),
    "Identity": _identity,
    "LeakyRelu": _pieces(_leaky_below, _same),
    "Log": logarithm,
    "Max": _extremum(largest=True),
    "Min": _extremum(largest=False),
    "Mish": _self_gated(-0.31),
    "PRelu": _parametric_relu,
    "Relu": _relu,
    "Round": monotone(np.rint, exact=True, integral=True),
    "Selu": _pieces(_selu_below, _selu_above),
    "Shrink": _shrink,
    "Sigmoid": _sigmoid,
    "Sin": ranged(-_OVER_ONE, _OVER_ONE, needs_finite=True),
    "Sinh": monotone(np.sinh, ulps=_ULPS_OTHER),
    "Softplus": _softplus,
    "Softsign": _softsign,
    "Swish": _self_gated(-0.28),
    "Tan": _tangent,
    "Tanh": monotone(np.tanh, ulps=_ULPS_TANH, least=-_OVER_ONE, greatest=_OVER_ONE, bounded=True),
    "ThresholdedRelu": _thresholded,
}
