"""Operators on windows of an image: pooling, resizing, sampling; and the shapes of convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Dimension, Shape, element_count
from vinculum.analysis.domain.formats import gamma, outward
from vinculum.analysis.domain.joining import known_size, unknown_size
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.operator import Operator
from vinculum.analysis.transfer.shared import counts, hulled, like, unbounded


def _outward_shape(call: Call, leading: Shape, sizes: Shape, kernel: list[int]) -> Shape:
    rank = len(sizes)
    strides, dilations = call.attribute("strides", [1] * rank), call.attribute("dilations", [1] * rank)
    pads = call.attribute("pads", [0] * 2 * rank)
    automatic = call.attribute("auto_pad", "NOTSET")
    found: list[Dimension] = []
    for axis, size in enumerate(sizes):
        if not isinstance(size, int) or axis >= len(kernel):
            found.append(unknown_size())
            continue
        reach = dilations[axis] * (kernel[axis] - 1) + 1
        if automatic.startswith("SAME"):
            found.append(-(-size // strides[axis]))
            continue
        added = 0 if automatic == "VALID" else pads[axis] + pads[axis + rank]
        steps = (size + added - reach) / strides[axis]
        found.append(max((ceil(steps) if call.attribute("ceil_mode", 0) else floor(steps)) + 1, 0))
    if call.attribute("ceil_mode", 0):  # A last window that starts in the padding is left out, by some.
        return (*leading, *(unknown_size() for _ in found))
    return (*leading, *found)


def convolution_shape(call: Call, x: AbstractTensor, w: AbstractTensor) -> Shape | None:
    """Return the shape of a convolution."""
    if x.shape is None or w.shape is None or len(x.shape) < 2:
        return None
    kernel = [size for size in w.shape[2:] if isinstance(size, int)]
    return _outward_shape(call, (x.shape[0], w.shape[0]), x.shape[2:], kernel)


def transposed_shape(call: Call, x: AbstractTensor, w: AbstractTensor) -> Shape | None:
    """Return the shape of a transposed convolution."""
    if x.shape is None or w.shape is None or len(x.shape) < 2:
        return None
    group = int(call.attribute("group", 1))
    channels = w.shape[1] * group if isinstance(w.shape[1], int) else unknown_size()
    return (x.shape[0], channels, *(unknown_size() for _ in x.shape[2:]))


def _kernel(call: Call, a: AbstractTensor) -> list[int]:
    return list(call.attribute("kernel_shape", [1] * max(len(a.shape or ()) - 2, 0)))


def _max_pool(call: Call, a: AbstractTensor) -> Result:
    shape = None if a.shape is None else _outward_shape(call, a.shape[:2], a.shape[2:], _kernel(call, a))
    index = counts(shape)
    box = a.box if shape is None else a.box.along(tuple(range(2, len(shape))))
    low, high = box.low, box.high
    if a.may_nan:  # Beside a NaN runtimes give what they like: the smallest value where they find no larger one.
        low = np.full_like(low, -np.inf) if a.form is not None else low
    box = Box(low, high, np.zeros_like(low) if a.may_nan else box.mag)
    return _from_lowest(like(a, shape, box, may_plus_zero=a.may_plus_zero or a.may_nan)), index


def _from_lowest(a: AbstractTensor) -> AbstractTensor:
    """Return a maximum that some runtimes begin with the lowest finite value, not with -inf."""
    if a.form is None or not bool(np.isneginf(a.high).any()):
        return a
    lowest = np.asarray(-a.form.max)
    return like(a, a.shape, Box(a.low, np.maximum(a.high, lowest), np.minimum(a.mag, a.form.max)))


def _mean_pool(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return a mean over windows, padding counted or not."""
    shape = None if a.shape is None else _outward_shape(call, a.shape[:2], a.shape[2:], _kernel(call, a))
    return _averaged(a, shape, float(np.prod(_kernel(call, a))), padded=True)


