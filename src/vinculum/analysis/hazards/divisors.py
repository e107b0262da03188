"""Divisors that can be zero."""

from __future__ import annotations

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.domain.formats import is_discrete
from vinculum.analysis.hazards.hazard import Found, Hazard, divided, is_empty
from vinculum.analysis.interpreter import Site


def _is_certain(divisor: AbstractTensor) -> bool:
    low, high = divisor.box.hull()
    return low == high == 0 and not divisor.may_nan


class IntegerZeroDivisor(Hazard):
    """An integer divisor can be zero: ONNX leaves the quotient open, and runtimes die of it."""

    code = "integer-zero-divisor"
    operators = ("Div", "Mod")
    fix = "keep the divisor from zero: Max(divisor, 1), or Where(divisor == 0, 1, divisor)"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if it can be zero."""
        _, divisor, place = divided(site)
        if divisor is None or not is_discrete(divisor.element_type) or not divisor.may_zero or is_empty(site):
            return None
        return Found(place, _is_certain(divisor))


class ZeroDivisor(Hazard):
    """A divisor can be zero: the quotient is an infinity, or NaN if the dividend is zero too."""

    code = "zero-divisor"
    operators = ("Div", "Reciprocal", "Mod")
    fix = "add a positive epsilon to the divisor, or take Max(divisor, epsilon)"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if it can be zero, but for what `ZeroOverZero` finds."""
        dividend, divisor, place = divided(site)
        if divisor is None or divisor.form is None or not divisor.may_zero or is_empty(site):
            return None
        if dividend is not None and dividend.may_zero:
            return None
        return Found(place, _is_certain(divisor))


class ZeroOverZero(Hazard):
    """A divisor can be zero, and so can the dividend: 0/0 is NaN."""

    code = "zero-over-zero"
    operators = ("Div", "Mod")
    fix = "keep the divisor from zero: add a positive epsilon, or take Max(divisor, epsilon)"

    def look(self, site: Site) -> Found | None:
        """Return the divisor if both can be zero."""
        dividend, divisor, place = divided(site)
        if divisor is None or divisor.form is None or not divisor.may_zero or is_empty(site):
            return None
        if dividend is None or not dividend.may_zero:
            return None
        return Found(place, _is_certain(divisor))
