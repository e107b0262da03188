"""Quotients of integers of 8, 16 and 32 bits by one rounded floating-point division.

8 and 16 bits go through binary32, 32 bits through binary64. The operands are exact there and |dividend| < 2^(p - 7) at
least. The rounding moves the quotient by less than 1/|divisor|, the least distance from an integer of a quotient
that is none, so it cannot reach one: truncation or floor of the rounded quotient is that of the exact one.

A divisor that stays the same is multiplied by its reciprocal instead, enlarged to lie a few ulps too far from zero:
never short of an integer quotient, and beyond it by less than |dividend| * 2^(4 - p) / |divisor| < 1/|divisor|.

All of this is proved: proofs/theories/direct_division*.mlw.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vinculum.kernels.jit import inlined

_ENLARGED_ONE_32 = np.float32(1 + 2.0**-22)
_ENLARGED_ONE_64 = 1 + 2.0**-51
_HIGH_ONE = 1.5 * 2.0**52


@inlined
def _low_bits(whole: np.float64) -> np.int64:
    """Return an integer whose lower 32 bits are those of a whole number of at most 33 bits.

    Added to 1.5 * 2^52 a whole number stands in the low bits of the significand, in two's complement. Unlike a
    conversion this vectorises on every processor, and wraps 2^31 to -2^31.
    """
    return np.float64(whole + _HIGH_ONE).view(np.int64)


@inlined
def _floored_by(dividend: Any, divisor: Any, reciprocal: Any) -> Any:
    truncated = np.trunc(dividend * reciprocal)
    below = (truncated * divisor != dividend) & ((dividend < 0) != (divisor < 0))
    return truncated - type(truncated)(below)


def reciprocal_16(divisor: Any) -> Any:
    """Return 1/divisor in binary32, a few ulps too far from zero."""
    return np.float32(np.float32(1) / np.float32(divisor)) * _ENLARGED_ONE_32


def truncating_16(dividend: Any, divisor: Any) -> Any:
    """Divide 8- or 16-bit integers toward zero."""
    return np.int32(np.trunc(np.float32(dividend) / np.float32(divisor)))


def floor_16(dividend: Any, divisor: Any) -> Any:
    """Divide 8- or 16-bit integers toward minus infinity."""
    return np.int32(np.floor(np.float32(dividend) / np.float32(divisor)))


def truncating_16_by(dividend: Any, divisor: Any, reciprocal: Any) -> Any:
    """Divide by a prepared divisor toward zero."""
    return np.int32(np.trunc(np.float32(dividend) * reciprocal))


def floor_16_by(dividend: Any, divisor: Any, reciprocal: Any) -> Any:
    """Divide by a prepared divisor toward minus infinity."""
    return np.int32(_floored_by(np.float32(dividend), np.float32(divisor), reciprocal))


def reciprocal_32(divisor: Any) -> Any:
    """Return 1/divisor in binary64, a few ulps too far from zero."""
    return (1.0 / np.float64(divisor)) * _ENLARGED_ONE_64


def truncating_32(dividend: Any, divisor: Any) -> Any:
    """Divide 32-bit integers toward zero."""
    return _low_bits(np.trunc(np.float64(dividend) / np.float64(divisor)))


def floor_32(dividend: Any, divisor: Any) -> Any:
    """Divide 32-bit integers toward minus infinity."""
    return _low_bits(np.floor(np.float64(dividend) / np.float64(divisor)))


def truncating_32_by(dividend: Any, divisor: Any, reciprocal: Any) -> Any:
    """Divide by a prepared divisor toward zero."""
    return _low_bits(np.trunc(np.float64(dividend) * reciprocal))


def floor_32_by(dividend: Any, divisor: Any, reciprocal: Any) -> Any:
    """Divide by a prepared divisor toward minus infinity."""
    return _low_bits(_floored_by(np.float64(dividend), np.float64(divisor), reciprocal))
