"""Ways in which a float quotient may be computed: in which format, by a reciprocal or not, with subnormals or not.

Each is a few operations of NumPy and ml_dtypes, every one correctly rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from vinculum.kernels.float_environment import ieee_754
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, ElementType
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]


class Flushing(Enum):
    """Which subnormal numbers become zero."""

    NONE = ""
    OPERANDS = "subnormal operands count as zero"
    RESULTS = "what is below the normal numbers becomes zero"
    BOTH = "subnormal operands count as zero, and what is below the normal numbers becomes zero"
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
    QUOTIENTS = "infinities and numbers too large for it taken as its largest, quotients too"


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
        with ieee_754():
            a, b = (self._narrowed(operand) for operand in (a, b))
            b = positive(b) if self.flushing is Flushing.DIVISORS else b
            if not self.reciprocal:
                return self._converted(self._operation(np.divide, a, b, last=True))
            inverse = self._operation(np.divide, np.ones_like(b), b)
            return self._converted(self._operation(np.multiply, a, self._operand(inverse), last=True))

    def products(self, a: Array, inverses: Array) -> Array:
        """Return what it would give if it were handed ``1 / b``."""
        with ieee_754():
            a, inverses = (self._narrowed(operand) for operand in (a, inverses))
            return self._converted(self._operation(np.multiply, a, inverses, last=True))

    @property
    def statement(self) -> str:
        """How it computes, in words."""
        flushes = "flushes subnormal numbers to zero" if self.flushing is not Flushing.NONE else ""
        if self.computed_in is self.element_type and not self.reciprocal:
            return f"{flushes}, else correctly rounded" if flushes else "correctly rounded"
        where = f" in {self.computed_in}" if self.computed_in is not self.element_type else ""
        way = " as a multiplication by the reciprocal, a * (1/b)" if self.reciprocal else ""
        return ", ".join(part for part in (f"computed{where}{way}", self.conversion.value, flushes) if part)

    @property
    def detail(self) -> str:
        """What becomes of subnormal numbers and of those that are too large, in words."""
        return "; ".join(part for part in (self.flushing.value, self.saturation.value) if part)

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

    def _narrowed(self, array: Array) -> Array:
        narrow = self._operand(array).astype(dtype_of(self.computed_in))
        if self.saturation is not Saturation.NONE:
            narrow = saturated(narrow)
        return self._operand(narrow)

    def _operand(self, array: Array) -> Array:
        return flushed(array) if self.flushing in (Flushing.OPERANDS, Flushing.BOTH) else array

    def _operation(self, function: Callable[[Array, Array], Array], x: Array, y: Array, last: bool = False) -> Array:
        result = function(x, y)
        if last and self.flushing is Flushing.QUOTIENTS:
            return flushed(result)
        if not self._flushes_results:
            return result
        # As processors do, before a result is rounded to a subnormal number, which can make it a normal one.
        scale = np.ldexp(1.0, 2 + _bits(x.dtype)).astype(x.dtype)
        tiny = np.abs(function(x * scale, y)) < smallest_normal(x.dtype) * scale
        return np.where(tiny, np.copysign(np.zeros_like(result), result), result)

    @property
    def _flushes_results(self) -> bool:
        return self.flushing in (Flushing.RESULTS, Flushing.BOTH)

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
        return flushed(rounded) if self._flushes_results or self.flushing is Flushing.QUOTIENTS else rounded


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


@cache
def _bits(dtype: np.dtype[Any]) -> int:
    return int(ml_dtypes.finfo(dtype).nmant)  # type: ignore[no-untyped-call]  # ml_dtypes' own stub


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
    no quotient can show it. With a reciprocal ties between subnormal numbers do, and bfloat16 beyond float's range.
    """
    return tuple(sorted(_models(element_type), key=lambda model: model.peculiarities))


def _models(element_type: ElementType) -> Iterator[FloatModel]:
    for reciprocal, flushing in product((False, True), Flushing):
        yield FloatModel(element_type, element_type, reciprocal, flushing)
        for narrower, saturation in product(_NARROWER[element_type], Saturation):
            yield FloatModel(element_type, narrower, reciprocal, flushing, saturation=saturation)
        if element_type in (FLOAT16, BFLOAT16):
            for conversion in Conversion:
                if reciprocal or conversion is not Conversion.ROUNDED:
                    yield FloatModel(element_type, FLOAT, reciprocal, flushing, conversion)
