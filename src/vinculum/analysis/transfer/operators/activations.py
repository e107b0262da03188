"""Elementwise functions of one operand, and what libraries compute of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import erf
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, constant
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.facts import carried
from vinculum.analysis.domain.formats import FORMATS, Bounds, outward
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand
from vinculum.analysis.transfer.declarations import OF_ATTRIBUTES, OVER_ONE, Operator, Unary
from vinculum.analysis.transfer.shared import broadcast, hull_of, like, margined, rest_on, result_of

# Errors in ulps: twice the largest that was measured of ONNX Runtime, NumPy and PyTorch on 2 * 10**6 points.
_ULPS_EXP, _ULPS_ERF, _ULPS_LOG, _ULPS_TANH, _ULPS_OTHER = 2, 4, 8, 10, 16
_MOST_OF_TANH = 1 + 6 * 2.0**-24
"""ONNX Runtime's goes to 1 + 4 * 2**-24."""
_HALF_PI = 1.5707963267948966 * OVER_ONE
_ZERO = (0.0,)
_GATED: Mapping[str, Any] = {"ulps": 4, "absolute": 4, "finite": True, "gates": True}
_WAVE: Mapping[str, Any] = {"period": 2 * np.pi, "ulps": _ULPS_OTHER, "absolute": 16, "finite": True, "slope": 1.0}
_SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}


def _erf(values: Bounds) -> Bounds:
    return np.vectorize(erf, otypes=[np.float64])(values) if values.size else values


def _below_zero(f: Callable[..., Bounds]) -> Callable[..., Bounds]:
    """Return a function that is another one below zero, and the identity above."""
    return lambda x, *given: np.where(x < 0, f(np.minimum(x, 0.0), *given), x)


def _at_least_one(low: Bounds, high: Bounds, alpha: float) -> float:
    return max(1.0, abs(alpha))


def _gelu(call: Call) -> Unary:
    return GELU_BY_TANH if call.attribute("approximate", "none") == "tanh" else GELU


