"""Divisions of 16-bit numbers held against the exact quotients, a part of all pairs at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.exhaustive.enumeration import Division, first_wrong, once
from tests.exhaustive.exact_16 import FORMATS, wrong_floats, wrong_integers
from tests.kernels.comparing import DTYPES

Array = npt.NDArray[Any]

EVERY = 1 << 16
OPERANDS_A_PART = 16
ROW = 4096  # divisors of which the core takes the reciprocals
PARTS = EVERY // OPERANDS_A_PART


@dataclass(frozen=True)
class Enumeration:
    """All 2^32 pairs of one type, in parts of 16 operands of one side by all of the other.

    Attributes
    ----------
    name : str
        The element type.
    divisions : mapping of str to callable
        The divisions under test, by name; integers by zero saturate, MIN/-1 wraps.
    floor : bool
        Whether integers are rounded down.
    """

    name: str
    divisions: Mapping[str, Division]
    floor: bool = False

    def equal_shapes(self, part: int) -> str | None:
        """Divide 16 dividends by everything, as arrays of one shape; return a line about the first wrong quotient."""
        every = _every(self.name)
        a, b = np.repeat(every[_operands(part)], EVERY), np.tile(every, OPERANDS_A_PART)

        def wrong(quotients: Array) -> str | None:
            lines = zip(*(x.reshape(-1, EVERY) for x in (a, quotients)), strict=True)
            return next(filter(None, (self._wrong(dividends, every, line) for dividends, line in lines)), None)

        return first_wrong(self.divisions, a, b, wrong)

    def row(self, part: int) -> str | None:
        """Divide 16 dividends by everything, as lines of dividends by one line of divisors after the other."""
        dividends = np.repeat(_every(self.name)[_operands(part), None], ROW, axis=1)
        for divisors in _every(self.name).reshape(-1, ROW):

            def wrong(quotients: Array, row: Array = divisors) -> str | None:
                return self._wrong(dividends.ravel(), np.tile(row, OPERANDS_A_PART), quotients.ravel())

            if told := first_wrong(self.divisions, dividends, divisors, wrong):
                return told
        return None

    def scalar_divisor(self, part: int) -> str | None:
        """Divide everything by 16 divisors, one at a time.

        Floats are divided once more without those whose quotients are subnormal, for which a run is divided otherwise.
        """
        every = _every(self.name)
        for divisor in every[_operands(part), None]:
            look = once(partial(self._wrong, every, divisor))
            for name, divide in self.divisions.items():
                quotients = divide(every, divisor)
                told = look(quotients) or self._without_subnormals(divide, divisor, quotients)
                if told:
                    return f"{name}: {told}"
        return None

    def _without_subnormals(self, divide: Division, divisor: Array, quotients: Array) -> str | None:
        if self.name not in FORMATS:
            return None
        magnitudes = quotients.view(np.uint16) & (FORMATS[self.name].sign - 1)
        kept = (magnitudes == 0) | (magnitudes >> FORMATS[self.name].fraction != 0)
        dividends = _every(self.name)[kept]
        again = divide(dividends, divisor)
        if np.array_equal(again.view(np.uint16), quotients[kept].view(np.uint16)):
            return None
        return self._wrong(dividends, divisor, again) or "a NaN is not the usual one"

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
