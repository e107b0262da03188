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

# Elements that are looked up at once.
_STRETCH = 8192


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
        """Divide over a walk, some thousand elements at a time; return the exceptional ones, None if there are none."""
        shape, mask = walk.alignment.shape, self._encodings - 1
        zeros, overflows = _Found(shape), _Found(shape)
        operands = (
            expanded(a.view(np.uint8), walk.alignment.a, shape),
            expanded(b.view(np.uint8), walk.alignment.b, shape),
            out.view(np.uint8),
        )
        stretches = np.nditer(
            operands,
            ["external_loop", "buffered", "zerosize_ok"],
            [["readonly"], ["readonly"], ["writeonly"]],
            order="C",
            buffersize=_STRETCH,
        )
        with stretches:
            for dividends, divisors, quotients in stretches:
                dividends, divisors = dividends & mask, divisors & mask
                np.take(self._table, dividends * np.uint16(self._encodings) + divisors, out=quotients)
                if self._element_type.is_integer:
                    zeros.look_at(divisors == 0, stretches.iterindex)
                    if self._element_type.minimum < 0:
                        overflowing = (dividends == (self._element_type.minimum & mask)) & (divisors == mask)
                        overflows.look_at(overflowing, stretches.iterindex)
        if not (zeros.count or overflows.count):
            return None
        return ExceptionalElements(zeros.count, zeros.first_index, overflows.count, overflows.first_index)


class _Found:
    """How many elements of a kind there are, and where the first is."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self._shape = shape
        self._first = -1

    def look_at(self, affected: Array, position: int) -> None:
        """Count the elements that are true in a stretch that begins at a position in row-major order."""
        count = int(np.count_nonzero(affected))
        if count and not self.count:
            self._first = position + int(np.argmax(affected))
        self.count += count

    def first_index(self) -> tuple[int, ...]:
        """Return the index of the first in row-major order."""
        return tuple(int(i) for i in np.unravel_index(self._first, self._shape))
