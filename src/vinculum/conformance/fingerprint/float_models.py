"""Ways in which a float quotient may be computed: in which format, by a reciprocal or not, with subnormals or not.

Each is a few operations of NumPy and ml_dtypes, every one correctly rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, ElementType
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]


class Flushing(Enum):
    """Which subnormal numbers become zero."""

    NONE = ""
    OPERANDS = "subnormal operands count as zero"
    RESULTS = "subnormal results become zero"
    BOTH = "subnormal operands count as zero and subnormal results become zero"
    QUOTIENTS = "subnormal quotients become zero"
    POSITIVE = "subnormal quotients and -0 become +0"
    DIVISORS = "subnormal divisors and -0 count as +0"


class Conversion(Enum):
    """How a quotient of float becomes one of bfloat16 or float16."""

    ROUNDED = ""
    CUT = "then cut off instead of rounded"
    ODD = "then rounded only if its last bit is 1, and else cut off"


class Saturation(Enum):
    """Whether numbers too large for a narrower format become its largest number, as infinities then do."""

    NONE = ""
    OPERANDS = "infinities and numbers too large for it taken as its largest"
    QUOTIENTS = "infinities and numbers too large for it taken as its largest, in operands and quotients"


@dataclass(frozen=True)
class FloatModel:
    """One way to compute a float quotient.

    Attributes
    ----------
    element_type : ElementType
        Of the operands and of the quotient.
    computed_in : ElementType
        In which the operations are done; operands are rounded to it if it is narrower.
    reciprocal : bool
        Whether ``1 / b`` is rounded before it is multiplied by ``a``.
    flushing : Flushing
        Which subnormal numbers become zero: of every operation, or only of the first operands or the last result.
    conversion : Conversion
        From a wider format into the element type.
    saturation : Saturation
        Whether what is too large for a narrower format becomes its largest number, and not an infinity.
    """

    element_type: ElementType
    computed_in: ElementType
    reciprocal: bool = False
    flushing: Flushing = Flushing.NONE
    conversion: Conversion = Conversion.ROUNDED
    saturation: Saturation = Saturation.NONE

    def quotients(self, a: Array, b: Array) -> Array:
        """Return what a runtime would give that computes in this way."""
        with np.errstate(all="ignore"):
            a, b = (self._operand(operand) for operand in (a, b))
            b = positive(b) if self.flushing is Flushing.DIVISORS else b
            if self.reciprocal:
                inverse = self._result(np.ones_like(b) / b)
                return self._converted(self._result(a * self._operation(inverse)))
            return self._converted(self._result(a / b))

    def products(self, a: Array, inverses: Array) -> Array:
        """Return what it would give if it were handed ``1 / b``."""
        with np.errstate(all="ignore"):
            return self._converted(self._result(self._operand(a) * self._operand(inverses)))

    @property
    def arithmetic(self) -> str:
        """How it computes, in words; subnormal numbers aside."""
        way = "as a * (1/b)" if self.reciprocal else ""
        where = f"in {self.computed_in}" if self.computed_in is not self.element_type else ""
        if not (way or where):
            return "correctly rounded"
        words = [" ".join(part for part in ("computed", where, way) if part), self.conversion.value]
        words.append(self.saturation.value)
        return ", ".join(part for part in words if part)

    @property
    def is_exact(self) -> bool:
        """Whether it is IEEE 754's own."""
        return self.peculiarities == 0

    @property
    def peculiarities(self) -> int:
        """In how many respects it differs from a correctly rounded division."""
        return sum((
            self.computed_in is not self.element_type,
            self.reciprocal,
            self.flushing is not Flushing.NONE,
            self.conversion is not Conversion.ROUNDED,
            self.saturation is not Saturation.NONE,
        ))  # fmt: skip

    def _operand(self, array: Array) -> Array:
        dtype = dtype_of(self.computed_in)
        narrow = self._operation(array).astype(dtype)
        if self.saturation is not Saturation.NONE:
            narrow = saturated(narrow)
        return self._operation(narrow)

    def _operation(self, array: Array) -> Array:
        return flushed(array) if self.flushing in (Flushing.OPERANDS, Flushing.BOTH) else array

    def _result(self, array: Array) -> Array:
        return flushed(array) if self.flushing in (Flushing.RESULTS, Flushing.BOTH) else array

    def _converted(self, quotient: Array) -> Array:
        if self.saturation is Saturation.QUOTIENTS:
            quotient = saturated(quotient)
        rounded = quotient.astype(dtype_of(self.element_type))
        if self.conversion is not Conversion.ROUNDED:
            bits = rounded.view(f"u{rounded.itemsize}")
            beyond = np.abs(rounded.astype(quotient.dtype)) > np.abs(quotient)
            if self.conversion is Conversion.ODD:
                beyond &= bits % 2 == 1  # It was even before it was rounded up.
            # The next encoding below is the next number nearer to zero.
            rounded = (bits - beyond.astype(bits.dtype)).view(rounded.dtype)
        if self.flushing is Flushing.POSITIVE:
            return positive(rounded)
        return flushed(rounded) if self.flushing is Flushing.QUOTIENTS else self._result(rounded)


def saturated(array: Array) -> Array:
    """Return an array in which the largest numbers stand for infinities."""
    largest = ml_dtypes.finfo(array.dtype).max  # type: ignore[no-untyped-call]  # ml_dtypes' own stub
    return np.where(np.isinf(array), np.copysign(np.full_like(array, largest), array), array)


def flushed(array: Array) -> Array:
    """Return an array in which zeros of the same sign stand for the subnormal numbers."""
    tiny = np.abs(array) < smallest_normal(array.dtype)
    return np.where(tiny, np.copysign(np.zeros_like(array), array), array)


def positive(array: Array) -> Array:
    """Return an array in which +0 stands for the subnormal numbers and for -0."""
    return np.where(np.abs(array) < smallest_normal(array.dtype), np.zeros_like(array), array)


@cache
def smallest_normal(dtype: np.dtype[Any]) -> Any:
    """Return the smallest normal number of a floating-point type."""
    return ml_dtypes.finfo(dtype).smallest_normal  # type: ignore[no-untyped-call]  # ml_dtypes' own stub


_NARROWER = {
    DOUBLE: (FLOAT, FLOAT16, BFLOAT16),
    FLOAT: (FLOAT16, BFLOAT16),
    FLOAT16: (BFLOAT16,),
    BFLOAT16: (FLOAT16,),
}


@cache
def float_models(element_type: ElementType) -> tuple[FloatModel, ...]:
    """Return the models of an element type's quotient, the simplest first.

    A quotient of float16 or bfloat16 that is computed in float and then rounded is the correctly rounded one, so that
    no quotient can show it, and for float16 not even a reciprocal; bfloat16 shows one beyond the range of float.
    """
    return tuple(sorted(_models(element_type), key=lambda model: model.peculiarities))


def _models(element_type: ElementType) -> Iterator[FloatModel]:
    for reciprocal, flushing in product((False, True), Flushing):
        if flushing is Flushing.QUOTIENTS and not reciprocal:
            continue  # The quotient is the only result.
        yield FloatModel(element_type, element_type, reciprocal, flushing)
        for narrower, saturation in product(_NARROWER[element_type], Saturation):
            yield FloatModel(element_type, narrower, reciprocal, flushing, saturation=saturation)
        if element_type in (FLOAT16, BFLOAT16):
            for conversion in Conversion:
                shows = element_type is BFLOAT16 and reciprocal
                if shows or conversion is not Conversion.ROUNDED:
                    yield FloatModel(element_type, FLOAT, reciprocal, flushing, conversion)
