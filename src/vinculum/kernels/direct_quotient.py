"""Quotients of integers of 8, 16 and 32 bits, and of small ones of 64, by one rounded floating-point division.

8 and 16 bits go through binary32, 32 and 51 bits through binary64. The operands are exact there and
|dividend| < 2^(p - 1) at least. The rounding moves the quotient by less than 1/|divisor|, the least distance from an
integer of a quotient that is none, so it cannot reach one: truncation or floor of the rounded quotient is that of the
exact one.

All of this is proved: proofs/theories/direct_division*.mlw.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vinculum.kernels.jit import inlined

_HIGH_ONE = 1.5 * 2.0**52
# Its encoding.
_HIGH_ONE_BITS = np.int64(0x4338 << 48)


@inlined
def _low_bits(whole: np.float64) -> np.int64:
    """Return an integer whose lower 32 bits are those of a whole number of at most 33 bits.

    Added to 1.5 * 2^52 a whole number stands in the low bits of the significand, in two's complement. Unlike a
    conversion this vectorises on every processor, and wraps 2^31 to -2^31.
    """
    return np.float64(whole + _HIGH_ONE).view(np.int64)


def truncating_16(dividend: Any, divisor: Any) -> Any:
    """Divide 8- or 16-bit integers toward zero."""
    return np.int32(np.trunc(np.float32(dividend) / np.float32(divisor)))


def floor_16(dividend: Any, divisor: Any) -> Any:
    """Divide 8- or 16-bit integers toward minus infinity."""
    return np.int32(np.floor(np.float32(dividend) / np.float32(divisor)))


def truncating_32(dividend: Any, divisor: Any) -> Any:
    """Divide 32-bit integers toward zero."""
    return _low_bits(np.trunc(np.float64(dividend) / np.float64(divisor)))


def floor_32(dividend: Any, divisor: Any) -> Any:
    """Divide 32-bit integers toward minus infinity."""
    return _low_bits(np.floor(np.float64(dividend) / np.float64(divisor)))


@inlined
def _binary64_of(small: Any) -> np.float64:
    """Convert an integer of 51 bits exactly, by instructions that every processor has for vectors."""
    return np.float64(np.int64(np.int64(small) + _HIGH_ONE_BITS).view(np.float64)) - _HIGH_ONE


@inlined
def _small_of(whole: np.float64) -> np.int64:
    """Convert a whole number of at most 52 bits back."""
    return np.float64(whole + _HIGH_ONE).view(np.int64) - _HIGH_ONE_BITS


def truncating_51(dividend: Any, divisor: Any) -> Any:
    """Divide integers of 51 bits, stored in 64, toward zero."""
    return _small_of(np.trunc(_binary64_of(dividend) / _binary64_of(divisor)))


def floor_51(dividend: Any, divisor: Any) -> Any:
    """Divide integers of 51 bits, stored in 64, toward minus infinity."""
    return _small_of(np.floor(_binary64_of(dividend) / _binary64_of(divisor)))
