"""Runtimes in miniature that compute in ways which the other miniatures do not: for the tests of the fingerprint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.conformance.miniatures import Divider, FloatDivider
from vinculum.conformance.cases.operation import Operation

Array = NDArray[Any]


class InvertsOneDivisor(Divider):
    """It multiplies 32-bit floats by the reciprocal of a divisor that is one number."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.float32 and operation.operands[-1].ndim == 0:
            return a * (np.float32(1) / b)
        return super().quotients(operation, a, b)


class FlushesByOneDivisor(Divider):
    """It takes subnormal dividends for zero where a divisor is one number of 32 bits."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.float32 and operation.operands[-1].ndim == 0:
            a = np.where(np.abs(a) < np.finfo(np.float32).smallest_normal, np.copysign(np.float32(0), a), a)
        return super().quotients(operation, a, b)


class ComputesFloatInFloat16(FloatDivider):
    """It divides 32-bit floats as 16-bit ones."""

    def floats(self, a: Array, b: Array) -> Any:
        return (a.astype(np.float16) / b.astype(np.float16)).astype(np.float32)


class IsOffByAnUlp(FloatDivider):
    """Every second quotient is off, in a way that no model has."""

    def floats(self, a: Array, b: Array) -> Any:
        quotients = np.asarray(a / b).copy()
        quotients[::2] = np.nextafter(quotients[::2], np.float32(np.inf))
        return quotients


class IsOddAtZero(FloatDivider):
    """Numbers divided by zero give 1."""

    def floats(self, a: Array, b: Array) -> Any:
        return np.where(b == 0, np.float32(1), a / b)


class CutsBfloat16(Divider):
    """It drops the lower half of a quotient of float."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype.name != "bfloat16":
            return super().quotients(operation, a, b)
        bits = (a.astype(np.float32) / b.astype(np.float32)).view(np.uint32)
        return (bits >> 16).astype(np.uint16).view(a.dtype)


class SaturatesInt64(Divider):
    """It divides 64-bit integers as 32-bit ones, the larger ones as the largest."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int64:
            return super().quotients(operation, a, b)
        limits = np.iinfo(np.int32)
        a, b = (np.clip(operand, limits.min, limits.max).astype(np.int32) for operand in (a, b))
        return super().quotients(operation, a, b).astype(np.int64)


class ComputesInt64InDouble(Divider):
    """It divides 64-bit integers as doubles."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int64:
            return super().quotients(operation, a, b)
        whole = np.trunc(a.astype(np.float64) / b.astype(np.float64))
        large = (whole >= 2.0**63) | (whole < -(2.0**63))
        return np.where(large, np.iinfo(np.int64).min, np.where(large, 0, whole).astype(np.int64))


class TakesUnsignedAsSigned(Divider):
    """It divides unsigned integers as if they were signed."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype.kind != "u":
            return super().quotients(operation, a, b)
        a, b = (operand.view(f"i{operand.itemsize}") for operand in (a, b))
        return super().quotients(operation, a, b).astype(f"u{a.dtype.itemsize}")


class RoundsIntegersToNearest(Divider):
    """It rounds 8-bit quotients to the nearest integer."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.int8:
            return super().quotients(operation, a, b)
        return np.clip(np.rint(a.astype(np.float64) / b.astype(np.float64)), -128, 127).astype(np.int8)


class IsOddWithIntegers(Divider):
    """It gives one less for every large 32-bit quotient."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        return np.where(quotients > 1000, quotients - 1, quotients) if a.dtype == np.int32 else quotients


class FoldsOtherwise(Divider):
    """It multiplies by the reciprocal where both operands are constants, and where the divisor is."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.float32 and operation.constant[-1]:
            return a * (np.float32(1) / b)
        return super().quotients(operation, a, b)


class IgnoresFloor(Divider):
    """It truncates at run time, and takes notice of the attribute when it folds."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if not all(operation.constant):
            operation = Operation(operation.spec, {"m_pythondiv": False}, operation.operands, operation.constant)
        return super().quotients(operation, a, b)


class Saturates(Divider):
    """MIN / -1 is MAX, and x / 0 is MIN or MAX."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = super().quotients(operation, a, b)
        if a.dtype.kind not in "iu":
            return quotients
        limits = np.iinfo(a.dtype)
        least, most = (np.full_like(a, limit) for limit in (limits.min, limits.max))
        if limits.min:
            quotients = np.where((a == least) & (b == -1), most, quotients)
        by_sign = np.where(a > 0, most, np.where(a < 0, least, np.zeros_like(a)))
        return np.where(b == 0, by_sign, quotients)


class IsNoisy(Divider):
    """About one quotient in a hundred is one encoding too large; which ones depends on the seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        bits = quotients.view(f"u{quotients.itemsize}")
        bits[self._random.random(bits.shape) < 0.01] += bits.dtype.type(1)
        return quotients


class MixesFaults(FloatDivider):
    """One known way of computing, and another for some of the operands: both are drawn by the seed."""

    def __init__(self, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        ways: dict[str, Callable[[Array, Array], Array]] = {
            "exact": lambda a, b: a / b,
            "reciprocal": lambda a, b: a * (np.float32(1) / b),
            "in float16": lambda a, b: (a.astype(np.float16) / b.astype(np.float16)).astype(np.float32),
            "one too large": lambda a, b: np.nextafter(a / b, np.float32(np.inf)),
            "one too small": lambda a, b: np.nextafter(a / b, np.float32(0)),
            "negative zero lost": lambda a, b: a / b + np.float32(0),
        }
        places: dict[str, Callable[[Array, Array], Array]] = {
            "small divisors": lambda a, b: np.abs(b) < 1e-20,
            "large dividends": lambda a, b: np.abs(a) > 1e20,
            "between 1 and 2": lambda a, b: (np.abs(a / b) > 1) & (np.abs(a / b) < 2),
            "negative dividends": lambda a, b: np.signbit(a),
            "every third": lambda a, b: np.arange(a.size).reshape(a.shape) % 3 == 0,
        }
        usual = str(random.choice(["exact", "reciprocal"]))
        other = str(random.choice([name for name in ways if name not in (usual, "exact")]))
        place = str(random.choice(list(places)))
        self.faults = f"{usual}, but {other} for {place}"
        self._usual, self._other, self._place = ways[usual], ways[other], places[place]

    def floats(self, a: Array, b: Array) -> Any:
        quotients: Array = np.where(self._place(a, b), self._other(a, b), self._usual(a, b))
        return quotients.astype(np.float32)
