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
from vinculum.analysis.transfer.shared import broadcast, carried, like, margined, rest_on
from vinculum.analysis.transfer.unary import OF_ATTRIBUTES, OVER_ONE, Unary

# Errors in ulps: twice the largest that was measured of ONNX Runtime, NumPy and PyTorch on 2 * 10**6 points.
_ULPS_EXP, _ULPS_ERF, _ULPS_LOG, _ULPS_TANH, _ULPS_OTHER = 2, 4, 8, 10, 16
_HALF_PI = 1.5707963267948966 * OVER_ONE
_ZERO = (0.0,)
_SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}


def _erf(values: Bounds) -> Bounds:
    return np.vectorize(erf, otypes=[np.float64])(values) if values.size else values


def _below_zero(f: Callable[..., Bounds]) -> Callable[..., Bounds]:
    """Return a function that is another one below zero, and the identity above."""
    return lambda x, *given: np.where(x < 0, f(np.minimum(x, 0.0), *given), x)


def _selu(x: Bounds, alpha: float, gamma: float) -> Bounds:
    return gamma * np.where(x < 0, alpha * np.expm1(np.minimum(x, 0.0)), x)


def _hard_sigmoid(x: Bounds, alpha: float, beta: float) -> Bounds:
    return np.clip(alpha * x + beta, 0, 1)


def _softplus(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return log(1 + exp(x)), which overflows where it is computed so."""
    result = _LOG_SUM(call, a)
    if a.form is None:
        return result
    high = np.where(a.high >= np.log(a.form.max) - 1, np.inf, result.high)
    return result.known(box=Box(result.low, high, result.mag))


def _relu(call: Call, a: AbstractTensor) -> AbstractTensor:
    mag = np.where(a.low >= 0, a.mag, 0.0)
    zero = a.may_zero or bool((a.low < 0).any())
    facts = carried(a.facts, lambda v: np.maximum(v, 0.0), None, 0, 0.0)
    box = Box(np.maximum(a.low, 0.0), np.maximum(a.high, 0.0), mag)
    return like(a, a.shape, box, may_plus_zero=zero, may_minus_zero=zero, facts=facts)


def _self_gated(least: float) -> Transfer:
    """Return the transfer function of x times a gate between 0 and 1: at least some number, at most x."""

    def transfer(call: Call, a: AbstractTensor) -> AbstractTensor:
        if a.form is None:
            return anything(a.element_type, a.shape)
        alpha = call.attribute("alpha", 1.0)
        bottom = least / alpha if alpha > 0 else -np.inf
        low = np.where(a.low >= 0, 0.0, np.maximum(np.minimum(a.low * OVER_ONE, 0.0), bottom - 8 * a.form.u))
        high = np.maximum(a.high * OVER_ONE, 0.0)
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


def _shrink(call: Call, a: AbstractTensor) -> AbstractTensor:
    bias = abs(call.attribute("bias", 0.0))
    low, high = np.minimum(a.low - bias, 0.0), np.maximum(a.high + bias, 0.0)
    if a.form is not None:  # Some runtimes compute it in float32 whatever the type.
        low, high = outward(*outward(low, high, a.form), FORMATS["float32"])
        slack = OF_ATTRIBUTES * np.where(np.isfinite(bias), bias, 0.0)
        low, high = low - slack, high + slack
    return tensor(a.element_type, a.shape, low, high, may_nan=a.may_nan, bounds_from=a.bounds_from)


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


logarithm = Unary(np.log, domain=(0.0, np.inf), ulps=_ULPS_LOG, rising=True)
"""The natural logarithm: NaN below zero."""
_LOG_SUM = Unary(lambda x: np.logaddexp(0, x), ulps=4, absolute=8, least=0.0, rising=True)

TABLE: Mapping[str, Transfer] = {
    "Acos": Unary(np.arccos, domain=(-1.0, 1.0), ulps=_ULPS_OTHER),
    "Acosh": Unary(np.arccosh, domain=(1.0, np.inf), ulps=_ULPS_OTHER),
    "Asin": Unary(np.arcsin, domain=(-1.0, 1.0), ulps=_ULPS_OTHER),
    "Asinh": Unary(np.arcsinh, ulps=_ULPS_OTHER, rising=True),
    "Atan": Unary(np.arctan, ulps=_ULPS_OTHER, least=-_HALF_PI, greatest=_HALF_PI, rising=True),
    "Atanh": Unary(np.arctanh, domain=(-1.0, 1.0), ulps=_ULPS_OTHER),
    "Ceil": Unary(np.ceil, exact=True, integral=True, rising=True),
    "Celu": Unary(
        _below_zero(lambda x, alpha: alpha * np.expm1(x / alpha) if alpha else np.full_like(x, np.nan)),
        {"alpha": 1.0}, turns=_ZERO, ulps=_ULPS_OTHER, absolute=4,
    ),
    "Clip": _clip,
    "Cos": Unary(None, least=-OVER_ONE, greatest=OVER_ONE, finite=True),
    "Cosh": Unary(np.cosh, turns=_ZERO, ulps=_ULPS_OTHER, least=0.5),
    "Elu": Unary(
        _below_zero(lambda x, alpha: alpha * np.expm1(x)), {"alpha": 1.0}, turns=_ZERO, ulps=_ULPS_OTHER, absolute=4
    ),
    "Erf": Unary(_erf, ulps=_ULPS_ERF, least=-OVER_ONE, greatest=OVER_ONE, rising=True),
    "Exp": Unary(np.exp, ulps=_ULPS_EXP, least=0.0, minus_zero=False, rising=True),
    "Floor": Unary(np.floor, exact=True, integral=True, rising=True),
    "Gelu": _self_gated(-0.18),
    "HardSigmoid": Unary(
        _hard_sigmoid, {"alpha": 0.2, "beta": 0.5}, ulps=_ULPS_OTHER, absolute=64, least=0.0, greatest=1.0
    ),
    "HardSwish": _self_gated(-0.376),
    "Identity": _identity,
    "LeakyRelu": Unary(
        _below_zero(lambda x, alpha: alpha * x), {"alpha": 0.01}, turns=_ZERO, ulps=_ULPS_OTHER, absolute=4
    ),
    "Log": logarithm,
    "Max": _extremum(largest=True),
    "Min": _extremum(largest=False),
    "Mish": _self_gated(-0.31),
    "PRelu": _parametric_relu,
    "Relu": _relu,
    "Round": Unary(np.rint, exact=True, integral=True, rising=True),
    "Selu": Unary(_selu, _SELU, turns=_ZERO, ulps=_ULPS_OTHER, absolute=4),
    "Shrink": _shrink,
    "Sigmoid": Unary(
        # Libraries have an absolute error here: some are 0 already at -20, some above 1.
        lambda x: 1 / (1 + np.exp(-x)), absolute=16, least=0.0, minus_zero=False, rising=True
    ),
    "Sin": Unary(None, least=-OVER_ONE, greatest=OVER_ONE, finite=True),
    "Sinh": Unary(np.sinh, ulps=_ULPS_OTHER, rising=True),
    "Softplus": _softplus,
    "Softsign": Unary(None, least=-OVER_ONE, greatest=OVER_ONE, finite=True),
    "Swish": _self_gated(-0.28),
    "Tan": Unary(None, finite=True),
    "Tanh": Unary(np.tanh, ulps=_ULPS_TANH, least=-OVER_ONE, greatest=OVER_ONE, rising=True),
    "ThresholdedRelu": Unary(
        lambda x, alpha: np.where(x > alpha, x, 0.0), {"alpha": 1.0}, turns=lambda alpha: (alpha,)
    ),
}  # fmt: skip
