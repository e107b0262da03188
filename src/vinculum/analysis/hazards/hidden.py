"""What operators divide by inside, where no node computes the divisor: one row an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, tensor
from vinculum.analysis.domain.dimensions import element_count
from vinculum.analysis.domain.formats import FORMATS, Format, some
from vinculum.analysis.interpreter import Site
from vinculum.analysis.transfer.operators.normalisation import (
    local_response_divisor,
    norm_of_rows,
    normalised_axes,
    trains,
)
from vinculum.analysis.transfer.operators.reductions import reduced_rows
from vinculum.analysis.transfer.shared import rest_on


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """A divisor inside an operator.

    Attributes
    ----------
    operand : int
        The place of the operand that it is computed from.
    divisor : AbstractTensor
        What is known of it.
    of_zero : bool
        Whether zero is divided by it where it is zero.
    guarded_by : str
        A runtime that guards it, and how, though ONNX's definition does not; empty if none is known.
    """

    operand: int
    divisor: AbstractTensor
    of_zero: bool = True
    guarded_by: str = ""


def hidden(site: Site) -> Hidden | None:
    """Return what a node divides by inside; None if that is nothing, or cannot be told."""
    find = HIDDEN.get(site.node.op_type)
    operand = site.operands[0] if site.operands else None
    return None if find is None or operand is None or operand.form is None else find(site, operand)


def _positive(x: AbstractTensor, low: Any, high: Any = np.inf) -> AbstractTensor:
    """Return a divisor that is never negative, of the operand's type."""
    return tensor(x.element_type, None, low, high, low, may_minus_zero=False, bounds_from=x.bounds_from)


def _epsilon(site: Site, form: Format) -> float:
    """Return the epsilon as it is in the type that statistics are computed in."""
    stashed = int(site.call.attribute("stash_type", 1)) == 1
    if site.node.op_type == "InstanceNormalization" or (
        site.node.op_type == "GroupNormalization" and site.call.opset < 21
    ):
        stashed = False
    epsilon = np.asarray(np.float64(np.float32(site.call.attribute("epsilon", 1e-5))))
    return float((FORMATS["float32"] if stashed else form).round(epsilon))


def _deviation(site: Site, x: AbstractTensor) -> Hidden:
    """Return the root of a variance, which is zero where all elements are equal, and of the epsilon."""
    assert x.form is not None
    return Hidden(0, _positive(x, np.sqrt(max(_epsilon(site, x.form), 0.0))))


def _root_mean_square(site: Site, x: AbstractTensor) -> Hidden:
    assert x.form is not None
    least = max(_epsilon(site, x.form), 0.0)
    axes = normalised_axes(site.call, x)
    if axes is not None:
        count = element_count((x.shape or ())[axis] for axis in axes)[1]
        square = np.square(x.mag.max(axis=axes)).min() / count * 0.99
        least += float(square) if square >= x.form.smallest_normal else 0.0
    return Hidden(0, _positive(x, np.sqrt(least)))


def _bare_deviation(site: Site, x: AbstractTensor) -> Hidden:
    """Return a deviation to which ONNX's definition adds 1e-9, and runtimes nothing."""
    return Hidden(0, _positive(x, 0.0))


def _batch_deviation(site: Site, x: AbstractTensor) -> Hidden | None:
    """Return the variance that is given, or that of the batch in training, and the epsilon."""
    assert x.form is not None
    epsilon = np.float64(np.float32(site.call.attribute("epsilon", 1e-5)))
    if trains(site.call):
        return Hidden(0, _positive(x, max(float(epsilon), 0.0)))
    variance = site.operands[4] if len(site.operands) > 4 else None
    if variance is None or variance.form is None:
        return None
    low, high = variance.low + epsilon, variance.high + epsilon
    divisor = tensor(variance.element_type, variance.shape, low, high, bounds_from=variance.bounds_from)
    return Hidden(4, divisor, of_zero=False)


def _local_response(site: Site, x: AbstractTensor) -> Hidden | None:
    divisor = local_response_divisor(site.call, x)
    # Only declared ranges say how large squares are, whose running sum cancels.
    biased = float(site.call.attribute("bias", 1.0)) > 0
    cancels = biased and float(site.call.attribute("alpha", 1e-4)) >= 0
    return None if cancels and x.bounds_from is BoundsFrom.TYPE else Hidden(0, divisor, of_zero=not biased)


def _norm(site: Site, x: AbstractTensor) -> Hidden:
    return Hidden(0, norm_of_rows(site.call, x))


def _scale(site: Site, x: AbstractTensor) -> Hidden | None:
    scale = site.operands[1] if len(site.operands) > 1 else None
    return None if scale is None or scale.form is None else Hidden(1, scale, x.may_zero)


def _dynamic_scale(site: Site, x: AbstractTensor) -> Hidden:
    """Return the scale of a range that zero is put into: zero where all elements are."""
    guarded = "ONNX Runtime, which takes a scale of 1 there"
    return Hidden(0, _positive(x, float(x.mag.max()) / 256), guarded_by=guarded)


def _base_of_power(site: Site, x: AbstractTensor) -> Hidden | None:
    """Return the base of a power whose exponent can be negative: 1 is divided by that power."""
    exponent = site.operands[1] if len(site.operands) > 1 else None
    if exponent is None:
        return None
    negative = exponent.low < 0
    if not some((x.mag == 0) & negative if x.shape is not None and exponent.shape is not None else negative):
        return None
    always = bool((exponent.high < 0).all())
    return Hidden(0, x if always else x.known(may_nan=True), of_zero=False)


def _count(site: Site, x: AbstractTensor) -> Hidden | None:
    """Return the number of elements that a mean is over, where it is known to be open to zero."""
    rows = reduced_rows(site.call, x, site.operands[1] if len(site.operands) > 1 else None)
    if rows is None or rows.fewest > 0 or not rows.axes:
        return None
    count = tensor(x.element_type, None, rows.fewest, rows.most, may_minus_zero=False)
    return Hidden(0, count, guarded_by="ONNX Runtime, where the mean of nothing is 0")


def _loss(site: Site, x: AbstractTensor) -> Hidden | None:
    """Return the sum of the weights of all targets, those that are ignored left out; without weights, how many."""
    target, weight, *_ = (*site.operands[1:3], None, None)
    if site.call.attribute("reduction", "mean") != "mean" or target is None:
        return None
    ignored = site.call.attribute("ignore_index", None)
    low, high = target.box.hull()
    least = 0.0 if ignored is not None and low <= ignored <= high else 1.0
    if weight is not None:
        least *= float(weight.mag.min()) if bool((weight.low >= 0).all()) else 0.0
    divisor = _positive(x, least).known(bounds_from=rest_on(target, weight))
    return Hidden(1 if weight is None else 2, divisor)


HIDDEN: Mapping[str, Callable[[Site, AbstractTensor], Hidden | None]] = {
    "BatchNormalization": _batch_deviation,
    "DynamicQuantizeLinear": _dynamic_scale,
    "GroupNormalization": _deviation,
    "InstanceNormalization": _deviation,
    "LRN": _local_response,
    "LayerNormalization": _deviation,
    "LpNormalization": _norm,
    "MeanVarianceNormalization": _bare_deviation,
    "NegativeLogLikelihoodLoss": _loss,
    "Pow": _base_of_power,
    "QuantizeLinear": _scale,
    "RMSNormalization": _root_mean_square,
    "ReduceMean": _count,
    "SoftmaxCrossEntropyLoss": _loss,
}
