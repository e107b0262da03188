"""The classes of operands of SONNX's reals: exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product

import numpy as np

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement
from vinculum.conformance.cases.values.encodings import random_below
from vinculum.conformance.cases.values.value_class import Operands, ValueClass

QUICK, DEFAULT, FULL = Level
_PLACEMENTS = (Placement.CONSTANT_DIVISOR, Placement.CONSTANTS)
_SMALL = [Fraction(n, d) for n in (-35, -7, -1, 1, 2, 3, 10) for d in (1, 2, 3, 7)]


def real_classes() -> Iterable[ValueClass]:
    """Yield the classes of the reals."""
    yield _of("fractions", Subject.QUOTIENT, lambda: product([*_SMALL, Fraction(0)], _SMALL), QUICK)
    yield _of("x divided by itself", Subject.QUOTIENT, lambda: ((x, x) for x in _SMALL), DEFAULT)
    yield _of("fractions of many digits", Subject.QUOTIENT, _long, DEFAULT)
    yield _of("zero divisors", Subject.ZERO_DIVISOR, lambda: ((x, Fraction(0)) for x in [*_SMALL, Fraction(0)]), QUICK)
    yield _of("zero divisors beside fractions", Subject.ZERO_DIVISOR, _beside, DEFAULT)


def _of(
    tried: str, subject: Subject, pairs: Callable[[], Iterable[tuple[Fraction, Fraction]]], level: Level
) -> ValueClass:
    def make() -> Operands:
        dividends, divisors = zip(*pairs(), strict=True)
        return np.array(dividends, dtype=object), np.array(divisors, dtype=object)

    return ValueClass(tried, subject, make, level, level, _PLACEMENTS)


def _long() -> Iterable[tuple[Fraction, Fraction]]:
    numbers = [1 + n for n in random_below("fractions of many digits", 10**38, 400)]
    fractions = [Fraction(n, d) for n, d in zip(numbers[::2], numbers[1::2], strict=True)]
    return zip(fractions[::2], fractions[1::2], strict=True)


def _beside() -> Iterable[tuple[Fraction, Fraction]]:
    return [*((x, Fraction(2, 3)) for x in _SMALL), (Fraction(1), Fraction(0))]
