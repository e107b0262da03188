"""Floating-point quotients, IEEE 754 division rounded once with ties to even."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from vinculum.kernels.binary_formats import (
    bfloat16_of_binary32,
    binary16_of_binary32,
    binary32_of_bfloat16,
    binary32_of_binary16,
)
from vinculum.kernels.jit import inlined

Float = TypeVar("Float", np.float32, np.float64)


@inlined
def ieee_quotient(dividend: Float, divisor: Float) -> Float:
    """Divide binary32 or binary64 by the processor's own division, never by a reciprocal."""
    return dividend / divisor


@inlined
def binary16_quotient(dividend: np.uint16, divisor: np.uint16) -> np.uint16:
    """Divide encodings of binary16 through binary32.

    Rounding to 24 bits first is harmless, as 24 >= 2*11 + 2: proofs/theories/double_rounding.mlw proves it, and every
    pair has been enumerated.
    """
    quotient = np.float32(binary32_of_binary16(dividend) / binary32_of_binary16(divisor))
    # The choice keeps LLVM from narrowing the division to the processor's half-precision one: as exact, but slower.
    return binary16_of_binary32(quotient) if quotient == quotient else np.uint16(0x7E00)


@inlined
def bfloat16_quotient(dividend: np.uint16, divisor: np.uint16) -> np.uint16:
    """Divide encodings of bfloat16 through binary32: proved and enumerated likewise, as 24 >= 2*8 + 2."""
    return bfloat16_of_binary32(np.float32(binary32_of_bfloat16(dividend) / binary32_of_bfloat16(divisor)))


class ByReciprocal(NamedTuple):
    """How encodings of 16 bits are divided by one divisor, by the rounded reciprocal of its value in binary32.

    Two roundings to binary32 move a quotient by little more than 2^-23 of itself. If its result is normal, it is never
    halfway between two results of p bits, but at least 1 / ((2^(p+1) - 1) (2^p - 1)) of itself away from there, which
    is more. Every pair has been enumerated.

    Attributes
    ----------
    widen : function of an encoding
        Its value in binary32.
    narrow : function of a value in binary32
        The encoding of the nearest value, ties to even.
    smallest_divisor : int
        The encoding of the smallest magnitude whose reciprocal is right in binary32, as that of zero is: infinite.
    smallest_normal : float
        Quotients below are rounded to fewer bits, and may be halfway.
    """

    widen: Callable[..., Any]
    narrow: Callable[..., Any]
    smallest_divisor: int
    smallest_normal: float


BINARY16_BY = ByReciprocal(binary32_of_binary16, binary16_of_binary32, 0x0000, 2.0**-14)
BFLOAT16_BY = ByReciprocal(binary32_of_bfloat16, bfloat16_of_binary32, 0x0080, 2.0**-126)