def _softplus(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return log(1 + exp(x)), which overflows where it is computed so."""
    result = _LOG_SUM(call, a)
    if a.form is None:
        return result
    return result.known(box=replace(result.box, high=np.where(a.high >= np.log(a.form.max) - 1, np.inf, result.high)))


def _elu(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return alpha (exp(x) - 1) below zero, which no library takes below -alpha."""
    result, alpha = _BARE_ELU(call, a), np.asarray(call.attribute("alpha", 1.0), np.float32).astype(np.float64)
    if a.form is None or alpha < 0:
        return result
    least = -np.maximum(alpha, a.form.round(alpha))  # Some round the attribute to the type.
    return result.known(box=replace(result.box, low=np.maximum(result.low, least)))


def _relu(call: Call, a: AbstractTensor) -> AbstractTensor:
    zero = a.may_zero or bool((a.low < 0).any())
    box = Box(np.maximum(a.low, 0.0), np.maximum(a.high, 0.0), np.where(a.low >= 0, a.mag, 0.0))
    facts = carried(a.facts, lambda v: max(v, 0.0))
    return like(a, a.shape, box, may_plus_zero=zero, may_minus_zero=zero, facts=facts)


def _parametric_relu(call: Call, a: AbstractTensor, slope: AbstractTensor) -> AbstractTensor:
    shape = broadcast(a.shape, slope.shape)
    if a.form is None:
        return anything(a.element_type, shape)
    corners = [np.minimum(x, 0.0) * end for x in (a.low, a.high) for end in (slope.low, slope.high)]
    nan = a.may_nan or slope.may_nan or slope.may_infinite or (a.may_infinite and slope.may_zero)
    nan = nan or any(bool(np.isnan(corner).any()) for corner in corners)
    low, high = hull_of(corners)
    low, high = np.where(a.low < 0, low, a.low), np.where(a.high < 0, high, np.maximum(high, a.high))
    return result_of((a, slope), shape, *margined(low, high, a.form, 1), may_nan=nan)


def _shrink(call: Call, a: AbstractTensor) -> AbstractTensor:
    result = _BARE_SHRINK(call, a)
    if a.form is None:
        return result
    # Some runtimes compute it in float32 whatever the type, and some round the attributes to the type.
    slack = 2 * max(a.form.u, OF_ATTRIBUTES) * abs(float(call.attribute("bias", 0.0)))
    bounds = outward(*outward(result.low - slack, result.high + slack, a.form), FORMATS["float32"])
    return result_of((a,), a.shape, *bounds)


def _clip(call: Call, a: AbstractTensor, least: Operand = None, most: Operand = None) -> AbstractTensor:
    set_ = [call.attribute(name, None) for name in ("min", "max")] if call.opset < 11 else [None, None]
    given = zip(set_, (least, most), strict=True)
    ends = [operand if end is None else constant(np.asarray(end, np.float64)) for end, operand in given]
    low, high, may_nan = a.low, a.high, a.may_nan
    for end, bound in zip(ends, (np.maximum, np.minimum), strict=True):
        if end is None:
            continue
        moved = bound(low, end.low.min()), bound(high, end.high.max())
        # Beside a limit that is NaN x may stay as it is, too.
        low, high = (np.minimum(low, moved[0]), np.maximum(high, moved[1])) if end.may_nan else moved
        may_nan = may_nan or end.may_nan
    if a.form is not None:  # A limit that is missing is the largest finite value to some runtimes.
        low = np.minimum(low, a.form.max) if ends[1] is None else low
        high = np.maximum(high, -a.form.max) if ends[0] is None else high
    top = np.inf if ends[1] is None else float(ends[1].low.min())
    facts = () if ends[0] is not None and ends[0].may_nan else carried(a.facts, lambda v: min(v, top))
    limited = all(end is not None and not end.may_nan and np.isfinite(end.box.hull()).all() for end in ends)
    whole = a.integral and all(end is None or end.integral for end in (least, most)) and set_ == [None, None]
    rests = max(BoundsFrom.MODEL if limited else a.bounds_from, rest_on(least, most))
    return result_of((a,), a.shape, low, high, may_nan=may_nan, facts=facts, integral=whole, bounds_from=rests)


def _extremum(call: Call, *operands: Operand) -> AbstractTensor:
    """Return Max or Min, which some runtimes let drop a NaN."""
    result, *others = (operand for operand in operands if operand is not None)
    for other in others:
        result = call.values.numbered(_two_extremes(result, other, call.operator == "Max"))
    return result


def _two_extremes(a: AbstractTensor, b: AbstractTensor, largest: bool) -> AbstractTensor:
    outer, inner = (np.maximum, np.minimum) if largest else (np.minimum, np.maximum)
    near, far = ("low", "high") if largest else ("high", "low")
    shape = broadcast(a.shape, b.shape)
    sure = [getattr(x, near) for x in (a, b) if not x.may_nan]
    inside = outer.reduce(np.broadcast_arrays(*sure)) if sure else inner(getattr(a, near), getattr(b, near))
    outside = outer(getattr(a, far), getattr(b, far))
    facts = () if a.may_nan or b.may_nan or not largest else (f for x in (a, b) if x.shape == shape for f in x.facts)
    low, high = (inside, outside) if largest else (outside, inside)
    more: dict[str, Any] = {"facts": carried(tuple(facts), lambda v: v), "integral": a.integral and b.integral}
    return result_of((a, b), shape, low, high, np.minimum(a.mag, b.mag), **more)


logarithm = Unary(
    np.log, domain=(0.0, np.inf), ulps=_ULPS_LOG, rising=True, slope=lambda low, high: OVER_ONE / np.maximum(low, 0.0)
)
"""The natural logarithm: NaN below zero."""
_LOG_SUM = Unary(lambda x: np.logaddexp(0, x), ulps=4, absolute=8, least=0.0, rising=True, slope=1.0)

SWISH = Unary(
    lambda x, alpha: x / (1 + np.exp(-alpha * x)),
    {"alpha": 1.0},
    turns=lambda alpha: (-1.2784645351971353 / alpha,) if alpha else (),
    slope=1.1,
    **_GATED,
)
_BARE_ELU = Unary(
    _below_zero(lambda x, alpha: alpha * np.expm1(x)), {"alpha": 1.0}, turns=_ZERO, ulps=_ULPS_OTHER, absolute=4,
    slope=_at_least_one,
)  # fmt: skip
_BARE_SHRINK = Unary(
    lambda x, limit, bias: np.where(x < -limit, x + bias, np.where(x > limit, x - bias, 0.0)),
    {"lambd": 0.5, "bias": 0.0},
    turns=lambda limit, bias: (-limit, limit),
    ulps=1,
)
GELU = Unary(
    lambda x: x * 0.5 * (1 + _erf(x * 0.7071067811865476)),
    turns=(-0.7517915260400782,),
    slope=1.1291,
    least=-0.18,
    **_GATED,
)
GELU_BY_TANH = Unary(
    lambda x: x * 0.5 * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))),
    turns=(-0.7524614172335874,),
    slope=1.1291,
    least=-0.18,
    **_GATED,
)

