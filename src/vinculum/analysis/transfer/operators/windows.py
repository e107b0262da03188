"""Operators on windows of an image: pooling, resizing, sampling; and the shapes of convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, isinf

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import (
    Dimension,
    Shape,
    bounds,
    element_count,
    known_size,
    plus,
    unknown_size,
)
from vinculum.analysis.domain.formats import gamma, outward
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand
from vinculum.analysis.transfer.declarations import Operator
from vinculum.analysis.transfer.shared import counts, like, result_of, unbounded, with_zero


def _outward_shape(call: Call, leading: Shape, sizes: Shape, kernel: Sequence[Dimension]) -> Shape:
    rank, automatic = len(sizes), call.attribute("auto_pad", "NOTSET")
    if call.attribute("ceil_mode", 0):  # A last window that starts in the padding is left out, by some.
        return (*leading, *(unknown_size() for _ in sizes))
    strides, dilations = call.attribute("strides", [1] * rank), call.attribute("dilations", [1] * rank)
    pads = call.attribute("pads", [0] * 2 * rank)
    found: list[Dimension] = []
    for axis, size in enumerate(sizes):
        along = kernel[axis] if axis < len(kernel) else None
        if automatic.startswith("SAME"):
            found.append(_starts(size, strides[axis] - 1, strides[axis]))
        elif not isinstance(along, int):
            found.append(unknown_size())
        else:
            reach = dilations[axis] * (along - 1) + 1
            added = 0 if automatic == "VALID" else pads[axis] + pads[axis + rank]
            found.append(_starts(size, added - reach + strides[axis], strides[axis]))
    return (*leading, *found)


def _starts(size: Dimension, added: int, stride: int) -> Dimension:
    """Return (size + added) / stride, rounded down, and 0 for less: the number of windows along an axis.

    ONNX Runtime pools one window that is less than a stride too long, where there is none.
    """
    padded = plus(size, added)
    low, high = bounds(size)
    if stride == 1 and low + added >= 0 and padded is not None:
        return padded
    least, most = (max(0.0, end if isinf(end) else (floor(end) + added) // stride) for end in (low, high))
    return unknown_size(least, max(most, 1.0) if high + added > 0 else most)


def _pooled(call: Call, a: AbstractTensor) -> tuple[Shape | None, float]:
    """Return the shape of what is pooled, and over how many elements each is, at most."""
    everywhere = call.operator.startswith("Global")
    kernel = call.attribute("kernel_shape", ())
    if a.shape is None:
        return None, np.inf if everywhere or call.operator == "LpPool" else float(np.prod(kernel))
    if everywhere:
        return (*a.shape[:2], *[1] * (len(a.shape) - 2)), element_count(a.shape[2:])[1]
    return _outward_shape(call, a.shape[:2], a.shape[2:], kernel), float(np.prod(kernel))


def convolution_shape(call: Call, x: AbstractTensor, w: AbstractTensor) -> Shape | None:
    """Return the shape of a convolution."""
    if x.shape is None or w.shape is None or len(x.shape) < 2:
        return None
    return _outward_shape(call, (x.shape[0], w.shape[0]), x.shape[2:], w.shape[2:])


def transposed_shape(call: Call, x: AbstractTensor, w: AbstractTensor) -> Shape | None:
    """Return the shape of a transposed convolution."""
    if x.shape is None or w.shape is None or len(x.shape) < 2:
        return None
    group = int(call.attribute("group", 1))
    channels = w.shape[1] * group if isinstance(w.shape[1], int) else unknown_size()
    return (x.shape[0], channels, *(unknown_size() for _ in x.shape[2:]))


def _max_pool(call: Call, a: AbstractTensor) -> tuple[AbstractTensor, AbstractTensor]:
    shape, _ = _pooled(call, a)
    box = a.box if shape is None else a.box.along(tuple(range(2, len(shape))))
    if a.may_nan:  # Beside a NaN runtimes give what they like: the smallest value where they find no larger one.
        low = np.full_like(box.low, -np.inf) if a.form is not None else box.low
        box = Box(low, box.high, np.zeros_like(low))
    if a.form is not None and bool(np.isneginf(box.high).any()):
        # Some runtimes begin with the lowest finite value, not with -inf.
        box = Box(box.low, np.maximum(box.high, -a.form.max), np.minimum(box.mag, a.form.max))
    return like(a, shape, box, may_plus_zero=a.may_plus_zero or a.may_nan), counts(shape)


def _mean_pool(call: Call, a: AbstractTensor) -> AbstractTensor:
    """Return a mean over windows, padding counted or not."""
    shape, count = _pooled(call, a)
    if a.form is None:
        return anything(a.element_type, shape)
    box = a.box.hulled()
    low, high = (box if call.operator == "GlobalAveragePool" else with_zero(box)).hull()
    nan, largest = a.may_nan or (a.may_infinite and low < 0 < high), max(abs(low), abs(high))
    error = (gamma(count + 2, a.form) * largest if largest else 0.0) + (
        count * a.form.smallest_subnormal if count else 0.0
    )
    if not np.isfinite(count) or largest * count * 1.01 > a.form.max:
        nan = nan or low < 0 < high
        low, high, error = -np.inf if low < 0 else low, np.inf if high > 0 else high, 0.0
    lows, highs = outward(np.asarray(low - error), np.asarray(high + error), a.form)
    return result_of((a,), shape, np.maximum(lows, 0.0) if a.at_least_zero else lows, highs, may_nan=nan)


def _norm_pool(call: Call, a: AbstractTensor) -> AbstractTensor:
    power, largest = float(call.attribute("p", 2)), a.largest
    shape, count = _pooled(call, a)
    high = largest * float(np.power(count, 1 / power)) * 1.01 if largest and power else 0.0
    if a.form is not None and (float(np.power(largest, power)) * count * 1.01 > a.form.max or not np.isfinite(high)):
        high = np.inf
    return result_of((a,), shape, 0, high + 1e-3 * (high > 0))


def _region_pool(call: Call, a: AbstractTensor, regions: AbstractTensor, *_: Operand) -> AbstractTensor:
    """Return pooled regions: weights of neighbours are between 0 and 1, and what lies outside counts as zero."""
    if a.form is None or a.may_infinite:
        return unbounded(a, None, regions)
    low, high = with_zero(a.box).hull()
    slack = 1e-2 * a.largest
    return result_of((a,), None, low - slack, high + slack, may_nan=True)


def _resize(call: Call, a: AbstractTensor, *others: Operand) -> AbstractTensor:
    shape: Shape | None = None if a.shape is None else tuple(unknown_size() for _ in a.shape)
    asked = others[2] if call.operator == "Resize" and len(others) > 2 else None
    sizes = None if asked is None or call.attribute("axes", None) is not None else asked.sizes()
    stretches = call.attribute("keep_aspect_ratio_policy", "stretch") == "stretch"
    if sizes is not None and a.shape is not None and len(sizes) == len(a.shape) and stretches:
        shape = tuple(map(known_size, sizes))
    (low, high), mag = a.box.hull(), float(a.mag.min())
    if call.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        outside = float(call.attribute("extrapolation_value", 0.0))
        low, high, mag = min(low, outside), max(high, outside), 0.0
    mode = call.attribute("mode", "nearest")
    if mode == "nearest":
        zero = a.may_plus_zero or (low <= 0 <= high and float(a.mag.min()) <= 0)
        return like(a, shape, Box(np.asarray(low), np.asarray(high), np.asarray(mag)), may_plus_zero=zero)
    # Weights sum to 1 but for rounding; those of cubic interpolation are negative too.
    weights = _cubic_weights(call, a, others) if mode == "cubic" else 1.0
    if a.form is None or a.may_infinite or not np.isfinite(weights):
        return unbounded(a, shape)
    largest = max(abs(low), abs(high))
    reach = (weights - 1) / 2 * (high - low) + 1e-3 * weights * largest + 16 * a.form.smallest_subnormal
    return result_of((a,), shape, low, high, error=reach, may_nan=a.may_nan or largest * 4 * weights > a.form.max)


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
        return result_of((a,), shape, -np.inf, np.inf, may_nan=True, bounds_from=BoundsFrom.TYPE)
    low, high = with_zero(a.box).hull()
    cubic = call.attribute("mode", "linear") in ("cubic", "bicubic")
    reach = (4.0 * (high - low) if cubic else 0.0) + 1e-2 * max(-low, high)
    return result_of((a,), shape, low - reach, high + reach)


TABLE: Mapping[str, Operator] = {
    "AveragePool": Operator(_mean_pool),
    "GlobalAveragePool": Operator(_mean_pool),
    "GlobalLpPool": Operator(_norm_pool),
    "GlobalMaxPool": Operator(lambda call, a: _max_pool(call, a)[0], error=errors.moved),
    "GridSample": Operator(_sample_grid),
    "LpPool": Operator(_norm_pool),
    "MaxPool": Operator(_max_pool, error=errors.moved),
    "MaxRoiPool": Operator(_region_pool),
    "Resize": Operator(_resize),
    "RoiAlign": Operator(_region_pool),
    "Upsample": Operator(_resize),
}
