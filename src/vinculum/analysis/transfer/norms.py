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


def _is_square_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose square this is."""
    definition = values.definition(number)
    if definition is None:
        return None
    first, *others = definition.operands
    if definition.operator == "Mul" and others == [first]:
        return first
    if definition.operator == "Pow" and others:
        exponent = values.tensor(others[0])
        return first if exponent is not None and exponent.scalar == 2 else None
    return None


def root_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose square root this is."""
    definition = values.definition(number)
    if definition is None:
        return None
    if definition.operator == "Sqrt":
        return definition.operands[0]
    if definition.operator == "Pow" and len(definition.operands) > 1:
        exponent = values.tensor(definition.operands[1])
        return definition.operands[0] if exponent is not None and exponent.scalar == 0.5 else None
    return None


def norm_of(values: Numbering, number: int) -> int | None:
    """Return the number of the value whose L2 norm along some axes this is."""
    definition = values.definition(number)
    if definition is None:
        return None
    if definition.operator == "ReduceL2":
        return definition.operands[0] if _kept_dimensions(values, number, definition.operands[0]) else None
    under = root_of(values, number)
    total = None if under is None else values.definition(under)
    if total is None or total.operator not in ("ReduceSum", "ReduceSumSquare"):
        return None
    if under is None or not _kept_dimensions(values, under, total.operands[0]):
        return None
    return total.operands[0] if total.operator == "ReduceSumSquare" else _is_square_of(values, total.operands[0])


def _kept_dimensions(values: Numbering, reduced: int, number: int) -> bool:
    """Tell whether a reduction left the dimensions in place, so that each row meets its own result."""
    result, operand = values.tensor(reduced), values.tensor(number)
    return result is not None and operand is not None and operand.rank is not None and result.rank == operand.rank


def _guarded_norm(values: Numbering, number: int) -> int | None:
    """Return the value whose norm this is, or a number that is at least its norm: Max, Clip or + of it and a guard."""
    direct = norm_of(values, number)
    if direct is not None:
        return direct
    definition = values.definition(number)
    if definition is None:
        return None
    if definition.operator in ("Clip", "Max", "Expand"):
        if not _kept_dimensions(values, number, definition.operands[0]):
            return None
        found = (_guarded_norm(values, operand) for operand in definition.operands[:2] if operand)
        if definition.operator == "Clip" and len(definition.operands) > 2 and definition.operands[2]:
            return None
        return next((number for number in found if number is not None), None)
    return None


def _is_sum_of(values: Numbering, number: int, a: AbstractTensor) -> bool:
    """Tell whether a value is the sum of what is never negative, which rounding leaves no smaller than each term."""
    total = values.definition(number)
    if total is None or total.operator != "ReduceSum" or total.operands[0] != a.number:
        return False
    return bool((a.low >= 0).all()) and not a.may_minus_zero and _kept_dimensions(values, number, a.number)


def at_most_of_norm(call: Call, a: AbstractTensor, b: AbstractTensor, result: AbstractTensor) -> AbstractTensor:
    """Return a quotient by the dividend's own norm: at most 1, where the norm's square does not underflow."""
    form = a.form
    if _is_sum_of(call.values, b.number, a):
        box = Box(np.maximum(result.low, 0.0), np.minimum(result.high, 1.0), result.mag)
        return like(result, result.shape, box, bounds_from=BoundsFrom.MODEL)
    if form is None or not a.number or _guarded_norm(call.values, b.number) != a.number:
        return result
    if float(np.square(b.mag.min())) < form.smallest_normal or form.u > 2.0**-20:
        return result
    limit = 1.0 + _SLACK
    box = Box(np.maximum(result.low, -limit), np.minimum(result.high, limit), result.mag)
    return like(result, result.shape, box, bounds_from=BoundsFrom.MODEL)


def scaled_by_inverse_root(call: Call, a: AbstractTensor, b: AbstractTensor, result: AbstractTensor) -> AbstractTensor:
    """Return x * 1/sqrt(mean(x*x) + eps), at most sqrt(n); without this bounds explode from layer to layer."""
    for x, inverse in ((a, b), (b, a)):
        count = _mean_square_under_inverse_root(call.values, x, inverse.number)
        if count is None or x.form is None:
            continue
        slack = gamma(count + 8, x.form)
        limit = float(np.sqrt(count) * (1 + slack)) if slack < 0.5 else np.inf
        box = Box(np.maximum(result.low, -limit), np.minimum(result.high, limit), result.mag)
        return like(result, result.shape, box, bounds_from=BoundsFrom.MODEL)
    return result


def _mean_square_under_inverse_root(values: Numbering, x: AbstractTensor, number: int) -> float | None:
    """Return over how many elements the mean is whose root's inverse this is; None if it is none, or has no guard."""
    definition = values.definition(number)
    if definition is None or definition.operator not in ("Reciprocal", "Div"):
        return None
    if definition.operator == "Div":
        one = values.tensor(definition.operands[0])
        if one is None or one.scalar != 1:
            return None
    under = root_of(values, definition.operands[-1])
    total = None if under is None else values.definition(under)
    if total is None or total.operator != "Add":
        return None
    for mean, guard in (total.operands, total.operands[::-1]):
        count = _count_of_mean(values, values.definition(mean), x) if _kept_dimensions(values, mean, x.number) else None
        epsilon = values.tensor(guard)
        if count is None or epsilon is None or x.form is None:
            continue
        # The guard has to outlast squares that underflow.
        if epsilon.scalar is not None and float(epsilon.low.min()) >= x.form.smallest_normal:
            return count
    return None


def _count_of_mean(values: Numbering, mean: Definition | None, x: AbstractTensor) -> float | None:
    if mean is None or mean.operator != "ReduceMean" or _is_square_of(values, mean.operands[0]) != x.number:
        return None
    axes = mean.attributes.get("axes")
    if axes is None and len(mean.operands) > 1 and mean.operands[1]:
        given = values.tensor(mean.operands[1])
        axes = None if given is None or given.constant is None else given.constant.reshape(-1).tolist()
    if not axes or x.shape is None:
        return None
    count = element_count(x.shape[int(axis)] for axis in axes)[1]
    return count if np.isfinite(count) else None
