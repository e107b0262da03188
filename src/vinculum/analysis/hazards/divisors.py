"""Divisors that can be zero."""

from __future__ import annotations

from typing import ClassVar

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.formats import is_discrete
from vinculum.analysis.hazards.hazard import Found, Hazard, divided, is_empty
from vinculum.analysis.interpreter import Site
from vinculum.analysis.transfer.all_operators import operator_of
from vinculum.analysis.transfer.operator import Hidden

_KEEP_FROM_ZERO = "add a positive epsilon to the divisor, or take Max(divisor, epsilon)"


def _hidden(site: Site) -> tuple[bool, Hidden | None]:
    """Tell whether a node divides inside, and by what; None if that is nothing here, or cannot be told."""
    known, x = operator_of(*site.key), site.operands[0] if site.operands else None
    if known is None or known.hidden is None:
        return False, None
    return True, None if x is None or x.form is None else known.hidden(site.call, *site.operands)


def is_certain(divisor: AbstractTensor) -> bool:
    """Tell whether a divisor is zero in every run."""
    low, high = divisor.box.hull()
    return low == high == 0 and not divisor.may_nan


class IntegerZeroDivisor(Hazard):
    """An integer divisor can be zero: ONNX does not define the quotient, and some runtimes crash."""

    code = "integer-zero-divisor"
    operators = ("Div", "Mod")
    fix = "keep the divisor from zero: Max(divisor, 1), or Where(divisor == 0, 1, divisor)"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if it can be zero."""
        _, divisor, place = divided(site)
        if divisor is None or not is_discrete(divisor.element_type) or not divisor.may_zero or is_empty(site):
            return None
        return Found(place, is_certain(divisor))


class ZeroDivisor(Hazard):
    """A divisor can be zero, and the dividend cannot: the quotient is an infinity."""

    code = "zero-divisor"
    operators: ClassVar[tuple[str, ...]] = ("Div", "Mod", "Reciprocal")
    fix = _KEEP_FROM_ZERO
    of_zero: ClassVar[bool] = False

    def look(self, site: Site) -> Found | None:
        """Return the floating-point divisor if it can be zero, and the dividend can, or cannot, be zero too."""
        if is_empty(site):
            return None
        divides_inside, inside = _hidden(site)
        if divides_inside:
            if inside is None or not inside.divisor.may_zero or inside.of_zero is not self.of_zero:
                return None
            certain = is_certain(inside.divisor) and not inside.guarded_by
            detail = (
                {"by_definition_of": site.node.op_type, "guarded_by": inside.guarded_by} if inside.guarded_by else {}
            )
            return Found(inside.operand, certain, detail, inside.divisor)
        dividend, divisor, place = divided(site)
        if divisor is None or divisor.form is None or not divisor.may_zero:
            return None
        if (dividend is not None and dividend.may_zero) is not self.of_zero:
            return None
        return Found(place, is_certain(divisor))


class ZeroOverZero(ZeroDivisor):
    """A divisor can be zero, and so can the dividend: 0/0 is NaN."""

    code = "zero-over-zero"
    operators = ("Div", "Mod")
    of_zero = True
