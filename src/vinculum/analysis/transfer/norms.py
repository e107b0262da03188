"""Quotients by norms: what is divided by a norm of itself is bounded, whatever it is."""

from __future__ import annotations

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.domain.box import Box
from vinculum.analysis.domain.dimensions import element_count
from vinculum.analysis.domain.formats import gamma
from vinculum.analysis.domain.numbering import Definition, Numbering
from vinculum.analysis.transfer.call import Call
from vinculum.analysis.transfer.shared import like

_SLACK = 1e-3


def _power_of(values: Numbering, number: int, exponent: float) -> int | None:
    """Return the number of the value whose power this is by Pow; None if it is none."""
    power = values.made_by(number, "Pow")
    return power.operands[0] if power is not None and values.scalar(power.operands[1]) == exponent else None


def _square_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose square this is."""
    product = values.made_by(number, "Mul")
    if product is not None and product.operands[0] == product.operands[1]:
        return product.operands[0]
    return _power_of(values, number, 2)


def _root_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose square root this is."""
    root = values.made_by(number, "Sqrt")
    return root.operands[0] if root is not None else _power_of(values, number, 0.5)


def _reduced_by(values: Numbering, number: int, *operators: str) -> Definition | None:
    """Return how a value is reduced, if its dimensions stay in place, so that each row meets its own result."""
    reduced = values.made_by(number, *operators)
    return reduced if reduced is not None and _has_rank_of(values, number, reduced.operands[0]) else None


def _has_rank_of(values: Numbering, number: int, other: int) -> bool:
    a, b = values.tensor(number), values.tensor(other)
    return a is not None and b is not None and b.rank is not None and a.rank == b.rank


def _norm_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose L2 norm along some axes this is, or a guard that is at least its norm."""
    norm = values.made_by(number, "ReduceL2")
    if norm is not None:
        return norm.operands[0] if _has_rank_of(values, number, norm.operands[0]) else None
    under = _root_of(values, number)
    total = None if under is None else _reduced_by(values, under, "ReduceSum", "ReduceSumSquare")
    if total is not None:
        x = total.operands[0]
        return x if total.operator == "ReduceSumSquare" else _square_of(values, x)
    guard = values.made_by(number, "Clip", "Max", "Expand")
    if guard is None or not _has_rank_of(values, number, guard.operands[0]):
        return None
    if guard.operator == "Clip" and any(guard.operands[2:]):
        return None
    found = (_norm_of(values, operand) for operand in guard.operands[:2] if operand)
    return next((number for number in found if number is not None), None)


def at_most_of_norm(call: Call, a: AbstractTensor, b: AbstractTensor, result: AbstractTensor) -> AbstractTensor:
    """Return a quotient by the dividend's own norm: at most 1, where the norm's square does not underflow."""
    form = a.form
    if _is_sum_of(call.values, b.number, a):
        return _within(result, 0.0, 1.0)
    if form is None or not a.number or _norm_of(call.values, b.number) != a.number:
        return result
    if float(np.square(b.mag.min())) < form.smallest_normal or form.u > 2.0**-20:
        return result
    return _within(result, -1.0 - _SLACK, 1.0 + _SLACK)


def _is_sum_of(values: Numbering, number: int, a: AbstractTensor) -> bool:
    """Tell whether a value is the sum of what is never negative, which rounding leaves no smaller than each term."""
    total = _reduced_by(values, number, "ReduceSum")
    return total is not None and total.operands[0] == a.number and a.never_negative


def _within(result: AbstractTensor, low: float, high: float) -> AbstractTensor:
    """Return a result that the model alone keeps between two numbers."""
    box = Box(np.maximum(result.low, low), np.minimum(result.high, high), result.mag)
    return like(result, result.shape, box, bounds_from=BoundsFrom.MODEL)


def scaled_by_inverse_root(call: Call, a: AbstractTensor, b: AbstractTensor, result: AbstractTensor) -> AbstractTensor:
    """Return x * 1/sqrt(mean(x*x) + eps), at most sqrt(n); without this bounds explode from layer to layer."""
    for x, inverse in ((a, b), (b, a)):
        count = None if x.form is None else _mean_square_under_inverse_root(call.values, x, inverse.number)
        if count is not None and x.form is not None:
            slack = gamma(count + 8, x.form)
            limit = float(np.sqrt(count) * (1 + slack)) if slack < 0.5 else np.inf
            return _within(result, -limit, limit)
    return result


def _mean_square_under_inverse_root(values: Numbering, x: AbstractTensor, number: int) -> float | None:
    """Return over how many elements the mean is whose root's inverse this is; None if it is none, or has no guard."""
    inverse = values.made_by(number, "Reciprocal", "Div")
    if inverse is None or (inverse.operator == "Div" and values.scalar(inverse.operands[0]) != 1):
        return None
    under = _root_of(values, inverse.operands[-1])
    total = None if under is None else values.made_by(under, "Add")
    for mean, guard in () if total is None else (total.operands, total.operands[::-1]):
        count, epsilon = _count_of_mean(values, mean, x), values.tensor(guard)
        if count is None or epsilon is None or epsilon.scalar is None or x.form is None:
            continue
        if float(epsilon.low.min()) >= x.form.smallest_normal:  # It has to outlast squares that underflow.
            return count
    return None


def _count_of_mean(values: Numbering, number: int, x: AbstractTensor) -> float | None:
    mean = _reduced_by(values, number, "ReduceMean")
    if mean is None or x.shape is None or _square_of(values, mean.operands[0]) != x.number:
        return None
    axes = mean.attributes.get("axes")
    if axes is None and len(mean.operands) > 1 and mean.operands[1]:
        given = values.tensor(mean.operands[1])
        axes = None if given is None or given.constant is None else given.constant.reshape(-1).tolist()
    count = element_count(x.shape[int(axis)] for axis in axes)[1] if axes else np.inf
    return count if np.isfinite(count) else None
