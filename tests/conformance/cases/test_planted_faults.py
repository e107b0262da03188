"""Faults that are planted in a right divider, each so subtle that only the operands made for it show it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.fake_runtime import Array, FakeRuntime, FloatDivider
from vinculum.conformance.cases.case import Case, Level
from vinculum.conformance.cases.enumeration import cases
from vinculum.conformance.cases.operation import Operation
from vinculum.conformance.oracle.judgement import judge
from vinculum.sandbox import Answer, End
from vinculum.spec.registry import find, find_version

ROWS = (find_version("Div", 6), find("Div"), find("Reciprocal"))
ASKED = ("float", "double", "int32", "int64", "uint32", "uint8", "float16")


@cache
def asked() -> tuple[Case, ...]:
    """Return the cases of some rows and types that have a quotient."""
    return tuple(
        case
        for case in cases(Level.DEFAULT, ROWS)
        if case.element_type.name in ASKED and case.expectation.quotient is not None
    )


def failures(divider: FakeRuntime) -> Iterator[str]:
    """Yield the ids of the cases that a divider, asked in this process, fails."""
    with np.errstate(all="ignore"):
        for case in asked():
            answer = Answer(End.RETURNED, divider.answer(case.operation))
            if not judge(case.operation, case.expectation, answer).kind.passes:
                yield str(case.id)


class RoundsTiesAwayFromZero(FloatDivider):
    """It is wrong with exact ties alone, of which only subnormal quotients have any."""

    def floats(self, a: Array, b: Array) -> Any:
        wide, quotients = a.astype(np.float64) / b.astype(np.float64), np.asarray(a / b)
        away = np.nextafter(quotients, np.copysign(np.float32(np.inf), quotients))
        tie = 2 * wide == quotients.astype(np.float64) + away.astype(np.float64)
        return np.where(tie, away, quotients)


class RoundsTwice(FloatDivider):
    """It rounds to 36 bits first, which is fewer than the 48 from which on that does no harm."""

    def floats(self, a: Array, b: Array) -> Any:
        wide = a.astype(np.float64) / b.astype(np.float64)
        first = wide * (2.0**17 + 1)
        rounded = first - (first - wide)
        return np.where(np.isfinite(rounded), rounded, wide).astype(np.float32)


class MultipliesInDouble(FloatDivider):
    """It multiplies by a reciprocal that has 29 bits more than it needs."""

    def floats(self, a: Array, b: Array) -> Any:
        quotients = (a.astype(np.float64) * (1 / b.astype(np.float64))).astype(np.float32)
        return np.where(np.isnan(quotients), a / b, quotients)


class CutsSubnormals(FloatDivider):
    """It drops what a subnormal quotient has no room for."""

    def floats(self, a: Array, b: Array) -> Any:
        wide, quotients = a.astype(np.float64) / b.astype(np.float64), np.asarray(a / b)
        too_far = (np.abs(quotients.astype(np.float64)) > np.abs(wide)) & (np.abs(quotients) < np.float32(2**-126))
        return np.where(too_far, np.nextafter(quotients, np.float32(0)), quotients)


class SaturatesNextToOverflow(FloatDivider):
    """The first quotients that are too large become the largest number."""

    def floats(self, a: Array, b: Array) -> Any:
        wide, quotients = a.astype(np.float64) / b.astype(np.float64), np.asarray(a / b)
        nearly = np.isinf(quotients) & (np.abs(wide) < 2.0**128 * (1 + 2.0**-20))
        return np.where(nearly, np.copysign(np.finfo(np.float32).max, quotients), quotients)


class LosesTheSignOfTheZeroDivisor(FloatDivider):
    """It divides by 0.0 where it ought to divide by -0.0."""

    def floats(self, a: Array, b: Array) -> Any:
        return a / np.where(b == 0, np.float32(0), b)


class FoldsItselfToOne(FakeRuntime):
    """What is divided by itself is 1 to it, if both are constants."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        alike = all(operation.constant) and a.dtype.kind == "f" and a.tobytes() == b.tobytes()
        return np.ones_like(a) if alike and a.size > 1 else super().quotients(operation, a, b)


