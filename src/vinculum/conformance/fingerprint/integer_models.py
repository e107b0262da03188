"""Ways in which an integer quotient may be computed: narrowed to int32 or not, by floats or not, and rounded how.

Each is a few operations of NumPy. No divisor may be zero, none may become zero in int32, and no quotient may be
MIN / -1: those are asked apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.kernels.float_environment import ieee_754
from vinculum.spec.element_types import DOUBLE, FLOAT, INT64, UINT32, UINT64, ElementType, Kind
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]


class Narrowing(Enum):
    """What becomes of operands, or of a quotient, that int32 cannot hold."""

    NONE = ""
    WRAPPED = "upper bits dropped"
    SATURATED = "too large ones become MIN or MAX"


class Rounding(Enum):
    """Which integer a quotient becomes."""

    TRUNCATED = "truncated"
    FLOORED = "rounded down"
    TO_EVEN = "rounded to nearest, ties to even"


class Overflow(Enum):
    """What a float becomes that is beyond the integers."""

    MINIMUM = "beyond the range: MIN"
    SATURATED = "beyond the range: MIN or MAX"


@dataclass(frozen=True)
class IntegerModel:
    """One way to compute an integer quotient.

    Attributes
    ----------
    element_type : ElementType
        Of the operands and of the quotient.
    rounding : Rounding
        Which integer the quotient becomes.
    dividend, divisor : Narrowing
        How the operands become int32, if they do.
    as_signed : bool
        Whether the operands of an unsigned type are taken as signed.
    computed_in : ElementType or None
        A floating-point type that takes the place of integer arithmetic.
    reciprocal : bool
        Whether ``1 / b`` is rounded before it is multiplied by ``a``.
    overflow : Overflow
        What a float becomes that is beyond the integers.
    result : Narrowing
        How the quotient becomes int32 on its way, if it does.
    """

    element_type: ElementType
    rounding: Rounding
    dividend: Narrowing = Narrowing.NONE
    divisor: Narrowing = Narrowing.NONE
    as_signed: bool = False
    computed_in: ElementType | None = None
    reciprocal: bool = False
    overflow: Overflow = Overflow.MINIMUM
    result: Narrowing = Narrowing.NONE

    def quotients(self, a: Array, b: Array) -> Array:
        """Return what a runtime would give that computes in this way."""
        a, b = self._operand(a, self.dividend), self._operand(b, self.divisor)
        with ieee_754():
            quotient = self._by_integers(a, b) if self.computed_in is None else self._by_floats(a, b, self.computed_in)
        if self.result is not Narrowing.NONE:
            quotient = narrowed(quotient, self.result)
        return quotient.astype(dtype_of(self.element_type))

    @property
    def statement(self) -> str:
        """How it computes, in words; its rounding aside."""
        operands = "operands taken as signed" if self.as_signed else ""
        narrow = "computed in int32" if self.dividend is not Narrowing.NONE else ""
        if self.computed_in is not None:
            way = f"in {self.computed_in}{', as a * (1/b)' if self.reciprocal else ''}"
            narrow = f"{narrow}, and there {way}" if narrow else f"computed {way}"
        result = "quotients narrowed to int32" if self.result is not Narrowing.NONE else ""
        return "; ".join(part for part in (operands, narrow, result) if part) or "exact"

    @property
    def detail(self) -> str:
        """What becomes of numbers that int32 cannot hold, in words."""
        parts = {"dividends": self.dividend, "divisors": self.divisor, "quotients": self.result}
        return ", ".join(f"{what}: {how.value}" for what, how in parts.items() if how is not Narrowing.NONE)

    @property
    def peculiarities(self) -> int:
        """In how many respects it differs from truncating division."""
        return sum((
            self.rounding is not Rounding.TRUNCATED,
            self.dividend is not Narrowing.NONE,
            self.divisor is not self.dividend,
            self.as_signed,
            self.computed_in is not None,
            self.reciprocal,
            self.overflow is not Overflow.MINIMUM,
            self.result is not Narrowing.NONE,
        ))  # fmt: skip

    def _operand(self, array: Array, narrowing: Narrowing) -> Array:
        if self.as_signed:
            array = array.view(f"i{array.itemsize}")
        return array if narrowing is Narrowing.NONE else narrowed(array, narrowing)

    def _by_integers(self, a: Array, b: Array) -> Array:
        down, remainder = np.divmod(a, b)
        up = down + np.asarray(remainder != 0).astype(down.dtype)
        if self.rounding is Rounding.FLOORED:
            return np.asarray(down)
        if self.rounding is Rounding.TRUNCATED:
            return np.where((a < 0) == (b < 0), down, up)
        # Python's integers hold twice a remainder whatever the type.
        twice = 2 * np.abs(remainder.astype(object)) - np.abs(b.astype(object))
        even = np.where(down % 2 == 0, down, up)
        return np.where(twice > 0, up, np.where(twice < 0, down, even))

    def _by_floats(self, a: Array, b: Array, computed_in: ElementType) -> Array:
        integer = a.dtype
        a, b = a.astype(dtype_of(computed_in)), b.astype(dtype_of(computed_in))
        quotient = a * (np.ones_like(b) / b) if self.reciprocal else a / b
        whole = _whole(quotient, self.rounding)
        limits = np.iinfo(integer)
        # As floats the limits may not be numbers of the format; one above the largest is.
        above = whole >= np.ldexp(whole.dtype.type(1), limits.bits - (limits.min < 0))
        below = whole < limits.min
        inside = np.where(above | below, 0, whole).astype(integer)
        if self.overflow is Overflow.MINIMUM:
            # What x86 processors give: the sign bit alone.
            indefinite = np.array(1 << (limits.bits - 1), f"u{integer.itemsize}").view(integer)
            return np.where(above | below, indefinite, inside)
        return np.where(above, integer.type(limits.max), np.where(below, integer.type(limits.min), inside))


def narrowed(array: Array, narrowing: Narrowing) -> Array:
    """Return an array as int32; numbers that it cannot hold become what the narrowing says."""
    if narrowing is Narrowing.SATURATED:
        limits = np.iinfo(np.int32)
        array = np.minimum(array, array.dtype.type(limits.max))
        if np.iinfo(array.dtype).min < 0:
            array = np.maximum(array, limits.min)
    return array.astype(np.int32)


def _whole(quotient: Array, rounding: Rounding) -> Array:
    rounded = {Rounding.TRUNCATED: np.trunc, Rounding.FLOORED: np.floor, Rounding.TO_EVEN: np.rint}[rounding]
    return np.asarray(rounded(quotient))


@cache
def integer_models(element_type: ElementType) -> tuple[IntegerModel, ...]:
    """Return the models of an element type's quotient, the simplest first."""
    return tuple(sorted(_models(element_type), key=lambda model: model.peculiarities))


_NARROWINGS = (
    (Narrowing.NONE, Narrowing.NONE),
    (Narrowing.WRAPPED, Narrowing.WRAPPED),
    (Narrowing.SATURATED, Narrowing.SATURATED),
    (Narrowing.WRAPPED, Narrowing.SATURATED),
)


def _models(element_type: ElementType) -> Iterator[IntegerModel]:
    narrowings = _NARROWINGS if element_type in (INT64, UINT64, UINT32) else _NARROWINGS[:1]
    signs = (False, True) if element_type.kind is Kind.UNSIGNED else (False,)
    for rounding, (dividend, divisor), as_signed in product(Rounding, narrowings, signs):
        operands = (element_type, rounding, dividend, divisor, as_signed)
        yield IntegerModel(*operands)
        if dividend is Narrowing.NONE and len(narrowings) > 1:
            for result in (Narrowing.WRAPPED, Narrowing.SATURATED):
                yield IntegerModel(*operands, result=result)
        for computed_in, reciprocal, overflow in product((FLOAT, DOUBLE), (False, True), Overflow):
            yield IntegerModel(*operands, computed_in, reciprocal, overflow)