def _averaged(a: AbstractTensor, shape: Shape | None, count: float, *, padded: bool) -> AbstractTensor:
    low, high = (np.asarray(end) for end in a.box.hull())
    low, high = (np.minimum(low, 0), np.maximum(high, 0)) if padded else (low, high)
    nan = a.may_nan or (a.may_infinite and bool(low < 0 < high))
    if a.form is None:
        return anything(a.element_type, shape)
    largest = max(abs(float(low)), abs(float(high)))
    error = gamma(count + 2, a.form) * largest if largest else 0.0
    error += 0.0 if count == 0 else count * a.form.smallest_subnormal
    if not np.isfinite(count) or largest * count * 1.01 > a.form.max:
        nan = nan or bool(low < 0 < high)
        low, high = np.where(low < 0, -np.inf, low), np.where(high > 0, np.inf, high)
        error = 0.0
    lows, highs = outward(low - error, high + error, a.form)
    lows = np.maximum(lows, 0.0) if bool((a.low >= 0).all()) else lows
    return tensor(a.element_type, shape, lows, highs, may_nan=nan, bounds_from=a.bounds_from)


def _global_mean_pool(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return _averaged(a, None, np.inf, padded=False)
    return _averaged(a, _ones(a.shape), element_count(a.shape[2:])[1], padded=False)


def _ones(shape: Shape) -> Shape:
    return (*shape[:2], *[1] * (len(shape) - 2))


def _global_max_pool(call: Call, a: AbstractTensor) -> AbstractTensor:
    result = hulled(a, None if a.shape is None else _ones(a.shape))
    if not a.may_nan:
        return _from_lowest(result)
    box = Box(np.full_like(result.low, -np.inf), result.high, np.zeros_like(result.mag))
    return like(result, result.shape, box, may_plus_zero=True)


def _norm_pool(call: Call, a: AbstractTensor) -> AbstractTensor:
    power = float(call.attribute("p", 2))
    shape: Shape | None = None
    count = np.inf
    if a.shape is not None and call.operator == "GlobalLpPool":
        shape, count = _ones(a.shape), element_count(a.shape[2:])[1]
    elif a.shape is not None:
        shape = _outward_shape(call, a.shape[:2], a.shape[2:], _kernel(call, a))
        count = float(np.prod(_kernel(call, a)))
    largest = float(a.box.largest().max())
    high = largest * float(np.power(count, 1 / power)) * 1.01 if largest and power else 0.0
    if a.form is not None and (float(np.power(largest, power)) * count * 1.01 > a.form.max or not np.isfinite(high)):
        high = np.inf
    return tensor(a.element_type, shape, 0, high + 1e-3 * (high > 0), may_nan=a.may_nan, bounds_from=a.bounds_from)


def _region_pool(call: Call, a: AbstractTensor, regions: AbstractTensor, *_: Operand) -> AbstractTensor:
    """Return pooled regions: weights of neighbours are between 0 and 1, and what lies outside counts as zero."""
    box = Box(np.minimum(a.low.min(), 0), np.maximum(a.high.max(), 0), np.asarray(0.0))
    if a.form is None or a.may_infinite:
        return unbounded(a, None, regions)
    slack = 1e-2 * float(a.box.largest().max())
    return tensor(a.element_type, None, box.low - slack, box.high + slack, may_nan=True, bounds_from=a.bounds_from)


def _resize(call: Call, a: AbstractTensor, *others: Operand) -> AbstractTensor:
    shape: Shape | None = None if a.shape is None else tuple(unknown_size() for _ in a.shape)
    if call.operator == "Resize" and len(others) > 2 and others[2] is not None and call.attribute("axes", None) is None:
        sizes = others[2].sizes()
        if sizes is not None and a.shape is not None and len(sizes) == len(a.shape):
            shape = tuple(map(known_size, sizes))
            if call.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
                shape = tuple(unknown_size() for _ in sizes)
    mode = call.attribute("mode", "nearest")
    low, high = float(a.low.min()), float(a.high.max())
    if call.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        outside = float(call.attribute("extrapolation_value", 0.0))
        low, high = min(low, outside), max(high, outside)
    if mode == "nearest":
        zero = low <= 0 <= high and float(a.mag.min()) <= 0
        mag = (
            float(a.mag.min()) if call.attribute("coordinate_transformation_mode", "") != "tf_crop_and_resize" else 0.0
        )
        return like(
            a, shape, Box(np.asarray(low), np.asarray(high), np.asarray(mag)), may_plus_zero=a.may_plus_zero or zero
        )
    if a.form is None or a.may_infinite:
        return unbounded(a, shape)
    largest = max(abs(low), abs(high))
    # Weights sum to 1 but for rounding; those of cubic interpolation are negative too.
    weights = _cubic_weights(call, a, others) if mode == "cubic" else 1.0
    if not np.isfinite(weights):
        return unbounded(a, shape)
    reach = (weights - 1) / 2 * (high - low) + 1e-3 * weights * largest + 16 * a.form.smallest_subnormal
    nan = a.may_nan or largest * 4 * weights > a.form.max
    lows, highs = outward(np.asarray(low - reach), np.asarray(high + reach), a.form)
    return tensor(a.element_type, shape, lows, highs, may_nan=nan, bounds_from=a.bounds_from)


def _cubic_weights(call: Call, a: AbstractTensor, others: Sequence[Operand]) -> float:
    """Return what the magnitudes of the weights of cubic interpolation add up to, at most, over all axes.

    Where some are left out beside an edge, the others are divided by their sum, and nothing bounds them.
    """
    if call.attribute("exclude_outside", 0) or a.shape is None:
        return np.inf
    scales = others[1].small if len(others) > 1 and others[1] is not None else None
    axes = np.count_nonzero(scales != 1) if scales is not None and scales.size else len(a.shape)
    c, t = float(call.attribute("cubic_coeff_a", -0.75)), np.linspace(0, 1, 257)
    near, far = ((c + 2) * t - (c + 3)) * t * t + 1, ((c * (t + 1) - 5 * c) * (t + 1) + 8 * c) * (t + 1) - 4 * c
    most = float((np.abs(near) + np.abs(near[::-1]) + np.abs(far) + np.abs(far[::-1])).max())
    return float(np.power(max(most * 1.001, 1.0), axes))


def _sample_grid(call: Call, a: AbstractTensor, grid: AbstractTensor) -> AbstractTensor:
    shape: Shape | None = None
    if a.shape is not None and grid.shape is not None and len(grid.shape) == len(a.shape):
        shape = (*a.shape[:2], *grid.shape[1:-1])
    if a.form is None or a.may_infinite or grid.may_nan or grid.may_infinite:
        return tensor(a.element_type, shape, -np.inf, np.inf, may_nan=True, bounds_from=BoundsFrom.TYPE)
    low, high = min(float(a.low.min()), 0.0), max(float(a.high.max()), 0.0)
    largest = max(-low, high)
    cubic = call.attribute("mode", "linear") in ("cubic", "bicubic")
    reach = (4.0 * (high - low) if cubic else 0.0) + 1e-2 * largest
    return tensor(a.element_type, shape, low - reach, high + reach, may_nan=a.may_nan, bounds_from=a.bounds_from)


TABLE: Mapping[str, Operator] = {
    "AveragePool": Operator(_mean_pool),
    "GlobalAveragePool": Operator(_global_mean_pool),
    "GlobalLpPool": Operator(_norm_pool),
    "GlobalMaxPool": Operator(_global_max_pool, error=errors.moved),
    "GridSample": Operator(_sample_grid),
    "LpPool": Operator(_norm_pool),
    "MaxPool": Operator(_max_pool, error=errors.moved),
    "MaxRoiPool": Operator(_region_pool),
    "Resize": Operator(_resize),
    "RoiAlign": Operator(_region_pool),
    "Upsample": Operator(_resize),
}
