"""Quotients by an integer that stays the same, by the high half of one product.

For a divisor d of N bits let l be the least with d <= 2^l, and m = floor(2^N * (2^l - d) / d) + 1. Then floor(n / d) is
floor((2^N + m) * n / 2^(N + l)) for every n of N bits. The sum of n and the high half of m * n may need N + 1 bits;
half of their difference does not. (Granlund and Montgomery, Division by invariant integers using multiplication, 1994.)

8 bits have room to spare in 16: there floor(n / d) is floor((n + 1) * floor((2^16 - 1) / d) / 2^16).

Signed integers divide magnitudes, and the sign is put on the quotient; MIN/-1 wraps to MIN. Where a quotient is
negative its floor is -1 - floor((|n| - 1) / |d|). All of this is proved: proofs/theories/multiply_high*.mlw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from vinculum.kernels.jit import inlined
from vinculum.kernels.wrapping import (
    add,
    as_signed,
    exclusive_or,
    high_half,
    less_mask,
    magnitude,
    opaque,
    shift_right,
    sign_mask,
    subtract,
)

_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@inlined
def ceiling_of_log2(divisor: np.uint64) -> np.uint64:
    """Return the least exponent whose power of two is not below a divisor."""
    exponent, rest = np.uint64(0), np.uint64(divisor - np.uint64(1))
    while rest > 0:
        rest >>= np.uint64(1)
        exponent += np.uint64(1)
    return exponent


@inlined
def shifts(exponent: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Part a shift by an exponent into at most one bit and the rest."""
    first = np.uint64(1) if exponent > 0 else np.uint64(0)
    return first, exponent - first


@inlined
def long_division(high: np.uint64, divisor: np.uint64) -> np.uint64:
    """Return floor(2^64 * high / divisor) of high < divisor, one bit at a time."""
    quotient, remainder = np.uint64(0), high
    for _ in range(64):
        carry = remainder >> np.uint64(63)
        remainder <<= np.uint64(1)
        quotient <<= np.uint64(1)
        if carry > 0 or remainder >= divisor:
            remainder -= divisor
            quotient += np.uint64(1)
    return quotient


@inlined
def high_half_64(a: np.uint64, b_low: np.uint64, b_high: np.uint64) -> np.uint64:
    """Return the upper 64 bits of a product, from products of 32 bits, which every processor has for vectors."""
    a_low, a_high = a & _LOW_HALF, a >> _HALF
    # LLVM has to see that the factors have 32 bits.
    low, high = b_low & _LOW_HALF, b_high & _LOW_HALF
    middle = a_high * low + (a_low * low >> _HALF)
    other = a_low * high + (middle & _LOW_HALF)
    return a_high * high + (middle >> _HALF) + (other >> _HALF)


@inlined
def multiplier_of(divisor: np.uint64, exponent: np.uint64, bits: np.uint64) -> np.uint64:
    """Return the multiplier, without its bit 2^bits, of a divisor of at most 32 bits."""
    excess = (np.uint64(1) << exponent) - divisor
    return (excess << bits) // divisor + np.uint64(1)


def prepared_8(divisor: Any) -> Any:
    """Prepare a divisor of 8 bits."""
    return np.uint16(np.uint64(0xFFFF) // np.uint64(divisor))


def prepared_16(divisor: Any) -> Any:
    """Prepare a divisor of 16 bits."""
    exponent = ceiling_of_log2(np.uint64(divisor))
    first, second = shifts(exponent)
    return np.uint16(multiplier_of(np.uint64(divisor), exponent, np.uint64(16))), np.uint16(first), np.uint16(second)


def prepared_32(divisor: Any) -> Any:
    """Prepare a divisor of 32 bits."""
    exponent = ceiling_of_log2(np.uint64(divisor))
    first, second = shifts(exponent)
    return np.uint32(multiplier_of(np.uint64(divisor), exponent, np.uint64(32))), np.uint32(first), np.uint32(second)


def prepared_64(divisor: Any) -> Any:
    """Prepare a divisor of 64 bits."""
    exponent = ceiling_of_log2(divisor)
    first, second = shifts(exponent)
    # 2^64 is 0 in 64 bits, and a shift by 64 is undefined.
    power = np.uint64(0) if exponent == 64 else np.uint64(1) << exponent
    multiplier = long_division(power - divisor, divisor) + np.uint64(1)
    # If LLVM knew that these are the halves of one number it would choose the processor's product of 64 bits, which
    # works on single numbers only and takes twice as long.
    return opaque(multiplier & _LOW_HALF), opaque(multiplier >> _HALF), first, second


def quotient_8_by(dividend: Any, prepared: Any) -> Any:
    """Divide an unsigned integer of 8 bits by a prepared divisor."""
    return np.uint8(high_half(np.uint16(np.uint16(dividend) + np.uint16(1)), prepared))


def quotient_32_by(dividend: Any, prepared: Any) -> Any:
    """Divide an unsigned integer of 16 or 32 bits by a prepared divisor."""
    multiplier, first, second = prepared
    high = high_half(dividend, multiplier)
    return shift_right(add(high, shift_right(subtract(dividend, high), first)), second)


def quotient_64_by(dividend: Any, prepared: Any) -> Any:
    """Divide an unsigned integer of 64 bits by a prepared divisor."""
    low, high, first, second = prepared
    estimate = high_half_64(dividend, low, high)
    return (estimate + ((dividend - estimate) >> first)) >> second


def unsigned_quotient_by(dividend: Any, prepared: Any) -> Any:
    """Divide an unsigned integer by a prepared divisor of its width."""
    raise NotImplementedError


@overload(unsigned_quotient_by)
def _unsigned_quotient_by(dividend: Any, prepared: Any) -> Any:
    return {8: quotient_8_by, 64: quotient_64_by}.get(dividend.bitwidth, quotient_32_by)


def truncating_signed_by(dividend: Any, divisor: Any, prepared: Any) -> Any:
    """Divide a signed integer toward zero, by a divisor whose magnitude is prepared."""
    sign = exclusive_or(sign_mask(dividend), sign_mask(divisor))
    quotient = unsigned_quotient_by(magnitude(dividend), prepared)
    return as_signed(subtract(exclusive_or(quotient, sign), sign))


def floor_signed_by(dividend: Any, divisor: Any, prepared: Any) -> Any:
    """Divide a signed integer toward minus infinity, by a divisor whose magnitude is prepared."""
    divisor_sign = as_signed(sign_mask(divisor))
    # dividend < 0 of a positive divisor; -1 - dividend < -1, which is dividend > 0, of a negative one.
    negative = less_mask(exclusive_or(dividend, divisor_sign), divisor_sign)
    quotient = unsigned_quotient_by(add(magnitude(dividend), negative), prepared)
    return as_signed(exclusive_or(quotient, negative))
