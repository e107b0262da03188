"""Ways to compute a quotient: their stages, their notation, and the quotients that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.arithmetic.stages import (
    STORED,
    Conversion,
    Flush,
    Inverse,
    Narrowing,
    Rounding,
    Saturation,
    Width,
    as_signed,
    converted,
    flushed,
    integer_quotient,
    narrowed,
    of_four_bits,
    operated,
    saturated,
    to_32_bits,
    to_integer,
    to_minus_one,
    whole,
)
from vinculum.kernels.float_environment import ieee_754
from vinculum.spec.element_types import FLOAT, ElementType, Kind
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]
Run = Callable[..., Array]
"""Calls a stage with arguments."""

_ASKED = {IntegerRounding.TRUNCATING: Rounding.TRUNCATED, IntegerRounding.FLOOR: Rounding.FLOORED}


class Shared:
    """Runs the stages that many ways to divide share, each stage once per set of arguments.

    Results with equal bits are the same array, so that later stages on them are shared, too.
    """

    def __init__(self) -> None:
        self._results: dict[tuple[int, ...], tuple[Array, tuple[object, ...]]] = {}  # Keeps arguments alive for ids.
        self._arrays: dict[tuple[np.dtype[Any], bytes], Array] = {}

    def __call__(self, stage: Run, *arguments: object) -> Array:
        """Return the result of a stage; arguments are compared by identity, so they must be shared objects."""
        key = (id(stage), *map(id, arguments))
        if key not in self._results:
            result = stage(*arguments)
            result = self._arrays.setdefault((result.dtype, result.tobytes()), result)
            self._results[key] = result, (stage, *arguments)
        return self._results[key][0]


def _alone(stage: Run, *arguments: object) -> Array:
    return stage(*arguments)


@dataclass(frozen=True)
class FloatDivision:
    """One way to compute a float quotient.

    - `element_type`: The element type of the operands and of the quotient.
    - `computed_in`: The format of the arithmetic, to which the operands are rounded.
    - `reciprocal`: How ``1 / b`` is rounded before the multiplication by ``a``, if there is one.
    - `dividend`, `divisor`, `inverse`, `quotient`: How numbers are flushed that are subnormal in the element type or in
      the format of the arithmetic.
    - `narrowing`: The conversion from the format of the arithmetic to the element type.
    - `saturation`: Whether numbers too large for a narrower format become its largest number instead of an infinity.
    """

    element_type: ElementType
    computed_in: ElementType
    reciprocal: Inverse = Inverse.NO
    dividend: Flush = Flush.NO
    divisor: Flush = Flush.NO
    inverse: Flush = Flush.NO
    quotient: Flush = Flush.NO
    narrowing: Narrowing = Narrowing.ROUNDED
    saturation: Saturation = Saturation.NO

    def quotients(
        self, a: Array, b: Array, asked: IntegerRounding | None = None, shared: Shared | None = None
    ) -> Array:
        """Return the quotients of a runtime that computes in this way.

        The rounding is for integers only; `shared` runs the stages that ways to divide the operands have in common.
        """
        del asked
        run, own, wide = shared or _alone, dtype_of(self.element_type), dtype_of(self.computed_in)
        saturates = self.saturation in (Saturation.OPERANDS, Saturation.ALL)
        with ieee_754():
            a, b = run(_taken, a, self.dividend, wide, saturates), run(_taken, b, self.divisor, wide, saturates)
            if self.reciprocal is not Inverse.NO:
                b = run(_inverted, b, self.reciprocal, self.inverse, own)
                if self.saturation is Saturation.INVERSES:
                    b = run(saturated, b)
            operation = np.divide if self.reciprocal is Inverse.NO else np.multiply
            if self.quotient is Flush.UNROUNDED:
                result = run(operated, operation, a, b, self.quotient)
            else:
                result = run(flushed, run(operation, a, b), self.quotient)
            if self.computed_in is self.element_type:
                return result
            return run(_given, result, self.quotient, own, self.narrowing, self.saturation)

    @cached_property
    def form(self) -> str:
        """The notation: ``"flush(a) * (1/b) computed in float32"``."""
        a, b = self.dividend.of("a"), self.divisor.of("b")
        inverse = self.reciprocal.notation.format(b=b)
        inverse = f"({inverse})" if inverse.startswith("1") and self.inverse is Flush.NO else self.inverse.of(inverse)
        expression = self.quotient.of(f"{a} * {inverse}" if self.reciprocal is not Inverse.NO else f"{a} / {b}")
        if self.computed_in is not self.element_type:
            expression += f" computed in {self.computed_in.numpy}"
        return ", ".join(part for part in (expression, self.saturation.notation, self.narrowing.notation) if part)

    @property
    def statement(self) -> str:
        """How the quotient is computed, and how subnormal and too large numbers are treated, in words."""
        flushes = [("dividends count as", self.dividend), ("divisors count as", self.divisor)]
        if self.dividend is self.divisor:
            flushes = [("operands count as", self.dividend)]
        flushes += [("reciprocals become", self.inverse), ("quotients become", self.quotient)]
        parts = [self._computed, self.reciprocal.words]
        parts += [how.words.format(*words.split(maxsplit=1)) for words, how in flushes]
        if what := self.saturation.words:
            parts.append(f"{what} beyond the range of {self.computed_in}, and infinities, become its largest number")
        return "; ".join(part for part in parts if part)

    @property
    def _computed(self) -> str:
        if self.computed_in is self.element_type and self.reciprocal is Inverse.NO:
            return f"{'flushes subnormal numbers to zero, else ' if self._flushes else ''}correctly rounded"
        flushes = "with subnormal numbers flushed to zero" if self._flushes else ""
        where = f" in {self.computed_in}" if self.computed_in is not self.element_type else ""
        way = " as a * (1/b), a multiplication by the reciprocal" if self.reciprocal is not Inverse.NO else ""
        if self.element_type is FLOAT and self.narrowing is Narrowing.CUT and not way:
            where = ""  # A quotient of doubles that is cut off is the exact one cut off, however it was computed.
        parts = (f"computed{where}{way}" if where or way else "", self.narrowing.words, flushes)
        return ", ".join(part for part in parts if part).removeprefix("then ")

    @property
    def complexity(self) -> tuple[int, ...]:
        """The number of differences from a correctly rounded division, the more important kinds first."""
        rare = sum(how in (Flush.POSITIVE, Flush.UNROUNDED) for how in self._flushes)
        return (
            (self.computed_in is not self.element_type)
            + (self.reciprocal is not Inverse.NO)
            + bool(self.reciprocal.words)
            + bool(self._flushes)
            + (self.narrowing is not Narrowing.ROUNDED)
            + (self.saturation is not Saturation.NO),
            len(set(self._flushes)) + rare,
            len(self._flushes),
        )

    @property
    def _flushes(self) -> tuple[Flush, ...]:
        """The flushes of all numbers that are flushed."""
        flushes = (self.dividend, self.divisor, self.inverse, self.quotient)
        return tuple(how for how in flushes if how is not Flush.NO)


def _taken(operand: Array, flush: Flush, dtype: np.dtype[Any], saturates: bool) -> Array:
    """Return operands in the format of the arithmetic, flushed and saturated."""
    operand = flushed(operand, flush)
    if operand.dtype == dtype:
        return operand
    operand = operand.astype(dtype)
    return flushed(saturated(operand) if saturates else operand, flush)


def _inverted(b: Array, reciprocal: Inverse, flush: Flush, stored: np.dtype[Any]) -> Array:
    if reciprocal is Inverse.POWER:
        return flushed(to_minus_one(b), flush)
    inverse, narrowing = operated(np.divide, np.ones_like(b), b, flush), STORED.get(reciprocal)
    if narrowing is None:
        return inverse
    return flushed(narrowed(inverse, stored, narrowing), flush).astype(inverse.dtype)


def _given(result: Array, flush: Flush, dtype: np.dtype[Any], narrowing: Narrowing, saturation: Saturation) -> Array:
    """Return a computed result as a quotient of the element type."""
    if saturation is Saturation.ALL:
        result = saturated(result)
    return flushed(narrowed(result, dtype, narrowing), Flush.SIGNED if flush is Flush.UNROUNDED else flush)


@dataclass(frozen=True)
class IntegerDivision:
    """One way to compute an integer quotient.

    Integer division by zero, for instance after the upper bits of a divisor are dropped, gives 0.

    - `element_type`: The element type of the operands and of the quotient.
    - `rounding`: How the quotient is rounded to an integer.
    - `dividend`, `divisor`: How the operands are narrowed to int32, if they are.
    - `as_signed`: Whether the operands of an unsigned type are interpreted as signed.
    - `computed_in`: A floating-point type used instead of integer arithmetic.
    - `reciprocal`: Whether ``1 / b`` is rounded and then multiplied by ``a``.
    - `conversion`: What a float outside the integer range becomes.
    - `result`: How the quotient is narrowed to int32, if it is.
    """

    element_type: ElementType
    rounding: Rounding = Rounding.AS_ASKED
    dividend: Width = Width.OWN
    divisor: Width = Width.OWN
    as_signed: bool = False
    computed_in: ElementType | None = None
    reciprocal: bool = False
    conversion: Conversion = Conversion.INDEFINITE
    result: Width = Width.OWN

    def quotients(
        self, a: Array, b: Array, asked: IntegerRounding = IntegerRounding.TRUNCATING, shared: Shared | None = None
    ) -> Array:
        """Return the quotients of a runtime that computes in this way, if it is asked for a rounding."""
        run = shared or _alone
        rounding = _ASKED[asked] if self.rounding is Rounding.AS_ASKED else self.rounding
        a, b = self._operand(run, a, self.dividend), self._operand(run, b, self.divisor)
        with ieee_754():
            if self.computed_in is None:
                quotient = run(integer_quotient, a, b, rounding)
            else:
                own, dtype = a.dtype, dtype_of(self.computed_in)
                a, b = run(converted, a, dtype), run(converted, b, dtype)
                if self.reciprocal:
                    exact = run(np.multiply, a, run(np.divide, run(np.ones_like, b), b))
                else:
                    exact = run(np.divide, a, b)
                quotient = run(to_integer, run(whole, exact, b, rounding), own, self.conversion)
        return run(converted, run(to_32_bits, quotient, self.result), dtype_of(self.element_type))

    def _operand(self, run: Run, array: Array, width: Width) -> Array:
        signed = self.as_signed or self.element_type.kind is Kind.SIGNED
        if self.element_type.bits < 8:
            return run(of_four_bits, array, signed)
        return run(to_32_bits, run(as_signed, array) if signed else array, width)

    @cached_property
    def form(self) -> str:
        """The notation: ``"trunc(int32(a) / int32(b)) computed in float32"``."""
        a, b = (
            width.of(f"signed({x})" if self.as_signed else x)
            for x, width in (("a", self.dividend), ("b", self.divisor))
        )
        expression = self.result.of(self.rounding.of(f"{a} * (1/{b})" if self.reciprocal else f"{a} / {b}"))
        if self.computed_in is not None:
            expression += f" computed in {self.computed_in.numpy}"
        return ", ".join(part for part in (expression, self.conversion.notation) if part)

    @property
    def statement(self) -> str:
        """How the quotient is computed, and how numbers outside the range of int32 are treated, in words."""
        operands = "operands taken as signed" if self.as_signed else ""
        narrow = "computed in int32" if self.dividend is not Width.OWN else ""
        if self.computed_in is not None:
            way = f"computed in {self.computed_in}{' as a * (1/b)' if self.reciprocal else ''}"
            narrow = f"operands narrowed to int32, {way}" if narrow else way
        result = "quotients narrowed to int32" if self.result is not Width.OWN else ""
        ways = "; ".join(part for part in (operands, narrow, result) if part)
        computed = ", ".join(part for part in (ways, self.rounding.words) if part) or "exact"
        narrowed = {"dividends": self.dividend, "divisors": self.divisor, "quotients": self.result}
        detail = ", ".join(f"{what}: {how.words}" for what, how in narrowed.items() if how is not Width.OWN)
        return f"{computed}; {detail}" if detail else computed

    @property
    def complexity(self) -> tuple[int, ...]:
        """The number of differences from the division that the operation requires."""
        usual = IntegerDivision(self.element_type, divisor=self.dividend)  # Operands narrowed alike differ once.
        return (sum(getattr(self, field.name) != getattr(usual, field.name) for field in fields(self)),)


Division = FloatDivision | IntegerDivision
