"""The rules for integers, by element type; MIN/-1 wraps to MIN in all of them.

Numba calls the function that matches the argument's type; Python never runs the bodies that raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from vinculum.kernels import direct_quotient as direct
from vinculum.kernels import two_step_quotient as two_step

Rule = Callable[..., Any]


def _by_type(element: Any, to_16: Rule, to_32: Rule, signed_64: Rule, unsigned_64: Rule) -> Rule:
    if element.bitwidth <= 16:
        return to_16
    if element.bitwidth == 32:
        return to_32
    return signed_64 if element.signed else unsigned_64


def reciprocal_of(divisor: Any) -> Any:
    """Prepare a divisor that is not zero for the quotients by it."""
    raise NotImplementedError


@overload(reciprocal_of)
def _reciprocal_of(divisor: Any) -> Rule:
    return _by_type(
        divisor, direct.reciprocal_16, direct.reciprocal_32, two_step.reciprocal_i64, two_step.reciprocal_u64
    )


def truncating_quotient(dividend: Any, divisor: Any) -> Any:
    """Return the quotient with its fraction discarded."""
    raise NotImplementedError


@overload(truncating_quotient)
def _truncating_quotient(dividend: Any, divisor: Any) -> Rule:
    return _by_type(
        dividend, direct.truncating_16, direct.truncating_32, two_step.truncating_i64, two_step.quotient_u64
    )


def truncating_quotient_by(dividend: Any, divisor: Any, reciprocal: Any) -> Any:
    """Return the same as `truncating_quotient`, with the divisor prepared."""
    raise NotImplementedError


@overload(truncating_quotient_by)
def _truncating_quotient_by(dividend: Any, divisor: Any, reciprocal: Any) -> Rule:
    return _by_type(
        dividend,
        direct.truncating_16_by,
        direct.truncating_32_by,
        two_step.truncating_i64_by,
        two_step.quotient_u64_by,
    )


def floor_quotient(dividend: Any, divisor: Any) -> Any:
    """Return the largest integer that is not above the quotient."""
    raise NotImplementedError


@overload(floor_quotient)
def _floor_quotient(dividend: Any, divisor: Any) -> Rule:
    return _by_type(dividend, direct.floor_16, direct.floor_32, two_step.floor_i64, two_step.quotient_u64)


def floor_quotient_by(dividend: Any, divisor: Any, reciprocal: Any) -> Any:
    """Return the same as `floor_quotient`, with the divisor prepared."""
    raise NotImplementedError


@overload(floor_quotient_by)
def _floor_quotient_by(dividend: Any, divisor: Any, reciprocal: Any) -> Rule:
    return _by_type(dividend, direct.floor_16_by, direct.floor_32_by, two_step.floor_i64_by, two_step.quotient_u64_by)


def saturated(dividend: Any) -> Any:
    """Return what a quotient by zero saturates to: the largest or smallest value by the dividend's sign, 0 for 0/0."""
    raise NotImplementedError


@overload(saturated)
def _saturated(dividend: Any) -> Rule:
    # Typed, or Numba would join the signed and the unsigned constant in binary64, which holds neither.
    element = getattr(np, str(dividend))
    smallest, zero, largest = element(dividend.minval), element(0), element(dividend.maxval)

    def by_sign(dividend: Any) -> Any:
        if dividend > zero:
            return largest
        return smallest if dividend < zero else zero

    return by_sign


def overflows(dividend: Any, divisor: Any) -> Any:
    """Tell MIN/-1, the one quotient by a divisor other than zero that its type cannot hold."""
    raise NotImplementedError


@overload(overflows)
def _overflows(dividend: Any, divisor: Any) -> Rule:
    if not dividend.signed:

        def never(dividend: Any, divisor: Any) -> Any:
            return False

        return never
    element = getattr(np, str(dividend))
    smallest, minus_one = element(dividend.minval), element(-1)

    def smallest_by_minus_one(dividend: Any, divisor: Any) -> Any:
        return (dividend == smallest) & (divisor == minus_one)

    return smallest_by_minus_one
