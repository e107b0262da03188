"""Division of the 4- and 8-bit types that Divide-1 alone has, by a table of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vinculum.ops.policies import ExceptionalElements, Policies
from vinculum.reference.exact_quotient import float_quotient, integer_quotient
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.walk import Walk, expanded

Array = npt.NDArray[Any]


class TabulatedDivision:
    """Division of one element type of at most 8 bits, each quotient looked up where the reference wrote it.

    Parameters
    ----------
    element_type : ElementType
        int4, uint4, float8e4m3fn or float8e5m2, one element a byte.
    rounding : IntegerRounding
        For integers.
    policies : Policies
        For integers.
    """

    def __init__(self, element_type: ElementType, rounding: IntegerRounding, policies: Policies) -> None:
        self._element_type = element_type
        self._encodings = 1 << element_type.bits
        every = range(self._encodings)
        if element_type.binary_format is not None:
            fmt = element_type.binary_format
            quotients = [float_quotient(a, b, fmt) for a in every for b in every]
        else:
            quotients = [self._integer(a, b, rounding, policies) for a in every for b in every]
        self._table = np.array(quotients, np.uint8)

    def _integer(self, a: int, b: int, rounding: IntegerRounding, policies: Policies) -> int:
        # A policy that raises is kept by the caller; what the table holds there is only ever a partial result.
        zero_divisor = "zero" if policies.zero_divisor == "raise" else policies.zero_divisor
        overflow = "wrap" if policies.overflow == "raise" else policies.overflow
        dividend, divisor = self._value(a), self._value(b)
        quotient = integer_quotient(dividend, divisor, self._element_type, rounding, zero_divisor, overflow)
        # ml_dtypes stores a negative int4 with its sign in the upper half of the byte too.
        return quotient & 0xFF

    def _value(self, encoding: int) -> int:
        return encoding - self._encodings if encoding > self._element_type.maximum else encoding

    def __call__(self, a: Array, b: Array, out: Array, walk: Walk) -> ExceptionalElements | None:
        """Divide over a walk; return the exceptional elements, None if there are none."""
        shape = walk.alignment.shape
        mask = self._encodings - 1
        dividends = expanded(a.view(np.uint8), walk.alignment.a, shape) & mask
        divisors = expanded(b.view(np.uint8), walk.alignment.b, shape) & mask
        pairs = dividends.astype(np.uint16) * np.uint16(self._encodings) + divisors
        out.view(np.uint8)[...] = self._table[pairs]
        if not self._element_type.is_integer:
            return None
        overflowing = np.zeros(shape, bool)
        if self._element_type.minimum < 0:
            overflowing = (dividends == (self._element_type.minimum & mask)) & (divisors == mask)
        zeros = divisors == 0
        if not (zeros.any() or overflowing.any()):
            return None
        return ExceptionalElements(
            int(np.count_nonzero(zeros)),
            lambda: _first(zeros),
            int(np.count_nonzero(overflowing)),
            lambda: _first(overflowing),
        )


def _first(affected: Array) -> tuple[int, ...]:
    """Return the first index in row-major order of an element that is true."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(affected)), affected.shape))
