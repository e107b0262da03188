"""Tensors of one dimension: sizes that vectors of 4 to 32 elements fill, and those beside which a remainder is left."""

from __future__ import annotations

from collections.abc import Iterable

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement
from vinculum.conformance.cases.values.distinct import dividends, divisors
from vinculum.conformance.cases.values.value_class import CHOSEN_TYPES, Operands, ValueClass
from vinculum.spec.element_types import ElementType

_SHARED_OUT = 70_001  # Among threads, the last of which has less to do.
_SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000, _SHARED_OUT)
_OF_CHOSEN_TYPES = (2, 5, 9)
_IN_OLDER = (1, 17)
_QUICK = 31  # Beside vectors of every width it leaves a remainder that fills all but the last place.
_WITH_CONSTANTS = (1, 17)


def sizes(t: ElementType, operands: int) -> Iterable[ValueClass]:
    """Yield one class for each size, of one dimension."""
    tried = "numbers in sequence"
    constants = (Placement.CONSTANT_DIVISOR,) if operands > 1 else (Placement.CONSTANTS,)
    for size in _SIZES:

        def make(size: int = size) -> Operands:
            a, b = dividends((size,), t), divisors((size,), t)
            return (a, b) if operands > 1 else (b,)

        label = f"{'equal shapes' if operands > 1 else 'a shape'} of {size} element{'s' if size > 1 else ''}"
        older = Level.DEFAULT if size in _IN_OLDER else Level.FULL
        delivered = constants if size in _WITH_CONSTANTS else ()
        yield ValueClass(tried, Subject.SIZE, make, _level(size, t), older, delivered, label=label)


def _level(size: int, t: ElementType) -> Level:
    if size == _QUICK:
        return Level.QUICK
    if size == _SHARED_OUT:  # The exact quotients of so many floats take long to compute.
        return Level.DEFAULT if t.is_integer and t.name in CHOSEN_TYPES else Level.FULL
    return Level.DEFAULT if size not in _OF_CHOSEN_TYPES or t.name in CHOSEN_TYPES else Level.FULL
