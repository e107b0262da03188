"""Divisions of 64-bit integers held against quotients multiplied back, one batch of adversarial pairs at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.exhaustive.enumeration import Division, first_wrong
from tests.exhaustive.exact_64 import draw, signed, wrong_signed, wrong_unsigned

Array = npt.NDArray[Any]

BATCH = 1 << 18
PARTS = -(-(10**8) // BATCH)
_DIVIDENDS_A_DIVISOR = 1 << 12


@dataclass(frozen=True)
class Adversary:
    """At least 10^8 pairs of one type, drawn the same in every run.

    Attributes
    ----------
    name : str
        ``"int64"`` or ``"uint64"``.
    divisions : mapping of str to callable
        The divisions under test, by name; MIN/-1 wraps.
    floor : bool
        Whether they round down.
    """

    name: str
    divisions: Mapping[str, Division]
    floor: bool = False

    def equal_shapes(self, part: int) -> str | None:
        """Divide a batch; return a line about the first wrong quotient."""
        return self._of_each(*self._drawn(part, BATCH, BATCH))

    def scalar_divisor(self, part: int) -> str | None:
        """Divide the dividends of a batch by few divisors, one at a time."""
        for i in range(BATCH // _DIVIDENDS_A_DIVISOR):
            told = self._of_each(*self._drawn(part * BATCH + i, _DIVIDENDS_A_DIVISOR, 1))
            if told:
                return told
        return None

    def _drawn(self, seed: int, dividends: int, divisors: int) -> tuple[Array, Array]:
        a, b = draw(seed, dividends, divisors)
        return (a, b) if self.name == "uint64" else (signed(seed, a), signed(seed + 1, b))

    def _of_each(self, a: Array, b: Array) -> str | None:
        return first_wrong(self.divisions, a, b, partial(self._wrong, a, b))

    def _wrong(self, a: Array, b: Array, quotients: Array) -> str | None:
        unsigned = self.name == "uint64"
        wrong = wrong_unsigned(a, b, quotients) if unsigned else wrong_signed(a, b, quotients, self.floor)
        if not wrong.any():
            return None
        first = int(np.argmax(wrong))
        divisor = b[0 if b.size == 1 else first]
        return f"{wrong.sum()} of {quotients.size} wrong, first {a[first]} / {divisor} = {quotients[first]}"
