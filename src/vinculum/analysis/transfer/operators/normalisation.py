"""Normalisations, by the closed bounds that they have whatever they normalise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Shape, element_count, largest
from vinculum.analysis.domain.formats import FORMATS, Bounds, gamma, outward
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.operator import Hidden, Operator
from vinculum.analysis.transfer.operators.arithmetic import square, square_root
from vinculum.analysis.transfer.shared import axis_of, hull_of, like, never_negative, rest_on, unbounded

_SLACK = 1e-2
"""Of a deviation that is computed with rounding."""


def _normalised(
    call: Call, a: AbstractTensor, count: float, scale: Any, low: Any, high: Any, cancelled: float = 0.0
) -> AbstractTensor:
    """Return (x - mean) / deviation * scale + shift: at most sqrt(n) of the scale, if the epsilon is normal.

    - `cancelled`: what rounding may take from the variance, and the root of what it may add to x - mean.
    """
    assert a.form is not None
    epsilon = float(call.attribute("epsilon", 1e-5))
    # Where float32 is narrowed, statistics stay in float32, as `stash_type` says.
    overflows = float(np.max(scale)) / np.sqrt(max(epsilon, 2.0**-126)) > a.form.max
    if epsilon - cancelled < 2.0**-126 or not np.isfinite(count) or overflows:
        return unbounded(a, a.shape)
    slack = gamma(count + 8, a.form)
    most = np.sqrt(count) * (1 + _SLACK + (slack if np.isfinite(slack) else 1.0))
    reach = (most + np.sqrt(cancelled / (epsilon - cancelled))) * np.asarray(scale)
    error = 8 * a.form.u * (reach + np.maximum(np.abs(low), np.abs(high)))
    lows, highs = outward(low - reach - error, high + reach + error, a.form)
    return tensor(a.element_type, a.shape, lows, highs, may_nan=a.may_nan or _may_overflow(a, count))


def _may_overflow(a: AbstractTensor, count: float) -> bool:
    """Tell whether squares or their sum may be infinite, so that a difference or a quotient of infinities is NaN."""
    magnitude = float(a.box.largest().max())
    return a.form is None or not magnitude * magnitude * count * 1.01 <= a.form.max


def _statistics(call: Call, a: AbstractTensor, shape: Shape | None, place: int) -> list[AbstractTensor]:
    """Return the mean and the inverse of the deviation that a normalisation returns too."""
    if place >= len(call.results):
        return []
    known = call.narrowed if a.element_type in ("float16", "bfloat16") else a.element_type
    spare = anything("float32" if known != "float64" else known, shape)
    return [spare for _ in range(len(call.results) - place)]


def layer(call: Call, a: AbstractTensor, scale: Operand = None, shift: Operand = None) -> list[AbstractTensor]:
    """Return rows less their mean, over their deviation, times a scale and with a shift; and the statistics."""
    if a.form is None or a.shape is None:
        return [anything(a.element_type, a.shape) for _ in range(max(len(call.results), 1))]
    axis = axis_of(call.attribute("axis", -1), len(a.shape))
    count = element_count(a.shape[axis:])[1]
    scales, low, high = _per_element(scale, shift)
    result = _normalised(call, a, count, scales, low, high)
    nan = result.may_nan or any(o is not None and (o.may_nan or o.may_infinite) for o in (scale, shift))
    shape = (*a.shape[:axis], *[1] * (len(a.shape) - axis))
    return [like(result, a.shape, result.box, may_nan=nan), *_statistics(call, a, shape, 1)]


def _per_element(scale: Operand, shift: Operand) -> tuple[Bounds, Bounds, Bounds]:
    one, zero = np.asarray(1.0), np.asarray(0.0)
    scales = one if scale is None else scale.box.largest()
    return scales, zero if shift is None else shift.low, zero if shift is None else shift.high


def _channels(operand: Operand, rank: int, count: Any) -> Operand:
    """Return what is given for each channel as it broadcasts over an image."""
    if operand is None or operand.rank != 1:
        return operand
    shape = (1, -1, *[1] * (rank - 2))
    if operand.low.shape[0] not in (1, count):  # One for each group.
        return operand.known(box=operand.box.along((0,)).mapped(lambda b: b.reshape([1] * rank)))
    return operand.known(box=operand.box.mapped(lambda b: b.reshape(shape)))


def _cancelled(a: AbstractTensor, count: float) -> float:
    """Return how much less than the variance the mean of squares less the square of the mean may be, as rounded.

    So ONNX's definition of GroupNormalization has it, which runtimes run as it is.
    """
    assert a.form is not None
    largest = float(a.box.largest().max())
    return 4 * gamma(count + 8, a.form) * largest * largest if np.isfinite(largest) else np.inf


def _instance(call: Call, a: AbstractTensor, scale: Operand = None, shift: Operand = None) -> AbstractTensor:
    if a.form is None or a.shape is None or len(a.shape) < 3:
        return anything(a.element_type, a.shape)
    count = element_count(a.shape[2:])[1]
    cancelled = 0.0
    if call.operator == "GroupNormalization":
        groups = max(int(call.attribute("num_groups", 1)), 1)
        count *= largest(a.shape[1]) / groups
        cancelled = _cancelled(a, count)
    given = [_channels(operand, len(a.shape), a.shape[1]) for operand in (scale, shift)]
    result = _normalised(call, a, count, *_per_element(given[0], given[1]), cancelled)
    nan = result.may_nan or any(o is not None and (o.may_nan or o.may_infinite) for o in (scale, shift))
    return like(result, a.shape, result.box, may_nan=nan)


def _root_mean_square(call: Call, a: AbstractTensor, scale: Operand = None) -> Result:
    return layer(call, a, scale)


def _trains(call: Call) -> bool:
    """Tell whether a BatchNormalization takes the statistics of the batch."""
    return bool(call.attribute("training_mode", 0) if call.opset >= 7 else not call.attribute("is_test", 0))


def _batch(
    call: Call,
    a: AbstractTensor,
    scale: AbstractTensor,
    shift: AbstractTensor,
    mean: AbstractTensor,
    variance: AbstractTensor,
) -> Result:
    """Return (x - mean) / sqrt(variance + epsilon) * scale + shift, in whatever order it is computed."""
    count = max(len(call.results), 1)
    spare = [anything(scale.element_type, scale.shape) for _ in range(count - 1)]
    per_channel = all(operand.rank == 1 for operand in (scale, shift, mean, variance))
    if _trains(call) or not per_channel or count > 1 or a.form is None or a.shape is None or len(a.shape) < 2:
        return [anything(a.element_type, a.shape), *spare]
    channels = a.shape[1]
    given = [_channels(operand, len(a.shape), channels) for operand in (scale, shift, mean, variance)]
    gain, offset, middle, spread = (operand for operand in given if operand is not None)
    epsilon = float(call.attribute("epsilon", 1e-5))
    under_low, under_high = spread.low + epsilon * (1 - 2.0**-21), spread.high + epsilon * (1 + 2.0**-21)
    if bool((under_low <= 0).any()) or any(x.may_infinite or x.may_nan for x in (scale, shift, mean, variance)):
        return [anything(a.element_type, a.shape)]
    inverse_high, inverse_low = 1 / np.sqrt(under_low), 1 / np.sqrt(under_high)
    factors = [g * i for g in (gain.low, gain.high) for i in (inverse_low, inverse_high)]
    factor_low, factor_high = hull_of(factors)
    centred_low, centred_high = a.low - middle.high, a.high - middle.low
    low, high = hull_of([c * f for c in (centred_low, centred_high) for f in (factor_low, factor_high)])
    reach = np.maximum(np.abs(factor_low), np.abs(factor_high))
    magnitudes = reach * (a.box.largest() + middle.box.largest()) + offset.box.largest()
    error = 16 * a.form.u * np.where(np.isnan(magnitudes), np.inf, magnitudes) + 4 * a.form.smallest_subnormal
    low, high = low + offset.low, high + offset.high
    finite = np.isfinite(error)
    low, high = np.where(finite, low - error, -np.inf), np.where(finite, high + error, np.inf)
    nan = a.may_nan or a.may_infinite or bool((magnitudes * 1.01 > a.form.max).any())
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    low, high = outward(low, high, a.form)
    return tensor(a.element_type, a.shape, low, high, may_nan=nan, bounds_from=rest_on(a, scale, mean, variance))


def _norm_of_rows(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return the norms that LpNormalization divides by, hulled."""
    assert a.form is not None
    if a.shape is None:
        return tensor(
            a.element_type, None, 0, np.inf, may_nan=a.may_nan, may_minus_zero=False, bounds_from=a.bounds_from
        )
    axis = axis_of(call.attribute("axis", -1), len(a.shape))
    squares = square(a) if int(call.attribute("p", 2)) == 2 else like(a, a.shape, Box(a.mag, a.box.largest(), a.mag))
    mag = squares.mag.max(axis=axis, keepdims=True)
    biggest = squares.high.max(axis=axis, keepdims=True)
    high = np.where(biggest == 0, 0.0, biggest * largest(a.shape[axis]) * 1.01)
    total = tensor(a.element_type, None, mag.min(), high.max(), mag.min(), may_nan=a.may_nan, may_minus_zero=False)
    found = square_root(total, 1) if int(call.attribute("p", 2)) == 2 else total
    return found.known(bounds_from=a.bounds_from)


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
    channels = largest(a.shape[1]) if a.shape is not None and len(a.shape) > 1 else np.inf
    magnitude = float(a.box.largest().max())
    sums = abs(alpha) * (1 + 1 / size) * magnitude * magnitude if magnitude else 0.0
    error = gamma(2 * channels + size + 8, a.form) * (abs(bias) + sums) if sums else 0.0
    low = bias - error if alpha >= 0 else -np.inf
    return tensor(a.element_type, None, low, np.inf, may_minus_zero=False, bounds_from=a.bounds_from)


