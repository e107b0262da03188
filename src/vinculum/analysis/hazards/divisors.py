"""Divisors that can be zero, or at the ends of a floating-point format, and quotients beyond it."""

from __future__ import annotations

from typing import ClassVar

from onnx import NodeProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.domain.formats import is_discrete
from vinculum.analysis.hazards.hazard import Found, Hazard, HazardOfDivisions, is_empty, readers
from vinculum.analysis.interpreter import Site
from vinculum.analysis.transfer.operators import operator_of

_LARGEST_EPSILON = 1e-3
_TO_A_DIVISOR = frozenset(
    {"Sqrt", "Pow", "Reciprocal", "Expand", "Identity", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Max", "Clip", "Mul"}
)


def is_certain(divisor: AbstractTensor) -> bool:
    """Tell whether a divisor is zero in every run."""
    return divisor.box.hull() == (0, 0) and not divisor.may_nan


class IntegerZeroDivisor(HazardOfDivisions):
    """An integer divisor can be zero: ONNX does not define the quotient, and some runtimes crash."""

    code = "integer-zero-divisor"
    operators = ("Div", "Mod")
    fix = "keep the divisor from zero: Max(divisor, 1), or Where(divisor == 0, 1, divisor)"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the divisor if it can be zero."""
        found = is_discrete(divisor.element_type) and divisor.may_zero
        return Found(place, is_certain(divisor)) if found else None


class ZeroDivisor(HazardOfDivisions):
    """A divisor can be zero, and the dividend cannot: the quotient is an infinity."""

    code = "zero-divisor"
    operators: ClassVar[tuple[str, ...]] = ("Div", "Mod", "Reciprocal")
    fix = "add a positive epsilon to the divisor, or take Max(divisor, epsilon)"
    of_zero: ClassVar[bool] = False

    def look(self, site: Site) -> Found | None:
        """Return what a node divides by, or divides by inside, if it can be zero, as the dividend can, or cannot."""
        known, x = operator_of(*site.key), site.operands[0] if site.operands else None
        if known is None or known.hidden is None:
            return super().look(site)
        inside = None if x is None or x.form is None or is_empty(site) else known.hidden(site.call, *site.operands)
        if inside is None or not inside.divisor.may_zero or inside.of_zero is not self.of_zero:
            return None
        by = inside.guarded_by
        detail = {"by_definition_of": site.node.op_type, "guarded_by": by} if by else {}
        return Found(inside.operand, is_certain(inside.divisor) and not by, detail, inside.divisor)

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the floating-point divisor if it can be zero, as the dividend can, or cannot."""
        of_zero = dividend is not None and dividend.may_zero
        found = divisor.form is not None and divisor.may_zero and of_zero is self.of_zero
        return Found(place, is_certain(divisor)) if found else None


class ZeroOverZero(ZeroDivisor):
    """A divisor can be zero, and so can the dividend: 0/0 is NaN."""

    code = "zero-over-zero"
    operators = ("Div", "Mod")
    of_zero = True


class QuotientOverflow(HazardOfDivisions):
    """The quotient of finite operands can lie beyond the largest finite number."""

    code = "quotient-overflow"
    operators = ("Div", "Reciprocal")
    fix = "raise the divisor's lower bound: Max(divisor, epsilon) with a larger epsilon, or declare narrower ranges"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the divisor if declared ranges alone let the quotient overflow."""
        operands = [operand for operand in (dividend, divisor) if operand is not None]
        if divisor.form is None or divisor.may_zero or any(operand.may_infinite for operand in operands):
            return None
        if max(operand.bounds_from for operand in operands) is not BoundsFrom.DECLARED:
            return None
        if dividend is not None and dividend.number == divisor.number:
            return None
        detail = {"smallest_divisor": _text(float(divisor.mag.min()))}
        return Found(place, detail=detail) if site.results[0].may_infinite else None


class SubnormalDivisor(HazardOfDivisions):
    """A divisor can be subnormal, which this target treats as zero."""

    code = "subnormal-divisor"
    operators = ("Div", "Reciprocal")
    fix = "keep the divisor normal: Max(divisor, the smallest normal number)"
    profile = "flushing"

    def divided(self, site: Site, dividend: AbstractTensor | None, divisor: AbstractTensor, place: int) -> Found | None:
        """Return the divisor if it cannot be zero, but less than the smallest normal number."""
        form = divisor.form
        if form is None or divisor.may_zero or float(divisor.mag.min()) >= form.smallest_normal:
            return None
        return Found(place, detail={"smallest_normal": _text(form.smallest_normal)})


class EpsilonLost(Hazard):
    """An epsilon that guards a divisor is zero in this element type."""

    code = "epsilon-lost"
    operators = ("Add", "Max", "Clip")
    fix = "take an epsilon that the element type holds, or compute this in float32"

    def look(self, site: Site) -> Found | None:
        """Return the epsilon if it is on the way to a divisor and rounds to zero."""
        for place, operand in enumerate(site.operands[:2]):
            lost = None if operand is None or operand.form is None else _lost(operand)
            if operand is not None and operand.form is not None and lost and _guards_a_divisor(site):
                least = _text(operand.form.smallest_subnormal)
                return Found(place, certain=True, detail={"epsilon": _text(lost), "smallest_that_survives": least})
        return None


def _lost(operand: AbstractTensor) -> float | None:
    """Return a small positive constant that is zero in this element type, as it is written."""
    held = operand.constant
    if held is None or held.size != 1 or held.dtype.kind not in "fV" or float(operand.high.max()) != 0:
        return None
    return operand.scalar if 0 < held.item() <= _LARGEST_EPSILON else None


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
