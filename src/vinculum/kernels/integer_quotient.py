"""The rules for integers, by element type; MIN/-1 wraps to MIN in all of them.

Numba calls the function that matches the argument's type; Python never runs the bodies that raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from vinculum.kernels import direct_quotient as direct
from vinculum.kernels import multiply_high_quotient as multiply_high
from vinculum.kernels import two_step_quotient as two_step
from vinculum.kernels.jit import inlined
from vinculum.kernels.wrapping import magnitude

Rule = Callable[..., Any]

# Bits of a small integer but for its sign, and how many integers are looked at at once.
_SMALL = np.uint64(50)
_STRETCH = 256


def _by_type(element: Any, to_16: Rule, to_32: Rule, signed_64: Rule, unsigned_64: Rule) -> Rule:
    if element.bitwidth <= 16:
        return to_16
    if element.bitwidth == 32:
        return to_32
    return signed_64 if element.signed else unsigned_64


def prepares(divisor: Any) -> Any:
    """Tell whether a divisor can be prepared: no quotient by it is exceptional."""
    raise NotImplementedError


@overload(prepares)
def _prepares(divisor: Any) -> Rule:
    if not divisor.signed:

        def unless_zero(divisor: Any) -> Any:
            return divisor != 0

        return unless_zero

    def unless_zero_or_minus_one(divisor: Any) -> Any:
        return (divisor != 0) & (divisor != -1)

    return unless_zero_or_minus_one


def prepared_divisor(divisor: Any) -> Any:
    """Prepare a divisor that `prepares` takes for the quotients by it."""
    raise NotImplementedError


@overload(prepared_divisor)
def _prepared_divisor(divisor: Any) -> Rule:
    prepared = {
        8: multiply_high.prepared_8,
        16: multiply_high.prepared_16,
        32: multiply_high.prepared_32,
        64: multiply_high.prepared_64,
    }[divisor.bitwidth]
    if not divisor.signed:
        return prepared
    prepare = inlined(prepared)

    def of_magnitude(divisor: Any) -> Any:
        return prepare(magnitude(divisor))

    return of_magnitude


def truncating_quotient(dividend: Any, divisor: Any) -> Any:
    """Return the quotient with its fraction discarded."""
    raise NotImplementedError


@overload(truncating_quotient)
def _truncating_quotient(dividend: Any, divisor: Any) -> Rule:
    return _by_type(
        dividend, direct.truncating_16, direct.truncating_32, two_step.truncating_i64, two_step.quotient_u64
    )


def truncating_quotient_by(dividend: Any, divisor: Any, prepared: Any) -> Any:
    """Return the same as `truncating_quotient`, with the divisor prepared."""
    raise NotImplementedError


@overload(truncating_quotient_by)
def _truncating_quotient_by(dividend: Any, divisor: Any, prepared: Any) -> Rule:
    return multiply_high.truncating_signed_by if dividend.signed else _unsigned_by


def floor_quotient(dividend: Any, divisor: Any) -> Any:
    """Return the largest integer that is not above the quotient."""
    raise NotImplementedError


@overload(floor_quotient)
def _floor_quotient(dividend: Any, divisor: Any) -> Rule:
    return _by_type(dividend, direct.floor_16, direct.floor_32, two_step.floor_i64, two_step.quotient_u64)


def floor_quotient_by(dividend: Any, divisor: Any, prepared: Any) -> Any:
    """Return the same as `floor_quotient`, with the divisor prepared."""
    raise NotImplementedError


@overload(floor_quotient_by)
def _floor_quotient_by(dividend: Any, divisor: Any, prepared: Any) -> Rule:
    return multiply_high.floor_signed_by if dividend.signed else _unsigned_by


def _unsigned_by(dividend: Any, divisor: Any, prepared: Any) -> Any:
    return multiply_high.unsigned_quotient_by(dividend, prepared)


def are_small(values: Any) -> Any:
    """Tell whether the integers of an array lie in [-2^50, 2^50), and are of 64 bits: others need no quicker rule."""
    raise NotImplementedError


@overload(are_small)
def _are_small(values: Any) -> Rule:
    if values.dtype.bitwidth < 64:

        def no(values: Any) -> Any:
            return False

        return no
    bits = _bits_above_zero if values.dtype.signed else _bits

    def look(values: Any) -> Any:
        # By stretches: large ones are soon found, and the loop over a stretch is vectorised.
        for start in range(0, values.size, _STRETCH):
            above = np.uint64(0)
            # A view, in which no index is negative: Numba would look whether one is.
            stretch = values[start : start + _STRETCH]
            for i in range(stretch.size):
                above |= bits(stretch[i])
            if above >> _SMALL > 0:
                return False
        return True

    return look


@inlined
def _bits_above_zero(value: np.int64) -> np.uint64:
    return np.uint64(value ^ (value >> 63))


@inlined
def _bits(value: np.uint64) -> np.uint64:
    return value


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
