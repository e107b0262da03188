"""Sums, means, norms, extremes and products along axes, cumulative sums, and the largest elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vinculum.analysis.domain import dimensions
from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom, anything, tensor
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import Shape, element_count, known_size
from vinculum.analysis.domain.facts import Fact, Facts, Kind, find
from vinculum.analysis.domain.formats import Bounds, gamma, is_discrete, outward, type_range
from vinculum.analysis.transfer import errors
from vinculum.analysis.transfer.call import Call, Operand, Result
from vinculum.analysis.transfer.declarations import Hidden, Operator
from vinculum.analysis.transfer.errors import Computed, Errors
from vinculum.analysis.transfer.operators.activations import logarithm
from vinculum.analysis.transfer.operators.arithmetic import square, square_root
from vinculum.analysis.transfer.shared import (
    axis_of,
    counts,
    hulled,
    like,
    margined,
    never_negative,
    rest_on,
    result_of,
    unbounded,
)


@dataclass(frozen=True, slots=True)
class Rows:
    """What is reduced: the axes, whether they stay, and how many elements there are along them."""

    axes: tuple[int, ...]
    keep: bool
    shape: Shape
    fewest: float
    most: float

    def left(self, bounds: Bounds) -> Bounds:
        """Return bounds that have axes of size 1 as the result has them."""
        if self.keep:
            return bounds
        return bounds.reshape(tuple(size for axis, size in enumerate(bounds.shape) if axis not in self.axes))


def reduced_rows(call: Call, a: AbstractTensor, given: Operand) -> Rows | None:
    """Return what is reduced; None if that is known only when it runs."""
    if a.shape is None:
        return None
    rank, keep = len(a.shape), bool(call.attribute("keepdims", 1))
    listed = call.attribute("axes", None)
    if given is not None:
        if given.constant is None and given.shape != (0,):
            return None
        listed = [] if given.constant is None else given.constant.reshape(-1).tolist()
    if not listed:
        listed = [] if call.attribute("noop_with_empty_axes", 0) else range(rank)
    axes = tuple(sorted({axis_of(int(axis), rank) for axis in listed}))
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(a.shape) if keep or axis not in axes)
    return Rows(axes, keep, shape, *element_count(a.shape[axis] for axis in axes))


def _reduced(
    call: Call,
    a: AbstractTensor,
    given: Operand = None,
    *,
    reduce: Callable[[AbstractTensor, Rows], AbstractTensor],
    only_floats: bool = False,
    keeps: bool = False,  # Whether what has no axes to be reduced stays as it is.
) -> AbstractTensor:
    rows = reduced_rows(call, a, given)
    if rows is None or (only_floats and a.form is None):
        return anything(a.element_type, None if rows is None else rows.shape)
    return a if keeps and not rows.axes else reduce(a, rows)


def _summed(a: AbstractTensor, rows: Rows) -> tuple[Bounds, Bounds, Bounds]:
    """Return bounds of exact sums, and of the sums of magnitudes."""
    hidden = [axis for axis in rows.axes if a.low.shape[axis] == 1]
    least, most = element_count((a.shape or ())[axis] for axis in hidden)
    low, high, largest = (
        bounds.sum(axis=rows.axes, keepdims=True) if rows.axes else bounds
        for bounds in (a.low, a.high, a.box.largest())
    )
    low = np.where(low == 0, 0.0, np.where(low < 0, low * most, low * least))
    high = np.where(high == 0, 0.0, np.where(high > 0, high * most, high * least))
    low = np.where(np.isnan(low), -np.inf, low)  # inf - inf, or no elements that are infinite.
    high = np.where(np.isnan(high), np.inf, high)
    return low, high, np.where(largest == 0, 0.0, largest * most)


def _row_fact(a: AbstractTensor, rows: Rows, kind: Kind) -> Fact | None:
    return find(a.facts, kind, rows.axes[0]) if len(rows.axes) == 1 else None


def _total(a: AbstractTensor, rows: Rows) -> tuple[Box, bool]:
    """Return the box of computed sums, in every order, axes kept, and whether they may be NaN."""
    low, high, largest = _summed(a, rows)
    nan, form = a.may_nan, a.form
    mag: Bounds = np.zeros_like(low)
    if form is not None:
        error = np.where(largest == 0, 0.0, gamma(max(rows.most - 1, 0), form) * largest)
        exact = a.integral and bool((largest <= 1 / form.u).all())
        mixed = (a.low < 0).any(axis=rows.axes, keepdims=True) & (a.high > 0).any(axis=rows.axes, keepdims=True)
        overflows = ((largest + error) > form.max) & mixed & (not exact)  # A partial sum may.
        nan = nan or bool(overflows.any() or (np.isposinf(a.high).any() and np.isneginf(a.low).any()))
        if not exact:
            low, high = outward(low - error, high + error, form)
        low = np.where(overflows | np.isnan(low), -np.inf, low)
        high = np.where(overflows | np.isnan(high), np.inf, high)
    elif not bool((largest < 2.0**52).all()):
        low, high = low - 2.0**-40 * largest, high + 2.0**-40 * largest
    if a.at_least_zero and rows.fewest >= 1:  # A rounded sum never falls below one of its terms.
        some = _row_fact(a, rows, Kind.SOME_AT_LEAST)
        least = 0.0 if some is None else some.low
        low = np.maximum(low, np.maximum(a.low.max(axis=rows.axes, keepdims=True), least))
        mag = np.maximum(a.mag.max(axis=rows.axes, keepdims=True), least)
    total = _row_fact(a, rows, Kind.SUM)
    if total is not None:
        low, high = np.maximum(low, total.low), np.minimum(high, total.high)
    return Box(low, high, mag), nan


def _sum_of(a: AbstractTensor, rows: Rows, **more: Any) -> AbstractTensor:
    box, nan = _total(a, rows)
    return like(a, rows.shape, box.mapped(rows.left), may_nan=nan, may_plus_zero=True, **more)


def _reduce_sum(a: AbstractTensor, rows: Rows) -> AbstractTensor:
    sizes = a.sizes() if a.rank == 1 else None
    entries = None if sizes is None else (dimensions.total(sizes),)
    minus, whole = not a.never_negative, _folded(a, rows, np.sum)
    return _sum_of(a, rows, may_minus_zero=minus, entries=entries, constant=whole)


def _folded(a: AbstractTensor, rows: Rows, f: Callable[..., Any]) -> Any:
    """Return what is computed of a small constant of integers."""
    if a.small is None or not is_discrete(a.element_type) or a.element_type == "bool" or not a.small.size:
        return None
    return np.asarray(f(a.small, axis=rows.axes, keepdims=rows.keep)).astype(a.small.dtype)


def _reduce_mean(a: AbstractTensor, rows: Rows) -> AbstractTensor:
    """Return a mean: a sum divided by a count, or the sum of what was divided before."""
    box, nan = _total(a, rows)
    form, axes = a.form, rows.axes
    if form is None:
        smallest, biggest = type_range(a.element_type)
        inside = bool((box.low >= smallest).all() and (box.high <= biggest).all())
        return hulled(a, rows.shape, may_plus_zero=True) if inside else anything(a.element_type, rows.shape)
    low, high = a.low.min(axis=axes, keepdims=True), a.high.max(axis=axes, keepdims=True)
    if rows.fewest == rows.most and rows.most > 0:
        low, high = np.maximum(low, box.low / rows.most), np.minimum(high, box.high / rows.most)
    largest = a.box.largest().max(axis=axes, keepdims=True)
    error = np.where(largest == 0, 0.0, gamma(rows.most + 2, form) * largest + rows.most * form.smallest_subnormal)
    low, high = outward(low - error, high + error, form)
    low, high = np.where(np.isneginf(box.low), -np.inf, low), np.where(np.isposinf(box.high), np.inf, high)
    mag = np.zeros_like(low)
    if a.at_least_zero:
        low = np.maximum(low, 0.0)
        if rows.fewest >= 1 and np.isfinite(rows.most):
            mag = box.mag / rows.most * (1 - gamma(4, form))
            mag = np.where(mag < 2 * form.smallest_subnormal, 0.0, mag)
    minus = not a.never_negative
    return result_of(
        (a,), rows.shape, *map(rows.left, (low, high, mag)), may_nan=nan or rows.fewest == 0, may_minus_zero=minus
    )


def _reduce_extremum(a: AbstractTensor, rows: Rows, *, largest: bool) -> AbstractTensor:
    f: Any = np.max if largest else np.min
    low, high = (f(bounds, axis=rows.axes, keepdims=True) for bounds in (a.low, a.high))
    if a.may_nan:  # Beside a NaN the result may be any element.
        low, high = a.low.min(axis=rows.axes, keepdims=True), a.high.max(axis=rows.axes, keepdims=True)
    some = _row_fact(a, rows, Kind.SOME_AT_LEAST)
    if largest and some is not None and (some.fills or not a.may_nan) and rows.fewest >= 1:
        low = np.maximum(low, some.low)
    mag = a.mag.min(axis=rows.axes, keepdims=True)
    if rows.fewest == 0:
        smallest, biggest = type_range(a.element_type)
        low, high = (np.full_like(low, smallest), high) if largest else (low, np.full_like(high, biggest))
        mag = np.zeros_like(low)
    box = Box(low, high, mag).mapped(rows.left)
    return like(a, rows.shape, box, may_plus_zero=a.may_plus_zero or rows.fewest == 0)


def _reduce_l2(a: AbstractTensor, rows: Rows) -> AbstractTensor:
    root = square_root(_sum_of(square(a), rows), 1)
    return like(root, rows.shape, root.box, may_minus_zero=False)


def _reduce_l1(a: AbstractTensor, rows: Rows) -> AbstractTensor:
    facts = a.facts if a.at_least_zero else ()
    return _sum_of(
        like(a, a.shape, a.box.magnitudes(), may_plus_zero=a.may_zero, may_minus_zero=False, facts=facts), rows
    )


def _reduce_log_sum(call: Call, a: AbstractTensor, given: Operand = None) -> AbstractTensor:
    return logarithm(call, _reduced(call, a, given, reduce=_sum_of, only_floats=True))


def _reduce_log_sum_exp(a: AbstractTensor, rows: Rows) -> AbstractTensor:
    assert a.form is not None
    low = a.low.max(axis=rows.axes, keepdims=True)
    high = a.high.max(axis=rows.axes, keepdims=True) + np.log(max(rows.most, 1.0))
    slack = gamma(rows.most + 8, a.form) + 2.0**-18
    low, high = low - slack * (1 + np.abs(low)), high + slack * (1 + np.abs(high))
    # Without the largest element taken out first exponentials overflow, or are all zero.
    unknown = (low < np.log(a.form.smallest_normal)) | np.isnan(low) | (rows.fewest == 0) | a.may_nan
    low = np.where(unknown, -np.inf, low)
    high = np.where((high > np.log(a.form.max) - 1) | np.isnan(high), np.inf, high)
    low, high = map(rows.left, outward(low, high, a.form))
    return result_of((a,), rows.shape, low, high, may_nan=a.may_nan or a.may_infinite)


def _reduce_product(a: AbstractTensor, rows: Rows) -> AbstractTensor:
    sizes = a.sizes() if a.rank == 1 else None
    entries = None if sizes is None else (dimensions.product(sizes),)
    counts = (rows.fewest, rows.most)
    largest, smallest = a.box.largest().max(axis=rows.axes, keepdims=True), a.mag.min(axis=rows.axes, keepdims=True)
    high = np.maximum(*(np.power(largest, count) for count in counts))
    mag = np.minimum(*(np.power(smallest, count) for count in counts))
    high, mag = np.where(np.isnan(high), np.inf, high), np.where(np.isnan(mag), 0.0, mag)
    low, nan = -high, a.may_nan
    if a.form is not None:
        error = gamma(2 * rows.most, a.form)
        low, high = outward(low * (1 + error), high * (1 + error), a.form)
        mag = mag * max(1 - error, 0.0)
        mag = np.where(mag < a.form.smallest_normal * 2, 0.0, mag)  # Partial products may underflow.
        nan = nan or (bool(np.isinf(high).any()) and bool((mag == 0).any()))
    if a.at_least_zero:
        low = np.where(mag > 0, mag, 0.0)
    if a.form is None:
        mag = np.where(high < 2.0**53, np.floor(mag), 0.0)
    return like(
        a,
        rows.shape,
        Box(low, high, mag).mapped(rows.left),
        may_nan=nan,
        may_plus_zero=True,
        may_minus_zero=not a.never_negative,
        constant=_folded(a, rows, np.prod),
        entries=entries,
    )


def _extreme_index(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.shape is None:
        return counts(None)
    axis, keep = axis_of(call.attribute("axis", 0), len(a.shape)), call.attribute("keepdims", 1)
    shape = tuple(1 if x == axis else size for x, size in enumerate(a.shape) if keep or x != axis)
    return counts(shape, max(dimensions.largest(a.shape[axis]) - 1, 0))


def _cumulative_sum(call: Call, a: AbstractTensor, axis: Operand = None) -> AbstractTensor:
    count, place, exclusive = np.inf, None, bool(call.attribute("exclusive", 0))
    if a.shape is not None and axis is not None and axis.scalar is not None:
        place = axis_of(int(axis.scalar), len(a.shape))
        count = dimensions.largest(a.shape[place])
    low, high = a.box.hull()
    low, high = min(low, _scaled(low, count)), max(high, _scaled(high, count))
    if exclusive:
        low, high = min(low, 0.0), max(high, 0.0)
    nan, mag = a.may_nan, 0.0
    if a.form is not None:
        largest = _scaled(a.largest, count)
        error = gamma(count, a.form) * largest if largest else 0.0
        exact = a.integral and largest <= 1 / a.form.u
        nan = nan or a.may_infinite
        if largest + error > a.form.max and low < 0 < high:
            low, high, nan = -np.inf, np.inf, True
        if not exact:
            low, high = low - error, high + error
        low, high = map(float, outward(np.asarray(low), np.asarray(high), a.form, exact=exact))
    grows = a.at_least_zero and not exclusive
    facts: Facts = ()
    if grows:
        low, mag = float(a.low.min()), float(a.mag.min())
        facts = tuple(f for f in a.facts if f.kind is Kind.SOME_AT_LEAST and f.axis == place and f.low >= 0)
    box, minus = Box(np.asarray(low), np.asarray(high), np.asarray(mag)), not a.never_negative
    return like(a, a.shape, box, may_nan=nan, may_plus_zero=True, may_minus_zero=minus, facts=facts)


def _scaled(value: float, count: float) -> float:
    return value * count if value else 0.0


def _cumulative_product(call: Call, a: AbstractTensor, axis: Operand = None) -> AbstractTensor:
    if a.form is None or not a.at_least_zero:
        return anything(a.element_type, a.shape)
    shrinks = bool(a.high.max() <= 1)
    high = 1.0 + 2.0**-10 if shrinks else np.inf
    return result_of((a,), a.shape, 0.0, high, may_nan=a.may_nan or not shrinks, bounds_from=BoundsFrom.TYPE)


def _largest_elements(call: Call, a: AbstractTensor, given: Operand = None) -> Result:
    if a.shape is None:
        return anything(a.element_type, None), counts(None)
    axis = axis_of(call.attribute("axis", -1), len(a.shape))
    count: Any = call.attribute("k", None) if call.opset < 10 else None
    sizes = given.sizes() if given is not None else None
    if count is None and sizes is not None and len(sizes) == 1:
        count = sizes[0]
    count = known_size(count)
    shape = tuple(count if x == axis else size for x, size in enumerate(a.shape))
    facts = tuple(f for f in a.facts if f.kind is Kind.SOME_AT_LEAST and f.axis == axis)
    kept = facts if call.attribute("largest", 1) and dimensions.bounds(count)[0] >= 1 else ()
    index = counts(shape, max(dimensions.largest(a.shape[axis]) - 1, 0))
    return hulled(a, shape, facts=kept), index


def softmax_axes(call: Call, rank: int) -> tuple[int, ...]:
    """Return the axes of a row of Softmax: before operator set 13 all from one on."""
    axis = axis_of(call.attribute("axis", -1 if call.opset >= 13 else 1), rank)
    return (axis,) if call.opset >= 13 else tuple(range(axis, rank))


def _softmax(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.form is None or a.shape is None or not a.shape:
        return tensor(a.element_type, a.shape, 0.0, 1 + 2.0**-8, may_nan=a.may_nan)
    axes = softmax_axes(call, len(a.shape))
    most = element_count(a.shape[axis] for axis in axes)[1]
    error = min(gamma(most + 6, a.form), 0.5) if np.isfinite(most) else 0.5
    masked = np.isneginf(a.low).all(axis=axes)
    nan = a.may_nan or bool(np.isposinf(a.high).any()) or bool(masked.any())
    spread = float(a.high.max() - a.low.min())
    least = np.exp(-spread) / most * (1 - error) if np.isfinite(spread) and np.isfinite(most) else 0.0
    least = 0.0 if least < 2 * a.form.smallest_normal else least
    facts: Facts = ()
    if len(axes) == 1:
        facts = (Fact(Kind.SUM, axes[0], 1 - error, 1 + error),)
        if np.isfinite(most):
            facts = (*facts, Fact(Kind.SOME_AT_LEAST, axes[0], (1 - error) / most, fills=True))
    top = 1.0 if most <= 1 else 1 + max(error, 2.0**-20) if np.isfinite(most) else 1 + 2.0**-7
    return tensor(a.element_type, a.shape, least, top, may_nan=nan, may_minus_zero=False, facts=facts)


def _log_softmax(call: Call, a: AbstractTensor) -> AbstractTensor:
    if a.form is None or a.shape is None or not a.shape:
        return anything(a.element_type, a.shape)
    most = element_count(a.shape[axis] for axis in softmax_axes(call, len(a.shape)))[1]
    spread = float(a.high.max() - a.low.min()) + float(np.log(max(most, 1.0)))
    slack = gamma(most + 8, a.form) * (1 + a.largest) + 2.0**-18
    low = -spread - slack - 16 * a.form.u * spread if np.isfinite([spread, slack]).all() else -np.inf
    # In float64 ONNX Runtime takes sums below 1e-20 for that.
    high = slack if np.isfinite(slack) and a.form.name != "float64" else np.inf
    nan = a.may_nan or a.may_infinite
    return tensor(a.element_type, a.shape, *margined(np.asarray(low), np.asarray(high), a.form, 1), may_nan=nan)


def _loss(call: Call, scores: AbstractTensor, target: AbstractTensor, weight: Operand = None) -> Result:
    """Return a loss, a mean or not, and the logarithms of probabilities that SoftmaxCrossEntropyLoss returns too."""
    others = () if weight is None else (weight,)
    return [unbounded(scores, expected.shape, *others) for expected in call.results or (call.expected(),)]


def _summed_error(made: Computed) -> Errors:
    error, magnitudes, rows = _along(made)
    return errors.sum_of(error, errors.times(magnitudes, gamma(max(rows.most - 1, 0), made.form)))


def _averaged_error(made: Computed) -> Errors:
    error, magnitudes, rows = _along(made)
    rounded = errors.sum_of(error, errors.times(magnitudes, gamma(rows.most + 1, made.form)))
    return errors.sum_of(errors.up(rounded / max(rows.fewest, 1)), made.rounding())


def _along(made: Computed) -> tuple[Errors, Errors, Rows]:
    """Return bounds of the sums of errors and of magnitudes, and what is summed."""
    if any(error.any() for error in made.errors[1:]):
        raise errors.NoBoundError("the summed elements may differ")
    rows = reduced_rows(made.call, made.operands[0], made.operands[1] if len(made.operands) > 1 else None)
    if rows is None:
        raise errors.NoBoundError("the number of summed terms is unknown")
    if not np.isfinite(rows.most):
        raise errors.NoBoundError("the number of summed terms is unknown; declare the size of the dimension")
    # The largest one as often as there are terms.
    p, a = np.asarray(made.errors[0].max()), np.asarray(made.magnitude(0).max())
    return errors.times(p, rows.most), errors.times(a, rows.most), rows


def _count(call: Call, x: AbstractTensor, axes: Operand = None) -> Hidden | None:
    """Return the number of elements that a mean is over, where it is known to be open to zero."""
    rows = reduced_rows(call, x, axes)
    if rows is None or rows.fewest > 0 or not rows.axes:
        return None
    count = tensor(x.element_type, None, rows.fewest, rows.most, may_minus_zero=False)
    return Hidden(0, count, guarded_by="ONNX Runtime, where the mean of nothing is 0")


def _sum_of_weights(call: Call, x: AbstractTensor, target: Operand = None, weight: Operand = None) -> Hidden | None:
    """Return the sum of the weights of all targets, those that are ignored left out; without weights, how many."""
    if call.attribute("reduction", "mean") != "mean" or target is None:
        return None
    ignored = call.attribute("ignore_index", None)
    low, high = target.box.hull()
    least = 0.0 if ignored is not None and low <= ignored <= high else 1.0
    if weight is not None:
        least *= float(weight.mag.min()) if weight.at_least_zero else 0.0
    return Hidden(1 if weight is None else 2, never_negative(x, least).known(bounds_from=rest_on(target, weight)))


TABLE: Mapping[str, Operator] = {
    "ArgMax": Operator(_extreme_index, error=errors.decided),
    "ArgMin": Operator(_extreme_index, error=errors.decided),
    "CumProd": Operator(_cumulative_product),
    "CumSum": Operator(_cumulative_sum),
    "Hardmax": Operator(lambda call, a: tensor(a.element_type, a.shape, 0, 1, integral=True, may_minus_zero=False)),
    "LogSoftmax": Operator(_log_softmax),
    "NegativeLogLikelihoodLoss": Operator(_loss, hidden=_sum_of_weights),
    "ReduceL1": Operator(partial(_reduced, reduce=_reduce_l1)),
    "ReduceL2": Operator(partial(_reduced, reduce=_reduce_l2)),
    "ReduceLogSum": Operator(_reduce_log_sum),
    "ReduceLogSumExp": Operator(partial(_reduced, reduce=_reduce_log_sum_exp, only_floats=True)),
    "ReduceMax": Operator(
        partial(_reduced, reduce=partial(_reduce_extremum, largest=True), keeps=True), error=errors.moved
    ),
    "ReduceMean": Operator(partial(_reduced, reduce=_reduce_mean, keeps=True), error=_averaged_error, hidden=_count),
    "ReduceMin": Operator(
        partial(_reduced, reduce=partial(_reduce_extremum, largest=False), keeps=True), error=errors.moved
    ),
    "ReduceProd": Operator(partial(_reduced, reduce=_reduce_product, keeps=True)),
    "ReduceSum": Operator(partial(_reduced, reduce=_reduce_sum, keeps=True), error=_summed_error),
    "ReduceSumSquare": Operator(partial(_reduced, reduce=lambda a, rows: _sum_of(square(a), rows))),
    "Softmax": Operator(_softmax),
    "SoftmaxCrossEntropyLoss": Operator(_loss, hidden=_sum_of_weights),
    "TopK": Operator(_largest_elements),
}
