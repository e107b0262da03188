"""Functions other than division: rows of a softmax that are masked completely, and operands outside of a domain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.domain.facts import Kind, find
from vinculum.analysis.domain.numbering import Numbering
from vinculum.analysis.hazards.hazard import Found, Hazard, is_empty
from vinculum.analysis.interpreter import Site
from vinculum.analysis.transfer.declarations import EVERYWHERE, Unary
from vinculum.analysis.transfer.operators import TABLE
from vinculum.analysis.transfer.operators.reductions import softmax_axes

_MOST_STEPS = 200


class MaskedRow(Hazard):
    """A whole row can be masked: the sum of its exponentials is zero, and 0/0 is NaN."""

    code = "masked-row"
    operators = ("Softmax", "LogSoftmax")
    fix = "mask with the type's smallest finite number, or replace NaN behind the softmax: Where(IsNaN(p), 0, p)"

    def look(self, site: Site) -> Found | None:
        """Return the operand if a mask from an input puts -inf everywhere in a row, and nothing replaces the NaN."""
        scores = site.operands[0] if site.operands else None
        if scores is None or scores.form is None or scores.shape == () or is_empty(site):
            return None
        axis = None if scores.shape is None else softmax_axes(site.call, len(scores.shape))[0]
        if not bool(np.isneginf(scores.low).all(axis=axis).any()):
            return None
        left = None if axis is None else find(scores.facts, Kind.SOME_AT_LEAST, axis)
        if left is not None and left.low > -np.inf:
            return None
        condition, masking = _condition(site.call.values, scores.number)
        if not condition or not _depends_on_an_input(site.call.values, condition):
            return None
        mask = site.call.values.tensor(condition)
        if mask is not None and axis is not None and _leaves_some(mask, masking, scores, axis):
            return None
        replaced = any(node.op_type == "IsNaN" for node in site.scope.users.get(site.node.output[0], ()))
        return None if replaced else Found(0)


def _condition(values: Numbering, number: int) -> tuple[int, bool | None]:
    """Return the condition by which a value is -inf, chosen by Where or added to others, and the truth that does it."""
    waiting, seen = [number], set[int]()
    while waiting:
        definition = values.definition(number := waiting.pop())
        if definition is None or number in seen:
            continue
        seen.add(number)
        masking = [place for place, one in enumerate(definition.operands) if _is_masking(values.tensor(one))]
        if definition.operator == "Where" and any(masking):
            return definition.operands[0], None if len(masking) > 1 else masking == [1]
        if definition.operator == "Mul" and masking:  # By the largest negative number, which is -inf in this type.
            return definition.operands[1 - masking[0]], None
        if definition.operator in ("Add", "Unsqueeze", "Expand", "Reshape", "Cast", "Slice"):
            waiting += [operand for operand in reversed(definition.operands) if operand]
    return 0, None


def _leaves_some(mask: AbstractTensor, masking: bool | None, scores: AbstractTensor, axis: int) -> bool:
    """Tell whether a mask, known to be otherwise somewhere in every row, leaves something of rows that are the last."""
    kinds = {True: Kind.SOME_AT_MOST, False: Kind.SOME_AT_LEAST}
    if masking is None or not mask.shape or not scores.shape or axis + 1 < len(scores.shape):
        return False
    return mask.shape[-1] == scores.shape[-1] and find(mask.facts, kinds[masking], len(mask.shape) - 1) is not None


def _is_masking(value: AbstractTensor | None) -> bool:
    return value is not None and value.constant is not None and bool(np.isneginf(value.high).all())


def _depends_on_an_input(values: Numbering, number: int) -> bool:
    """Tell whether a condition depends on inputs, not only on sizes and constants."""
    waiting, seen = [number], set[int]()
    while waiting and len(seen) < _MOST_STEPS:
        number = waiting.pop()
        known, definition = values.tensor(number), values.definition(number)
        if number in seen or known is None or known.constant is not None:
            continue
        seen.add(number)
        if definition is None:
            return True
        if definition.operator not in ("Shape", "Size"):
            waiting += [operand for operand in definition.operands if operand]
    return False


DOMAINS: Mapping[str, tuple[float, float]] = {
    "Sqrt": (0.0, np.inf),
    **{
        name: operator.transfer.domain
        for (domain, name), operator in TABLE.items()
        if not domain and isinstance(operator.transfer, Unary) and operator.transfer.domain != EVERYWHERE
    },
}
"""Where functions are numbers, both ends included."""


class OutsideDomain(Hazard):
    """An operand can lie outside of the function's domain: the result is NaN, or -inf for the logarithm of 0."""

    code = "outside-domain"
    operators = tuple(DOMAINS)
    fix = "keep the operand inside: Clip, or Max(operand, epsilon)"
    profile = "domains"

    def look(self, site: Site) -> Found | None:
        """Return the operand if it can lie outside."""
        x, (start, end) = site.operands[0], DOMAINS[site.node.op_type]
        if x is None or x.form is None or is_empty(site):
            return None
        low, high = x.box.hull()
        always, may = (
            high < start or low > end,
            low < start or high > end or (site.node.op_type == "Log" and x.may_zero),
        )
        return Found(0, always and not x.may_nan, {"domain": f"{start:g} to {end:g}"}) if may else None


class ExponentialOverflow(Hazard):
    """An exponential of declared ranges can lie beyond the largest finite number."""

    code = "exponential-overflow"
    operators = ("Exp",)
    fix = "subtract the largest element first, or Clip the operand"
    profile = "domains"

    def look(self, site: Site) -> Found | None:
        """Return the operand if it is finite, and its exponential need not be."""
        x = site.operands[0]
        if x is None or x.form is None or x.may_infinite or x.bounds_from is BoundsFrom.TYPE or is_empty(site):
            return None
        (least, largest), most = x.box.hull(), float(np.log(x.form.max))
        return Found(0, least > most, {"largest": f"{most:.4g}"}) if largest > most else None
