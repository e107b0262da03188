"""The classes of integer operands that have no quotient in the type: zero divisors, and MIN divided by -1."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement
from vinculum.conformance.cases.values.encodings import integers
from vinculum.conformance.cases.values.integer_operands import ordinary_dividends, ordinary_divisors
from vinculum.conformance.cases.values.value_class import Array, Joined, Operands, ValueClass
from vinculum.models.sampling.edge_values import edge_values
from vinculum.spec.element_types import ElementType

QUICK, DEFAULT, FULL = Level
_DIVISOR, _BOTH = Placement.CONSTANT_DIVISOR, Placement.CONSTANTS


def unspecified_classes(t: ElementType) -> Iterable[ValueClass]:
    """Yield the classes of an integer type, each kind alone and beside ordinary numbers.

    Where a standard leaves a quotient unspecified a runtime may refuse, but it may not spoil the elements beside.
    """
    yield from _zero_divisors(t)
    if t.minimum:
        yield from _minimum(t)


def _zero_divisors(t: ElementType) -> Iterable[ValueClass]:
    dividends = edge_values(t)
    zeros = integers([0] * len(dividends), t)
    subject = Subject.ZERO_DIVISOR
    yield ValueClass("zero divisors", subject, lambda: (dividends.copy(), zeros), QUICK, DEFAULT, (_DIVISOR, _BOTH))
    beside = _beside(t, ordinary_dividends(t, 1000), integers([0], t))
    tried = "zero divisors beside ordinary numbers"
    yield ValueClass(tried, subject, beside, DEFAULT, DEFAULT, (_DIVISOR, _BOTH))
    yield ValueClass(
        "a zero divisor", subject, lambda: (ordinary_dividends(t, 17), integers([0], t).reshape(())),
        DEFAULT, FULL, (), Joined.SCALAR_DIVISOR,
    )  # fmt: skip


def _minimum(t: ElementType) -> Iterable[ValueClass]:
    tried, subject = "MIN divided by -1", Subject.MINIMUM
    minimum, minus_one = integers([t.minimum], t), integers([-1], t)

    def alone(count: int) -> Callable[[], Operands]:
        return lambda: (np.repeat(minimum, count), np.repeat(minus_one, count))

    yield ValueClass(tried, subject, alone(1), QUICK, DEFAULT, (_BOTH,), label="equal shapes of 1 element")
    yield ValueClass(tried, subject, alone(16), DEFAULT, FULL, label="equal shapes of 16 elements")
    yield ValueClass(tried, subject, alone(1000), DEFAULT, FULL, label="equal shapes of 1000 elements")
    yield ValueClass(
        tried, subject, lambda: (np.repeat(minimum, 1000), minus_one.reshape(())),
        DEFAULT, FULL, (), Joined.SCALAR_DIVISOR,
    )  # fmt: skip
    beside = _beside(t, np.repeat(minimum, 1000), minus_one)
    yield ValueClass("MIN divided by -1 beside ordinary numbers", subject, beside, DEFAULT, DEFAULT)


def _beside(t: ElementType, dividends: Array, divisor: Array) -> Callable[[], Operands]:
    """Return what makes ordinary pairs, every seventh of which is one of the dividends by the divisor."""

    def make() -> Operands:
        a, b = ordinary_dividends(t, 1000), ordinary_divisors(t, 1000)
        a[3::7], b[3::7] = dividends[3::7], divisor
        return a, b

    return make
