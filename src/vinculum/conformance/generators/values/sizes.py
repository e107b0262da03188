"""Tensors of sizes that leave a remainder beside vectors of 4, 8 or 16 elements, and of one element and none."""

from __future__ import annotations

from collections.abc import Iterable

from vinculum.conformance.case import Level
from vinculum.conformance.generators.clauses import Subject
from vinculum.conformance.generators.deliveries import Delivery
from vinculum.conformance.generators.values.distinct import dividends, divisors
from vinculum.conformance.generators.values.value_class import CHOSEN_TYPES, Operands, ValueClass
from vinculum.spec.element_types import ElementType

_SIZES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1000)
_IN_OLDER = (1, 17)
_OF_EVERY_TYPE = (1, 3, 7, 17, 33, 1000)
_WITH_CONSTANTS = (1, 17)


def sizes(t: ElementType, operands: int) -> Iterable[ValueClass]:
    """Yield one class for each size, of one dimension."""
    tried = "numbers in sequence"
    constants = (Delivery.CONSTANT_DIVISOR,) if operands > 1 else (Delivery.CONSTANTS,)
    for size in _SIZES:

        def make(size: int = size) -> Operands:
            a, b = dividends((size,), t), divisors((size,), t)
            return (a, b) if operands > 1 else (b,)

        label = f"{'equal shapes' if operands > 1 else 'a shape'} of {size} element{'s' if size > 1 else ''}"
        older = Level.DEFAULT if size in _IN_OLDER else Level.FULL
        delivered = constants if size in _WITH_CONSTANTS else ()
        level = Level.DEFAULT if size in _OF_EVERY_TYPE or t.name in CHOSEN_TYPES else Level.FULL
        yield ValueClass(tried, Subject.EQUAL_SHAPES, make, level, older, delivered, label=label)
