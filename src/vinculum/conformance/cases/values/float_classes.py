"""The classes of floating-point operands of a division."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement
from vinculum.conformance.cases.values import float_operands as given
from vinculum.conformance.cases.values import hard_quotients as hard
from vinculum.conformance.cases.values.value_class import Joined, ValueClass
from vinculum.spec.element_types import BinaryFormat, ElementType

QUICK, DEFAULT, FULL = Level
QUOTIENT = Subject.QUOTIENT
_DIVISOR, _DIVIDEND, _BOTH = Placement.CONSTANT_DIVISOR, Placement.CONSTANT_DIVIDEND, Placement.CONSTANTS
_BYTE = 8


def float_classes(t: ElementType, fmt: BinaryFormat) -> Iterable[ValueClass]:
    """Yield the classes of a floating-point type."""
    yield from _ordinary(t, fmt)
    yield from _special(t, fmt)
    yield from _subnormal(t, fmt)
    if t.bits == _BYTE:
        every = partial(given.every_pair, t)
        yield ValueClass("every pair of 8-bit values", QUOTIENT, every, DEFAULT, DEFAULT)
    else:
        yield from _of_many_bits(t, fmt)


def _ordinary(t: ElementType, fmt: BinaryFormat) -> Iterable[ValueClass]:
    make = partial(given.ordinary, t, fmt)
    every_placement = (_DIVISOR, _DIVIDEND, _BOTH)
    yield ValueClass("ordinary numbers", Subject.ORDINARY, make, QUICK, DEFAULT, every_placement)
    make = partial(given.itself, t, fmt)
    yield ValueClass("x divided by itself", QUOTIENT, make, QUICK, DEFAULT, (_DIVISOR,))
    make = partial(given.multiples, t, fmt)
    yield ValueClass("whole numbers divided by their factors", QUOTIENT, make, DEFAULT, FULL, (_DIVISOR,))
    scalar = Joined.SCALAR_DIVISOR
    make = partial(given.by_number, t, fmt, 3)
    yield ValueClass("ordinary numbers divided by 3", QUOTIENT, make, QUICK, DEFAULT, (_DIVISOR,), scalar)
    make = partial(given.by_number, t, fmt, 10)
    yield ValueClass("ordinary numbers divided by 10", QUOTIENT, make, DEFAULT, FULL, (_DIVISOR, _BOTH), scalar)
    for number in (1, 3):
        make = partial(given.number_by, t, fmt, number)
        tried = f"{number} divided by ordinary numbers"
        yield ValueClass(tried, QUOTIENT, make, DEFAULT, FULL, (_DIVIDEND,), Joined.SCALAR_DIVIDEND)


def _special(t: ElementType, fmt: BinaryFormat) -> Iterable[ValueClass]:
    special = Subject.SPECIAL
    make = partial(given.specials, t, fmt)
    yield ValueClass("zeros, infinities and NaN", special, make, QUICK, QUICK, (_DIVISOR, _BOTH))
    make = partial(given.specials_by_themselves, t, fmt)
    tried = "zeros, infinities and NaN divided by themselves"
    yield ValueClass(tried, special, make, DEFAULT, FULL, (_BOTH,))
    make = partial(given.zero_by_subnormals, t, fmt)
    yield ValueClass("zero divided by subnormals", special, make, QUICK, DEFAULT, (_DIVISOR,))
    make = partial(given.zeros, t, fmt)
    yield ValueClass("zero divided by zero", Subject.ZERO_BY_ZERO, make, DEFAULT, FULL)
    make = partial(given.edges, t)
    yield ValueClass("edge numbers by each other", special, make, DEFAULT, FULL, (_BOTH,))


def _subnormal(t: ElementType, fmt: BinaryFormat) -> Iterable[ValueClass]:
    make = partial(given.subnormal_dividends, t, fmt)
    yield ValueClass("subnormal dividends", QUOTIENT, make, DEFAULT, FULL)
    make = partial(given.subnormal_divisors, t, fmt)
    yield ValueClass("subnormal divisors", QUOTIENT, make, DEFAULT, FULL, (_DIVISOR,))
    make = partial(given.from_pairs, t, partial(hard.next_to_overflow, t, fmt, 300))
    yield ValueClass("quotients next to overflow", Subject.TOO_LARGE, make, QUICK, DEFAULT, (_BOTH,))
    make = partial(given.from_pairs, t, partial(hard.next_to_underflow, t, fmt, 200))
    yield ValueClass("quotients next to underflow", QUOTIENT, make, DEFAULT, FULL, (_BOTH,))
    make = partial(given.from_pairs, t, partial(hard.subnormal_ties, t, fmt, 200))
    yield ValueClass("subnormal quotients at and next to ties", QUOTIENT, make, QUICK, DEFAULT, (_BOTH,))


def _of_many_bits(t: ElementType, fmt: BinaryFormat) -> Iterable[ValueClass]:
    make = partial(given.from_pairs, t, partial(hard.nearest_to_halfway, t, fmt, 1000))
    every_placement = (_DIVISOR, _DIVIDEND, _BOTH)
    yield ValueClass("quotients hard to round", Subject.DISCARDED, make, QUICK, QUICK, every_placement)
    make = partial(given.from_pairs, t, partial(hard.nearest_to_halfway, t, fmt, 10_000))
    yield ValueClass("10000 quotients hard to round", Subject.DISCARDED, make, FULL, FULL)
    yield ValueClass("random bit patterns", QUOTIENT, partial(given.random_pairs, t, 5000), DEFAULT, DEFAULT)
    bulk = 1 << 18 if t.bits == 2 * _BYTE else 1 << 15
    tried = f"{bulk} pairs of random bit patterns"
    yield ValueClass(tried, QUOTIENT, partial(given.random_pairs, t, bulk), FULL, FULL)
