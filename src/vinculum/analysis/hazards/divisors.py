"""Divisors that can be zero."""

from __future__ import annotations

import numpy as np

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, tensor
from vinculum.analysis.domain.formats import is_discrete
from vinculum.analysis.hazards.hazard import Found, Hazard, divided, is_empty
from vinculum.analysis.interpreter import Site
from vinculum.analysis.transfer.operators.normalisation import norm_of_rows

_KEEP_FROM_ZERO = "add a positive epsilon to the divisor, or take Max(divisor, epsilon)"


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
    operators = ("Div", "Reciprocal", "Mod", "Pow", "BatchNormalization", "QuantizeLinear")
    fix = _KEEP_FROM_ZERO

    def look(self, site: Site) -> Found | None:
        """Return the divisor if it can be zero, except where `ZeroOverZero` finds it."""
        if site.node.op_type == "Pow":
            return _negative_power(site)
        if site.node.op_type == "BatchNormalization":
            return _variance(site)
        return _zero_divisor(site, of_zero=False)


def _zero_divisor(site: Site, *, of_zero: bool) -> Found | None:
    """Return the floating-point divisor if it can be zero, and the dividend can, or cannot, be zero too."""
    dividend, divisor, place = divided(site)
    if divisor is None or divisor.form is None or not divisor.may_zero or is_empty(site):
        return None
    if (dividend is not None and dividend.may_zero) is not of_zero:
        return None
    return Found(place, is_certain(divisor))


def _negative_power(site: Site) -> Found | None:
    """Return the base of a negative power, which is 1 divided by a power."""
    base, exponent = (*site.operands[:2], None, None)[:2]
    if base is None or exponent is None or base.form is None or not base.may_zero or is_empty(site):
        return None
    certainly_negative = exponent.constant is not None and bool((exponent.high < 0).all())
    return Found(0, is_certain(base)) if certainly_negative else None


def _variance(site: Site) -> Found | None:
    """Return the variance that a BatchNormalization divides by the root of, epsilon added."""
    if len(site.operands) < 5 or site.operands[4] is None or site.call.attribute("training_mode", 0):
        return None
    variance = site.operands[4]
    epsilon = np.float64(np.float32(site.call.attribute("epsilon", 1e-5)))
    if variance.form is None or variance.constant is None:  # A variance that is computed is hardly negative.
        return None
    low = variance.low + epsilon
    if bool((low > 0).all()):
        return None
    divisor = tensor(variance.element_type, variance.shape, low, variance.high + epsilon)
    return Found(4, is_certain(divisor), value=divisor)


class ZeroOverZero(Hazard):
    """A divisor can be zero, and so can the dividend: 0/0 is NaN."""

    code = "zero-over-zero"
    operators = ("Div", "Mod", "LpNormalization", "QuantizeLinear")
    fix = _KEEP_FROM_ZERO

    def look(self, site: Site) -> Found | None:
        """Return the divisor if both can be zero."""
        if site.node.op_type == "LpNormalization":
            return _norm(site)
        return _zero_divisor(site, of_zero=True)


def _norm(site: Site) -> Found | None:
    operand = site.operands[0]
    if operand is None or operand.form is None or is_empty(site):
        return None
    norm = norm_of_rows(site.call, operand)
    return Found(0, is_certain(norm), value=norm) if norm.may_zero else None
