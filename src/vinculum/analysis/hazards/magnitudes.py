"""Divisors and quotients at the ends of a floating-point format."""

from __future__ import annotations

import numpy as np
from onnx import NodeProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.hazards.hazard import Found, Hazard, divided, is_empty, readers
from vinculum.analysis.interpreter import Site

_LARGEST_EPSILON = 1e-3
_TO_A_DIVISOR = frozenset(
    {"Sqrt", "Pow", "Reciprocal", "Expand", "Identity", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Max", "Clip", "Mul"}
)


class QuotientOverflow(Hazard):
    """The quotient of finite operands can lie beyond the largest finite number."""

    code = "quotient-overflow"
    operators = ("Div", "Reciprocal")
    fix = "raise the divisor's lower bound: Max(divisor, epsilon) with a larger epsilon, or declare narrower ranges"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if declared ranges alone let the quotient overflow."""
        dividend, divisor, place = divided(site)
        if divisor is None or divisor.form is None or divisor.may_zero or is_empty(site):
            return None
        operands = [operand for operand in (dividend, divisor) if operand is not None]
        if any(operand.bounds_from is BoundsFrom.TYPE or operand.may_infinite for operand in operands):
            return None
        if dividend is not None and dividend.number == divisor.number:
            return None
        if not any(operand.bounds_from is BoundsFrom.DECLARED for operand in operands):
            return None
        result = site.results[0]
        if not bool(np.isinf(result.low).any() or np.isinf(result.high).any()):
            return None
        return Found(place, detail={"smallest_divisor": _text(float(divisor.mag.min()))})


class SubnormalDivisor(Hazard):
    """A divisor can be subnormal, which this target treats as zero."""

    code = "subnormal-divisor"
    operators = ("Div", "Reciprocal")
    fix = "keep the divisor normal: Max(divisor, the smallest normal number)"
    profile = "flushing"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if it cannot be zero, but less than the smallest normal number."""
        _, divisor, place = divided(site)
        if divisor is None or divisor.form is None or divisor.may_zero or is_empty(site):
            return None
        smallest = float(divisor.mag.min())
        if smallest >= divisor.form.smallest_normal:
            return None
        return Found(place, detail={"smallest_normal": _text(divisor.form.smallest_normal)})


class EpsilonLost(Hazard):
    """An epsilon that guards a divisor is zero in this element type."""

    code = "epsilon-lost"
    operators = ("Add", "Max", "Clip")
    fix = "take an epsilon that the element type holds, or compute this in float32"

    def look(self, site: Site) -> Found | None:
        """Return the epsilon if it is on the way to a divisor and rounds to zero."""
        for place, operand in enumerate(site.operands[:2]):
            if operand is None or operand.form is None or not _is_lost(operand):
                continue
            if _guards_a_divisor(site):
                form = operand.form
                detail = {"epsilon": _text(_written(operand)), "smallest_that_survives": _text(form.smallest_subnormal)}
                return Found(place, certain=True, detail=detail)
        return None


def _written(operand: AbstractTensor) -> float:
    assert operand.constant is not None
    return float(np.asarray(operand.constant).astype(np.float64).reshape(-1)[0])


def _is_lost(operand: AbstractTensor) -> bool:
    """Tell whether a small positive constant is zero in this element type."""
    if operand.constant is None or operand.constant.size != 1 or operand.constant.dtype.kind not in "fV":
        return False
    return 0 < _written(operand) <= _LARGEST_EPSILON and float(operand.high.max()) == 0


def _guards_a_divisor(site: Site) -> bool:
    return any(
        (node.op_type in ("Div", "Mod") and place == 1)
        or node.op_type == "Reciprocal"
        or (node.op_type == "Pow" and _is_inverse_power(site, node))
        for node, place in readers(site.scope, site.node.output[0], _TO_A_DIVISOR)
    )


def _is_inverse_power(site: Site, node: NodeProto) -> bool:
    exponent = site.scope.values.get(node.input[1])
    return exponent is not None and exponent.constant is not None and bool((exponent.high < 0).all())


def _text(number: float) -> str:
    return f"{number:.3g}"
