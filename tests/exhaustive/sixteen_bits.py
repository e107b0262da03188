"""A division of 16-bit numbers held against the exact quotients, a part of all pairs at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.exhaustive.enumeration import Division
from tests.exhaustive.exact_16 import FORMATS, wrong_floats, wrong_integers
from tests.kernels.comparing import DTYPES

Array = npt.NDArray[Any]

EVERY = 1 << 16
OPERANDS_A_PART = 16
PARTS = EVERY // OPERANDS_A_PART


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
        a = np.repeat(every[_operands(part)], EVERY)
        quotients = self.divide(a, np.tile(every, OPERANDS_A_PART))
        lines = zip(*(x.reshape(-1, EVERY) for x in (a, quotients)), strict=True)
        return next(filter(None, (self._wrong(dividends, every, line) for dividends, line in lines)), None)

    def scalar_divisor(self, part: int) -> str | None:
        """Divide everything by 16 divisors, one at a time.

        Floats are divided once more without those whose quotients are subnormal, for which a run is divided otherwise.
        """
        every = _every(self.name)
        for divisor in every[_operands(part), None]:
            quotients = self.divide(every, divisor)
            wrong = self._wrong(every, divisor, quotients)
            if not wrong and self.name in FORMATS:
                magnitudes = quotients.view(np.uint16) & (FORMATS[self.name].sign - 1)
                kept = (magnitudes == 0) | (magnitudes >> FORMATS[self.name].fraction != 0)
                again = self.divide(every[kept], divisor)
                if not np.array_equal(again.view(np.uint16), quotients[kept].view(np.uint16)):
                    wrong = self._wrong(every[kept], divisor, again) or "a NaN is not the usual one"
            if wrong:
                return wrong
        return None

    def _wrong(self, a: Array, b: Array, quotients: Array) -> str | None:
        if self.name in FORMATS:
            wrong = wrong_floats(FORMATS[self.name], *(x.view(np.uint16) for x in (a, b, quotients)))
        else:
            wrong = wrong_integers(a, b, quotients, self.floor)
        if not wrong.any():
            return None
        first = int(np.argmax(wrong))
        divisor = b[0 if b.size == 1 else first]
        return f"{wrong.sum()} of {quotients.size} wrong, first {a[first]!r} / {divisor!r} = {quotients[first]!r}"


def _operands(part: int) -> slice:
    return slice(part * OPERANDS_A_PART, (part + 1) * OPERANDS_A_PART)


@cache
def _every(name: str) -> Array:
    return np.arange(EVERY, dtype=np.uint16).view(DTYPES[name])
