"""Normalisations, by the closed bounds that they have whatever they normalise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.dimensions import element_count, largest
from vinculum.analysis.domain.formats import FORMATS, gamma, outward
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.declarations import Hidden, Operator
from vinculum.analysis.transfer.operators.arithmetic import square, square_root
from vinculum.analysis.transfer.relations import STRAY
from vinculum.analysis.transfer.shared import axis_of, hull_of, never_negative, result_of, unbounded

_SLACK = 1e-2
"""Of a deviation that is computed with rounding."""
_WITHOUT_MEAN = ("RMSNormalization", "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization")


def _normalised(
    call: Call,
    a: AbstractTensor,
    count: float,
    scale: Operand,
    shift: Operand,
    *,
    cancelled: float = 0.0,
    strayed: float = 0.0,
) -> AbstractTensor:
    """Return (x - mean) / deviation * scale + shift: at most sqrt(n) of the scale, if the epsilon is normal.

    - `cancelled`: what rounding may take from the variance, and the root of what it may add to x - mean.
    - `strayed`: how large x - mean may be beside a variance of zero.
    """
    assert a.form is not None
    given = [operand for operand in (scale, shift) if operand is not None]
    nan = a.may_nan or any(operand.may_nan or operand.may_infinite for operand in given)
    scales = np.ones(()) if scale is None else scale.box.largest()
    low, high = (np.zeros(()), np.zeros(())) if shift is None else (shift.low, shift.high)
    epsilon = float(call.attribute("epsilon", 1e-5))
    # Where float32 is narrowed, statistics stay in float32, as `stash_type` says.
    overflows = float(np.max(scales)) / np.sqrt(max(epsilon, 2.0**-126)) > a.form.max
    if epsilon - cancelled < 2.0**-126 or not np.isfinite([count, strayed]).all() or overflows:
        return unbounded(a, a.shape)
    slack = gamma(count + 8, a.form)
    most = np.sqrt(count) * (1 + _SLACK + (slack if np.isfinite(slack) else 1.0))
    reach = (most + np.sqrt(cancelled / (epsilon - cancelled)) + strayed / np.sqrt(epsilon)) * scales
    error = 8 * a.form.u * (reach + np.maximum(np.abs(low), np.abs(high)))
    low, high = outward(low - reach - error, high + reach + error, a.form)
    rests = a.bounds_from if cancelled or strayed else BoundsFrom.MODEL
    nan = nan or not a.largest * a.largest * count * 1.01 <= a.form.max  # Infinite squares, or their sum.
    return tensor(a.element_type, a.shape, low, high, may_nan=nan, bounds_from=rests)


def layer(call: Call, a: AbstractTensor, scale: Operand = None, shift: Operand = None) -> list[AbstractTensor]:
    """Return rows less their mean, over their deviation, times a scale and with a shift; and the statistics."""
    if a.form is None or a.shape is None:
        return [anything(a.element_type, a.shape) for _ in range(max(len(call.results), 1))]
    axis = axis_of(call.attribute("axis", -1), len(a.shape))
    narrow = call.narrowed if a.element_type in ("float16", "bfloat16") else a.element_type
    spare = anything("float64" if narrow == "float64" else "float32", (*a.shape[:axis], *[1] * (len(a.shape) - axis)))
    count, strayed = element_count(a.shape[axis:])[1], 0.0
    if call.operator not in _WITHOUT_MEAN:
        # ONNX Runtime updates the mean in float32, element by element, and the variance by what is left of it.
        strayed = STRAY * count * FORMATS["float32"].u * a.largest
    result = _normalised(call, a, count, scale, shift, strayed=strayed)
    return [result, *[spare] * (len(call.results) - 1)]


def _channels(operand: AbstractTensor, rank: int, count: Any) -> AbstractTensor:
    """Return what is given for each channel as it broadcasts over an image."""
    if operand.rank != 1:
        return operand
    box, shape = operand.box, [1, -1, *[1] * (rank - 2)]
    if operand.low.shape[0] not in (1, count):  # One for each group.
        box, shape = box.along((0,)), [1] * rank
    return operand.known(box=box.mapped(lambda b: b.reshape(shape)))


def _instance(call: Call, a: AbstractTensor, scale: Operand = None, shift: Operand = None) -> AbstractTensor:
    if a.form is None or a.shape is None or len(a.shape) < 3:
        return anything(a.element_type, a.shape)
    count, cancelled = element_count(a.shape[2:])[1], 0.0
    if call.operator == "GroupNormalization":
        count *= largest(a.shape[1]) / max(int(call.attribute("num_groups", 1)), 1)
        # Runtimes run ONNX's definition as it is: the mean of squares less the square of the mean.
        magnitude = a.largest
        cancelled = 4 * gamma(count + 8, a.form) * magnitude * magnitude if np.isfinite(magnitude) else np.inf
    rank, channels = len(a.shape), a.shape[1]
    scale, shift = (None if o is None else _channels(o, rank, channels) for o in (scale, shift))
    return _normalised(call, a, count, scale, shift, cancelled=cancelled)


def _trains(call: Call) -> bool:
    """Tell whether a BatchNormalization takes the statistics of the batch."""
    return bool(call.attribute("training_mode", 0) if call.opset >= 7 else not call.attribute("is_test", 0))


def _batch(call: Call, a: AbstractTensor, *given: AbstractTensor) -> Result:
    """Return (x - mean) / sqrt(variance + epsilon) * scale + shift, in whatever order it is computed."""
    count, (scale, _, mean, variance) = max(len(call.results), 1), given
    spare = [anything(scale.element_type, scale.shape) for _ in range(count - 1)]
    unknown = [anything(a.element_type, a.shape), *spare]
    per_channel = all(operand.rank == 1 for operand in given)
    if _trains(call) or not per_channel or count > 1 or a.form is None or a.shape is None or len(a.shape) < 2:
        return unknown
    gain, offset, middle, spread = (_channels(operand, len(a.shape), a.shape[1]).box for operand in given)
    epsilon = float(call.attribute("epsilon", 1e-5))
    under_low, under_high = spread.low + epsilon * (1 - 2.0**-21), spread.high + epsilon * (1 + 2.0**-21)
    if bool((under_low <= 0).any()) or any(x.may_infinite or x.may_nan for x in given):
        return unknown
    inverses = (1 / np.sqrt(under_high), 1 / np.sqrt(under_low))
    factors = hull_of([g * i for g in (gain.low, gain.high) for i in inverses])
    low, high = hull_of([c * f for c in (a.low - middle.high, a.high - middle.low) for f in factors])
    reach = np.maximum(np.abs(factors[0]), np.abs(factors[1]))
    magnitudes = reach * (a.box.largest() + middle.largest()) + offset.largest()
    error = 16 * a.form.u * np.where(np.isnan(magnitudes), np.inf, magnitudes) + 4 * a.form.smallest_subnormal
    low, high = low + offset.low - error, high + offset.high + error
    nan = a.may_nan or a.may_infinite or bool((magnitudes * 1.01 > a.form.max).any())
    return result_of((a, scale, mean, variance), a.shape, *outward(low, high, a.form), may_nan=nan)


def _norm_of_rows(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return the norms that LpNormalization divides by, hulled."""
    if a.shape is None:
        return result_of((a,), None, 0, np.inf)
    axis, root = axis_of(call.attribute("axis", -1), len(a.shape)), int(call.attribute("p", 2)) == 2
    box = square(a).box if root else a.box.magnitudes()
    biggest, least = box.high.max(axis=axis, keepdims=True), box.mag.max(axis=axis, keepdims=True).min()
    high = np.where(biggest == 0, 0.0, biggest * largest(a.shape[axis]) * 1.01).max()
    total = result_of((a,), None, least, high, least)
    return square_root(total, 1) if root else total


