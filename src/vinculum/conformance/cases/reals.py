"""The classes of operands of SONNX's real type: exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product

import numpy as np

from vinculum.conformance.cases.case import Level, Subject
from vinculum.conformance.cases.operation import BOTH, DIVISOR
from vinculum.conformance.cases.values import Maker, ValueClass, paired, random_below

QUICK, DEFAULT, FULL = Level
_ZERO = Fraction(0)
_SMALL = [Fraction(n, d) for n in (-35, -7, -1, 1, 2, 3, 10) for d in (1, 2, 3, 7)]


def _of(pairs: Callable[[], Iterable[tuple[Fraction, Fraction]]]) -> Maker:
    return lambda _: paired(pairs(), lambda numbers: np.array(numbers, dtype=object))


def _long() -> Iterable[tuple[Fraction, Fraction]]:
    numbers = [1 + n for n in random_below("fractions of many digits", 10**38, 400)]
    fractions = [Fraction(n, d) for n, d in zip(numbers[::2], numbers[1::2], strict=True)]
    return zip(fractions[::2], fractions[1::2], strict=True)


QUOTIENT, BY_ZERO = Subject.QUOTIENT, Subject.ZERO_DIVISOR
_FOLDED = DIVISOR + BOTH
REALS = (
    ValueClass("fractions", QUOTIENT, _of(lambda: product([*_SMALL, _ZERO], _SMALL)), QUICK, QUICK, _FOLDED),
    ValueClass("x divided by itself", QUOTIENT, _of(lambda: ((x, x) for x in _SMALL)), DEFAULT, DEFAULT, _FOLDED),
    ValueClass("fractions of many digits", QUOTIENT, _of(_long), DEFAULT, DEFAULT, _FOLDED),
    ValueClass("zero divisors", BY_ZERO, _of(lambda: ((x, _ZERO) for x in [*_SMALL, _ZERO])), QUICK, QUICK, _FOLDED),
    ValueClass("zero divisors beside fractions", BY_ZERO,
               _of(lambda: [*((x, Fraction(2, 3)) for x in _SMALL), (Fraction(1), _ZERO)]), DEFAULT, DEFAULT, _FOLDED),
)  # fmt: skip