_UNARY: Mapping[str, Unary] = {
    "Acos": Unary(np.arccos, domain=(-1.0, 1.0), ulps=_ULPS_OTHER),
    "Acosh": Unary(np.arccosh, domain=(1.0, np.inf), ulps=_ULPS_OTHER),
    "Asin": Unary(np.arcsin, domain=(-1.0, 1.0), ulps=_ULPS_OTHER),
    "Asinh": Unary(np.arcsinh, ulps=_ULPS_OTHER, rising=True, slope=1.0),
    "Atan": Unary(np.arctan, ulps=_ULPS_OTHER, least=-_HALF_PI, greatest=_HALF_PI, rising=True, slope=1.0),
    "Atanh": Unary(np.arctanh, domain=(-1.0, 1.0), ulps=_ULPS_OTHER),
    "Ceil": Unary(np.ceil, exact=True, integral=True, rising=True),
    "Celu": Unary(
        _below_zero(lambda x, alpha: alpha * np.expm1(x / alpha) if alpha else np.full_like(x, np.nan)),
        {"alpha": 1.0}, turns=_ZERO, ulps=_ULPS_OTHER, absolute=4,
        slope=lambda low, high, alpha: 1.0 if alpha > 0 else np.inf,
    ),
    "Cos": Unary(np.cos, turns=(0.0, np.pi), least=-OVER_ONE, greatest=OVER_ONE, **_WAVE),
    "Cosh": Unary(
        np.cosh, turns=_ZERO, ulps=_ULPS_OTHER, least=0.5,
        slope=lambda low, high: np.sinh(np.maximum(-low, high)) * OVER_ONE,
    ),
    "Erf": Unary(_erf, ulps=_ULPS_ERF, least=-OVER_ONE, greatest=OVER_ONE, rising=True, slope=1.13),
    "Exp": Unary(
        np.exp, ulps=_ULPS_EXP, least=0.0, minus_zero=False, rising=True,
        slope=lambda low, high: np.exp(high) * OVER_ONE,
    ),
    "Floor": Unary(np.floor, exact=True, integral=True, rising=True),
    "HardSigmoid": Unary(
        lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1), {"alpha": 0.2, "beta": 0.5},
        ulps=_ULPS_OTHER, absolute=64, least=0.0, greatest=1.0,
        slope=lambda low, high, alpha, beta: abs(alpha),
    ),
    "HardSwish": Unary(
        lambda x: x * np.clip(x / 6 + 0.5, 0, 1), turns=(-3.0, -1.5, 3.0), slope=1.51, least=-0.376, **_GATED
    ),
    "LeakyRelu": Unary(
        _below_zero(lambda x, alpha: alpha * x), {"alpha": 0.01}, turns=_ZERO, ulps=_ULPS_OTHER, absolute=4,
        slope=_at_least_one,
    ),
    "Log": logarithm,
    "Mish": Unary(
        lambda x: x * np.tanh(np.logaddexp(0, x)), turns=(-1.1924312246883384,), slope=1.09, least=-0.31, **_GATED
    ),
    "Round": Unary(np.rint, exact=True, integral=True, rising=True),
    "Selu": Unary(
        lambda x, alpha, gamma: gamma * np.where(x < 0, alpha * np.expm1(np.minimum(x, 0.0)), x), _SELU,
        turns=_ZERO, ulps=_ULPS_OTHER, absolute=4,
        slope=lambda low, high, alpha, gamma: abs(gamma) * max(1.0, abs(alpha)) * OVER_ONE,
    ),
    "Sigmoid": Unary(
        # Libraries have an absolute error here: some are 0 already at -20, some above 1.
        lambda x: 1 / (1 + np.exp(-x)), absolute=16, least=0.0, minus_zero=False, rising=True, slope=0.2501
    ),
    "Sin": Unary(np.sin, turns=(-np.pi / 2, np.pi / 2), least=-OVER_ONE, greatest=OVER_ONE, **_WAVE),
    "Sinh": Unary(
        np.sinh, ulps=_ULPS_OTHER, rising=True, slope=lambda low, high: np.cosh(np.maximum(-low, high)) * OVER_ONE
    ),
    "Softsign": Unary(
        lambda x: np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x))), ulps=4, least=-OVER_ONE, greatest=OVER_ONE,
        rising=True, finite=True, slope=1.0,
    ),
    "Swish": SWISH,
    "Tan": Unary(None, finite=True),
    "Tanh": Unary(np.tanh, ulps=_ULPS_TANH, least=-_MOST_OF_TANH, greatest=_MOST_OF_TANH, rising=True, slope=1.0),
    "ThresholdedRelu": Unary(
        lambda x, alpha: np.where(x > alpha, x, 0.0), {"alpha": 1.0}, turns=lambda alpha: (alpha,)
    ),
}  # fmt: skip
"""Functions of one operand that are declared."""

TABLE: Mapping[str, Operator] = {
    **{name: Operator(declared, error=declared.error) for name, declared in _UNARY.items()},
    "Clip": Operator(_clip, error=errors.chosen),
    "Elu": Operator(_elu, error=_BARE_ELU.error),
    "Gelu": Operator(lambda call, a: _gelu(call)(call, a), error=lambda made: _gelu(made.call).error(made)),
    "Identity": Operator(lambda call, a: a, error=errors.kept),
    "Max": Operator(_extremum, error=errors.chosen, commutative=True),
    "Min": Operator(_extremum, error=errors.chosen, commutative=True),
    "PRelu": Operator(_parametric_relu),
    "Relu": Operator(_relu, error=errors.kept),
    "Shrink": Operator(_shrink),
    "Softplus": Operator(_softplus, error=_LOG_SUM.error),
}
