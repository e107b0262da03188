"""Quotients of 64-bit integers by two rounded steps and one correction, on magnitudes.

With a reciprocal of the divisor that is never too large, both estimates stay at or below the quotient, so no
remainder wraps: the four roundings of an estimate err by less than 2^-50 together, and the reciprocal is reduced by
that much. The first remainder is below 25601 divisors, the second below two, which leaves one correction. All of this
is proved: proofs/theories/two_step_*.mlw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from vinculum.kernels.jit import inlined
from vinculum.kernels.processor import QUOTIENTS_OF_64_BITS
from vinculum.kernels.wrapping import magnitude

_REDUCED_ONE = 1 - 2.0**-50


@intrinsic
def _nearest_binary64(typing_context: Any, value: Any) -> Any:
    """Convert uint64 to binary64, to nearest, by the one instruction that LLVM vectorises."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.uitofp(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@intrinsic
def _whole_part(typing_context: Any, value: Any) -> Any:
    """Convert binary64 in [0, 2^64) to uint64, toward zero; undefined outside that range."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.fptoui(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@inlined
def two_step_quotient(dividend: np.uint64, divisor: np.uint64, reciprocal: np.float64) -> np.uint64:
    """Divide by estimating twice from below; see the head of this file."""
    first = _whole_part(_nearest_binary64(dividend) * reciprocal)
    remainder = dividend - first * divisor
    second = _whole_part(_nearest_binary64(remainder) * reciprocal)
    remainder -= second * divisor
    return first + second + np.uint64(remainder >= divisor)


@inlined
def processor_quotient(dividend: np.uint64, divisor: np.uint64, reciprocal: np.float64) -> np.uint64:
    """Divide by the processor's own division."""
    return dividend // divisor


unsigned_quotient = two_step_quotient if QUOTIENTS_OF_64_BITS.first else processor_quotient


def quotient_u64(dividend: Any, divisor: Any) -> Any:
    """Divide unsigned integers."""
    return unsigned_quotient(dividend, divisor, _REDUCED_ONE / _nearest_binary64(divisor))


@inlined
def _signed_quotient(dividend: np.int64, divisor: np.int64, reciprocal: np.float64) -> np.int64:
    """Divide the magnitudes, then put the sign on; the magnitude 2^63 wraps to MIN."""
    sign = np.uint64((dividend ^ divisor) >> 63)
    quotient = unsigned_quotient(magnitude(dividend), magnitude(divisor), reciprocal)
    return np.int64((quotient ^ sign) - sign)


def truncating_i64(dividend: Any, divisor: Any) -> Any:
    """Divide signed integers toward zero."""
    return _signed_quotient(dividend, divisor, _REDUCED_ONE / _nearest_binary64(magnitude(divisor)))


@inlined
def _floor_of(truncated: np.int64, dividend: np.int64, divisor: np.int64) -> np.int64:
    """Step down by one where the signs differ and a remainder is left; unsigned, as that arithmetic wraps."""
    exact = np.uint64(truncated) * np.uint64(divisor) == np.uint64(dividend)
    return np.int64(np.uint64(truncated) - np.uint64(((dividend ^ divisor) < 0) & (not exact)))


def floor_i64(dividend: Any, divisor: Any) -> Any:
    """Divide signed integers toward minus infinity."""
    reciprocal = _REDUCED_ONE / _nearest_binary64(magnitude(divisor))
    return _floor_of(_signed_quotient(dividend, divisor, reciprocal), dividend, divisor)
