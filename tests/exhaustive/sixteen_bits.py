"""A division of 16-bit numbers held against the exact quotients, a part of all pairs at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.exhaustive.exact_16 import wrong_floats, wrong_integers
from tests.kernels.comparing import DTYPES

Array = npt.NDArray[Any]
Division = Callable[[Array, Array], Array]

EVERY = 1 << 16
OPERANDS_A_PART = 16
PARTS = EVERY // OPERANDS_A_PART

# Bits of the significand, and of the exponent.
_FORMATS = {"float16": (11, 5), "bfloat16": (8, 8)}


@dataclass(frozen=True)
class Enumeration:
    """All 2^32 pairs of one type, in parts of 16 operands of one side by all of the other.

    Attributes
    ----------
    name : str
        The element type.
    divide : callable
        The division under test; integers by zero saturate, MIN/-1 wraps.
    floor : bool
        Whether integers are rounded down.
    """

    name: str
    divide: Division
    floor: bool = False

    def equal_shapes(self, part: int) -> str | None:
        """Divide 16 dividends by everything, as arrays of one shape; return a line about the first wrong quotient."""
        every = _every(self.name)
        a = np.repeat(every[part * OPERANDS_A_PART : (part + 1) * OPERANDS_A_PART], EVERY)
        b = _repeated(self.name)
        return self._wrong(a, b, self.divide(a, b))

    def scalar_divisor(self, part: int) -> str | None:
        """Divide everything by 16 divisors, one at a time."""
        every = _every(self.name)
        for i in range(part * OPERANDS_A_PART, (part + 1) * OPERANDS_A_PART):
            divisor = every[i : i + 1]
            wrong = self._wrong(every, divisor, self.divide(every, divisor))
            if wrong:
                return wrong
        return None

    def _wrong(self, a: Array, b: Array, quotients: Array) -> str | None:
        if self.name in _FORMATS:
            wrong, first = wrong_floats(*(x.view(np.uint16) for x in (a, b, quotients)), *_FORMATS[self.name])
        else:
            wrong, first = wrong_integers(a, b, quotients, self.floor)
        if not wrong:
            return None
        divisor = b[0 if b.size == 1 else first]
        return f"{wrong} of {quotients.size} wrong, first {a[first]!r} / {divisor!r} = {quotients[first]!r}"


@cache
def _every(name: str) -> Array:
    return np.arange(EVERY, dtype=np.uint16).view(DTYPES[name])


@cache
def _repeated(name: str) -> Array:
    return np.tile(_every(name), OPERANDS_A_PART)