class InvertsConstantScalars(FakeRuntime):
    """It replaces a constant scalar divisor by its reciprocal."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype == np.float64 and operation.constant == (False, True) and operation.operands[1].ndim == 0:
            return a * (1 / b)
        return super().quotients(operation, a, b)


class InvertsByExponentials(FakeRuntime):
    """Its reciprocal is exp(-log x) in a longer format."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        right = np.asarray(super().quotients(operation, a, b))
        if operation.spec.name != "Reciprocal" or b.dtype != np.float32:
            return right
        wide = np.copysign(np.exp(-np.log(np.abs(b.astype(np.float64)))), b).astype(np.float32)
        return np.where(np.isfinite(right) & (right != 0), wide, right)


class ForgetsTheLastOf15(FakeRuntime):
    """Where 15 elements remain beside vectors of 16 the last of them is not computed."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        if a.dtype == np.float64 and a.size % 16 == 15:
            quotients.flat[-1] = 0
        return quotients


class RepeatsTheFirstThread(FakeRuntime):
    """What is beyond 65536 elements is what is at the beginning."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.array(super().quotients(operation, a, b))
        quotients.flat[1 << 16 :] = quotients.flat[: max(quotients.size - (1 << 16), 0)]
        return quotients


class IsWrongWithScalars(FakeRuntime):
    """It is wrong if there is no dimension at all."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.asarray(super().quotients(operation, a, b))
        return np.asarray(-quotients) if quotients.dtype == np.float64 and not quotients.ndim else quotients


class IsWrongBeyondRank5(FakeRuntime):
    """It loses a stretched dimension of six."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.asarray(super().quotients(operation, a, b))
        stretched = any(operand.shape != quotients.shape for operand in operation.operands)
        return -quotients if a.dtype == np.int64 and a.ndim > 5 and stretched else quotients


class LosesTheMiddle(FakeRuntime):
    """It is wrong if a dimension of 1 is stretched that has others on either side."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.asarray(super().quotients(operation, a, b))
        shape = operation.operands[-1].shape
        middle = len(shape) > 2 and 1 in shape[1:-1] and shape[0] > 1 and shape[-1] > 1
        return -quotients if a.dtype == np.int64 and middle and shape != quotients.shape else quotients


class DropsAxisOfSquares(FakeRuntime):
    """It passes over axis where two dimensions are equal, so that nothing is refused."""

    def axis(self, operation: Operation) -> int | None:
        shape = operation.operands[0].shape
        return None if len(set(shape)) < len(shape) else super().axis(operation)


class DividesInDouble(FakeRuntime):
    """It divides 64-bit integers as doubles, if one scalar divides them all."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.asarray(super().quotients(operation, a, b))
        if a.dtype != np.int64 or operation.operands[1].ndim or not a.size or not b.flat[0]:
            return quotients
        with np.errstate(all="ignore"):
            return np.trunc(a / b).clip(-(2.0**63), np.nextafter(2.0**63, 0)).astype(np.int64)


class MultipliesInFixedPoint(FakeRuntime):
    """A constant scalar divisor becomes a factor of 32 bits, where 33 are needed."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        divisor = operation.operands[-1]
        if a.dtype != np.uint32 or operation.constant != (False, True) or divisor.ndim or divisor & (divisor - 1) == 0:
            return super().quotients(operation, a, b)
        factor = np.uint64((1 << 32) // int(divisor) + 1)
        return (a.astype(np.uint64) * factor >> np.uint64(32)).astype(np.uint32)


class TakesTheDivisorAsSigned(FakeRuntime):
    """It is wrong with unsigned divisors whose top bit is set, and smaller dividends."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.asarray(super().quotients(operation, a, b))
        return np.where((b >= 1 << 31) & (a < b), np.uint32(1), quotients) if a.dtype == np.uint32 else quotients


class IsShortOfMultiples(FakeRuntime):
    """The quotient of a multiple of the divisor is one too small."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.asarray(super().quotients(operation, a, b))
        if a.dtype != np.int64:
            return quotients
        return np.where((np.abs(quotients) > 1 << 40) & (b != 0) & (a == b * quotients), quotients - 1, quotients)


class NegatesMinimum(FakeRuntime):
    """The smallest integer divided by 1 is the largest."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        quotients = np.asarray(super().quotients(operation, a, b))
        if a.dtype != np.int64:
            return quotients
        limits = np.iinfo(np.int64)
        return np.where((a == limits.min) & (b == 1), limits.max, quotients)