def _local_response(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return x / (bias + alpha/size * sum of squares)**beta."""
    beta = float(call.attribute("beta", 0.75))
    least = float(_local_response_divisor(call, a).low.min()) if a.form is not None else 0.0
    if a.form is None or least <= 0 or beta < 0:
        return unbounded(a, a.shape)
    factor = least**-beta * 1.001
    low, high = np.minimum(a.low * factor, 0), np.maximum(a.high * factor, 0)
    low, high = outward(low, high, a.form)
    return tensor(a.element_type, a.shape, low, high, may_nan=a.may_nan or a.may_infinite, bounds_from=a.bounds_from)


def _mean_and_variance(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return what is anything: ONNX's formula adds 1e-9 to the deviation, runtimes divide by it as it is."""
    return unbounded(a, a.shape)


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


def _bare_deviation(call: Call, x: AbstractTensor) -> Hidden:
    """Return a deviation to which ONNX's definition adds 1e-9, and runtimes nothing."""
    return Hidden(0, never_negative(x, 0.0))


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
    cancels = biased and float(call.attribute("alpha", 1e-4)) >= 0
    if cancels and x.bounds_from is BoundsFrom.TYPE:
        return None
    return Hidden(0, _local_response_divisor(call, x), of_zero=not biased)


def _own_norm(call: Call, x: AbstractTensor) -> Hidden:
    return Hidden(0, _norm_of_rows(call, x))


TABLE: Mapping[str, Operator] = {
    "BatchNormalization": Operator(_batch, hidden=_batch_deviation),
    "GroupNormalization": Operator(_instance, hidden=deviation),
    "InstanceNormalization": Operator(_instance, hidden=deviation),
    "LRN": Operator(_local_response, hidden=_local_response_sum),
    "LayerNormalization": Operator(layer, hidden=deviation),
    "LpNormalization": Operator(_norm, hidden=_own_norm),
    "MeanVarianceNormalization": Operator(_mean_and_variance, hidden=_bare_deviation),
    "RMSNormalization": Operator(_root_mean_square, hidden=_root_of_squares),
    "SimplifiedLayerNormalization": Operator(_root_mean_square, hidden=_root_of_squares),  # ONNX Runtime's own name.
}