def _norm(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.form is None:
        return anything(a.element_type, a.shape)
    norm = _norm_of_rows(call, a)
    safe = float(np.square(a.mag.min())) >= a.form.smallest_normal and a.form.u < 2.0**-20
    limit = 1.0 + 1e-3 if safe else np.inf  # Where squares underflow it is 1.22, or infinite.
    nan = a.may_nan or a.may_infinite or norm.may_zero
    return tensor(a.element_type, a.shape, -limit, limit, may_nan=nan, bounds_from=BoundsFrom.MODEL)


def _local_response_divisor(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return bias + alpha/size * sum of squares, where a power of it divides.

    Runtimes keep one sum along the channels, add the next square and subtract the last, and what is rounded stays.
    """
    assert a.form is not None
    bias, alpha = float(call.attribute("bias", 1.0)), float(call.attribute("alpha", 1e-4))
    size = float(call.attribute("size", 1))
    channels = np.inf if a.shape is None else largest(a.shape[1])
    magnitude = a.largest
    sums = abs(alpha) * (1 + 1 / size) * magnitude * magnitude if magnitude else 0.0
    error = gamma(2 * channels + size + 8, a.form) * (abs(bias) + sums) if sums else 0.0
    low = bias - error if alpha >= 0 else -np.inf
    return tensor(a.element_type, None, low, np.inf, may_minus_zero=False, bounds_from=a.bounds_from)


def _local_response(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return x / (bias + alpha/size * sum of squares)**beta."""
    beta = float(call.attribute("beta", 0.75))
    least = float(_local_response_divisor(call, a).low.min()) if a.form is not None else 0.0
    if least <= 0 or beta < 0:
        return unbounded(a, a.shape)
    factor = least**-beta * 1.001
    low, high = np.minimum(a.low * factor, 0), np.maximum(a.high * factor, 0)
    return result_of((a,), a.shape, low, high, error=0.0, may_nan=a.may_nan or a.may_infinite)


def _epsilon(call: Call, x: AbstractTensor) -> float:
    """Return the epsilon as it is in the type that statistics are computed in."""
    stashed = int(call.attribute("stash_type", 1)) == 1
    if call.operator == "InstanceNormalization" or (call.operator == "GroupNormalization" and call.opset < 21):
        stashed = False
    epsilon = np.asarray(np.float64(np.float32(call.attribute("epsilon", 1e-5))))
    form = FORMATS["float32"] if stashed or x.form is None else x.form
    return max(float(form.round(epsilon)), 0.0)


def deviation(call: Call, x: AbstractTensor, *_: Operand) -> Hidden:
    """Return the root of a variance, which is zero where all elements are equal, and of the epsilon."""
    return Hidden(0, never_negative(x, np.sqrt(_epsilon(call, x))))


def _root_of_squares(call: Call, x: AbstractTensor, *_: Operand) -> Hidden:
    least = _epsilon(call, x)
    if x.shape is not None and x.form is not None:
        axes = tuple(range(axis_of(call.attribute("axis", -1), len(x.shape)), len(x.shape)))
        count = element_count(x.shape[axis] for axis in axes)[1]
        square = np.square(x.mag.max(axis=axes)).min() / count * 0.99
        least += float(square) if square >= x.form.smallest_normal else 0.0
    return Hidden(0, never_negative(x, np.sqrt(least)))


def _batch_deviation(call: Call, x: AbstractTensor, *others: Operand) -> Hidden | None:
    """Return the variance that is given, or that of the batch in training, and the epsilon."""
    variance = others[3] if len(others) > 3 else None
    epsilon = np.float64(np.float32(call.attribute("epsilon", 1e-5)))
    if _trains(call):
        return Hidden(0, never_negative(x, max(float(epsilon), 0.0)))
    if variance is None or variance.form is None:
        return None
    low, high = variance.low + epsilon, variance.high + epsilon
    divisor = tensor(variance.element_type, variance.shape, low, high, bounds_from=variance.bounds_from)
    return Hidden(4, divisor, of_zero=False)


def _local_response_sum(call: Call, x: AbstractTensor) -> Hidden | None:
    # Only declared ranges say how large squares are, whose running sum cancels.
    biased = float(call.attribute("bias", 1.0)) > 0
    if biased and float(call.attribute("alpha", 1e-4)) >= 0 and x.bounds_from is BoundsFrom.TYPE:
        return None
    return Hidden(0, _local_response_divisor(call, x), of_zero=not biased)


TABLE: Mapping[str, Operator] = {
    "BatchNormalization": Operator(_batch, hidden=_batch_deviation),
    "GroupNormalization": Operator(_instance, hidden=deviation),
    "InstanceNormalization": Operator(_instance, hidden=deviation),
    "LRN": Operator(_local_response, hidden=_local_response_sum),
    "LayerNormalization": Operator(layer, hidden=deviation),
    "LpNormalization": Operator(_norm, hidden=lambda call, x: Hidden(0, _norm_of_rows(call, x))),
    # ONNX's formula adds 1e-9 to the deviation, runtimes divide by it as it is.
    "MeanVarianceNormalization": Operator(
        lambda call, a: unbounded(a, a.shape), hidden=lambda call, x: Hidden(0, never_negative(x, 0.0))
    ),
    "RMSNormalization": Operator(layer, hidden=_root_of_squares),
    "SimplifiedLayerNormalization": Operator(layer, hidden=_root_of_squares),  # ONNX Runtime's own name.
}