class NegatesByShifting(FakeRuntime):
    """A scalar power of two divides by a shift, which rounds negative numbers downward."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        divisor = operation.operands[-1]
        if a.dtype == np.int32 and not divisor.ndim and divisor > 1 and divisor & (divisor - 1) == 0:
            return a >> int(divisor).bit_length() - 1
        return super().quotients(operation, a, b)


FAULTS: dict[type[FakeRuntime], str] = {
    RoundsTiesAwayFromZero: "Div-14/float/subnormal quotients at and next to ties/*",
    RoundsTwice: "Div-14/float/quotients hard to round/*/run-time operands",
    MultipliesInDouble: "Div-14/float/subnormal quotients at and next to ties/*",
    CutsSubnormals: "Div-14/float/quotients next to underflow/*",
    SaturatesNextToOverflow: "Div-14/float/quotients next to overflow/*",
    LosesTheSignOfTheZeroDivisor: "Div-14/float/zeros, infinities and NaN/*",
    FoldsItselfToOne: "Div-14/*/zeros, infinities and NaN divided by themselves/*/constant operands",
    InvertsConstantScalars: "Div-14/double/ordinary numbers divided by 3/*/constant divisor",
    InvertsByExponentials: "Reciprocal-13/float/reciprocals hard to round/*",
    ForgetsTheLastOf15: "Div-14/double/numbers in sequence/equal shapes of 15 elements/*",
    RepeatsTheFirstThread: "Div-14/int32/numbers in sequence/equal shapes of 70001 elements/*",
    IsWrongWithScalars: "Div-14/double/distinct numbers/a scalar by a scalar/*",
    IsWrongBeyondRank5: "Div-14/int64/distinct numbers/(3, 1, 3, 1, 3, 1) by (1, 3, 1, 3, 1, 3)/*",
    LosesTheMiddle: "Div-14/int64/distinct numbers/(1, 3, 1) by (3, 1, 3)/*",
    DropsAxisOfSquares: "Div-6/*/distinct numbers/(3, 3) by (3,), broadcast=1, axis=0/*",
    DividesInDouble: "Div-14/int64/large numbers divided by 7/*",
    MultipliesInFixedPoint: "Div-14/uint32/large numbers divided by 7/*/constant divisor",
    TakesTheDivisorAsSigned: "Div-14/uint32/numbers at the edges of the type/*",
    IsShortOfMultiples: "Div-14/int64/multiples of the divisor/*",
    NegatesMinimum: "Div-14/int64/numbers at the edges of the type/*",
    NegatesByShifting: "Div-14/int32/ordinary numbers divided by 4/*",
}


class TestFaults:
    """Every one is seen, by the cases that are after it."""

    @pytest.mark.parametrize("divider", FAULTS)
    def test_it_is_seen(self, divider: type[FakeRuntime]) -> None:
        seen = set(failures(divider()))
        aimed = {str(case.id) for case in asked() if case.id.matches(FAULTS[divider])}
        assert aimed
        assert aimed <= seen
        assert len(seen) < len(asked()) / 4


class ComputesFloat16InFloat(FakeRuntime):
    """It rounds twice: 24 bits are at least 2 x 11, the number from which on a quotient is right all the same."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.float16:
            return super().quotients(operation, a, b)
        return (a.astype(np.float32) / b.astype(np.float32)).astype(np.float16)


class ComputesUint8InBfloat16(FakeRuntime):
    """Quotients of 8-bit integers are far enough from the next integer for 8 bits."""

    def quotients(self, operation: Operation, a: Array, b: Array) -> Any:
        if a.dtype != np.uint8 or not b.all():
            return super().quotients(operation, a, b)
        quotients = a.astype(ml_dtypes.bfloat16) / b.astype(ml_dtypes.bfloat16)
        return quotients.astype(np.uint8)


class TestNoFaults:
    """What must make no difference makes none, however it looks."""

    @pytest.mark.parametrize("divider", [FakeRuntime, ComputesFloat16InFloat, ComputesUint8InBfloat16])
    def test_nothing_is_seen(self, divider: type[FakeRuntime]) -> None:
        assert list(failures(divider())) == []
