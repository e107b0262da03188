"""Encodings of binary16 and bfloat16 to binary32 and back, one rounding, ties to even."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from vinculum.kernels.jit import inlined
from vinculum.kernels.processor import CONVERSIONS_OF_BINARY16


@inlined
def binary32_of_bfloat16(encoding: np.uint16) -> np.float32:
    """Widen exactly: bfloat16 is the upper half of binary32."""
    return np.uint32(np.uint32(encoding) << np.uint32(16)).view(np.float32)


@inlined
def bfloat16_of_binary32(value: np.float32) -> np.uint16:
    """Round to bfloat16, ties to even; NaN becomes the quiet NaN 0x7fc0."""
    encoding = np.float32(value).view(np.uint32)
    lowest_kept = (encoding >> np.uint32(16)) & np.uint32(1)
    rounded = np.uint32(encoding + np.uint32(0x7FFF) + lowest_kept) >> np.uint32(16)
    return np.uint16(rounded) if value == value else np.uint16(0x7FC0)


@intrinsic
def _widen_in_hardware(typing_context: Any, encoding: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())

    return types.float32(types.uint16), generate


@intrinsic
def _round_in_hardware(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16))

    return types.uint16(types.float32), generate


@inlined
def widen_by_integers(encoding: np.uint16) -> np.float32:
    """Widen binary16 exactly without the processor's conversion."""
    magnitude = np.uint32(encoding & np.uint16(0x7FFF))
    sign = np.uint32(np.uint32(encoding & np.uint16(0x8000)) << np.uint32(16))
    if magnitude >= np.uint32(0x7C00):  # infinity and NaN keep their fraction
        return np.uint32(sign | np.uint32(0x7F800000) | np.uint32(magnitude << np.uint32(13))).view(np.float32)
    if magnitude >= np.uint32(0x0400):
        return np.uint32(sign | np.uint32((magnitude << np.uint32(13)) + np.uint32(112 << 23))).view(np.float32)
    subnormal = np.float32(np.float32(magnitude) * np.float32(2.0**-24))
    return np.uint32(sign | subnormal.view(np.uint32)).view(np.float32)


@inlined
def round_by_integers(value: np.float32) -> np.uint16:
    """Round to binary16, ties to even, without the processor's conversion; NaN becomes 0x7e00."""
    encoding = np.float32(value).view(np.uint32)
    sign = np.uint16((encoding >> np.uint32(16)) & np.uint32(0x8000))
    magnitude = np.uint32(encoding & np.uint32(0x7FFFFFFF))
    if magnitude > np.uint32(0x7F800000):
        return np.uint16(0x7E00)
    if magnitude >= np.uint32(0x477FF000):  # 65520 and above round to infinity
        return np.uint16(sign | np.uint16(0x7C00))
    if magnitude >= np.uint32(0x38800000):  # 2^-14: normal numbers
        lowest_kept = (magnitude >> np.uint32(13)) & np.uint32(1)
        rounded = np.uint32(magnitude + np.uint32(0xFFF) + lowest_kept) >> np.uint32(13)
        return np.uint16(sign | np.uint16(rounded - np.uint32(112 << 10)))
    # Adding 1/2 lets the processor round at 2^-24, the spacing of binary16's subnormal numbers.
    shifted = np.float32(magnitude.view(np.float32) + np.float32(0.5))
    return np.uint16(sign | np.uint16(shifted.view(np.uint32) - np.uint32(0x3F000000)))


binary32_of_binary16, binary16_of_binary32 = (
    (_widen_in_hardware, _round_in_hardware)
    if CONVERSIONS_OF_BINARY16.first
    else (widen_by_integers, round_by_integers)
)
