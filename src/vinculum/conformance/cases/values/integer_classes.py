"""The classes of integer operands that have quotients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.placements import Placement
from vinculum.conformance.cases.values import integer_operands as given
from vinculum.conformance.cases.values.value_class import Joined, Operands, ValueClass
from vinculum.spec.element_types import ElementType

QUICK, DEFAULT, FULL = Level
QUOTIENT = Subject.QUOTIENT
_DIVISOR, _DIVIDEND, _BOTH = Placement.CONSTANT_DIVISOR, Placement.CONSTANT_DIVIDEND, Placement.CONSTANTS
_EVERY_DELIVERY = (_DIVISOR, _DIVIDEND, _BOTH)
_POWERS = (24, 31, 32, 53, 63)  # Where the significands of float and double end, and narrower integer types.
_BYTE = 8
_ORDINARY = 1000


def integer_classes(t: ElementType) -> Iterable[ValueClass]:
    """Yield the classes of an integer type."""
    if t.minimum:
        make = _of(t, given.small)
        yield ValueClass("floor and truncation differ", Subject.DISCARDED, make, QUICK, QUICK, _EVERY_DELIVERY)
    ordinary = partial(given.ordinary, t)
    yield ValueClass("ordinary numbers", Subject.ORDINARY, ordinary, QUICK, DEFAULT, _EVERY_DELIVERY)
    make = _of(t, given.edges)
    yield ValueClass("numbers at the edges of the type", QUOTIENT, make, QUICK, QUICK, (_DIVISOR, _BOTH))
    if not t.minimum:
        make = _of(t, given.top_bit)
        yield ValueClass("the top bit set", QUOTIENT, make, QUICK, DEFAULT, _EVERY_DELIVERY)
    yield ValueClass("x divided by itself", QUOTIENT, _of(t, given.itself))
    yield ValueClass("zero divided by other numbers", QUOTIENT, _of(t, given.zero_by_others))
    yield from _scalars(t)
    yield from _narrow(t) if t.bits <= _BYTE else _wide(t)


def _of(t: ElementType, pairs: Callable[[ElementType], given.Pairs]) -> Callable[[], Operands]:
    return partial(given.with_quotient, t, partial(pairs, t))


def _scalars(t: ElementType) -> Iterable[ValueClass]:
    # A division by 4 that becomes a shift is floor division, one by -1 may become a negation.
    for divisor in given.within((3, 4, -3, -1), t):
        make = partial(given.by_number, t, divisor)
        tried = f"ordinary numbers divided by {divisor}"
        yield ValueClass(tried, QUOTIENT, make, DEFAULT, FULL, (_DIVISOR,), Joined.SCALAR_DIVISOR)
    if t.bits >= _BYTE:
        make = partial(given.large_by_number, t, 7)
        # What multiplies by a reciprocal in fixed point is short of a bit.
        tried = "large numbers divided by 7"
        yield ValueClass(tried, QUOTIENT, make, QUICK, FULL, (_DIVISOR,), Joined.SCALAR_DIVISOR)
    if t.maximum > _ORDINARY:
        make = partial(given.number_by, t, t.maximum)
        tried = "MAX divided by ordinary numbers"
        yield ValueClass(tried, QUOTIENT, make, DEFAULT, FULL, (_DIVIDEND,), Joined.SCALAR_DIVIDEND)
    dividend = min(_ORDINARY, t.maximum)
    make = partial(given.number_by, t, dividend)
    tried = f"{dividend} divided by ordinary numbers"
    yield ValueClass(tried, QUOTIENT, make, DEFAULT, FULL, (_DIVIDEND,), Joined.SCALAR_DIVIDEND)


def _narrow(t: ElementType) -> Iterable[ValueClass]:
    tried = f"every pair of {t.bits}-bit values with a quotient"
    constants = (_BOTH,) if t.bits < _BYTE else ()
    yield ValueClass(tried, QUOTIENT, _of(t, given.every_pair), DEFAULT, DEFAULT, constants)


def _wide(t: ElementType) -> Iterable[ValueClass]:
    for k in _POWERS:
        if any(True for _ in given.next_to_power(t, k)):
            near = partial(given.with_quotient, t, partial(given.next_to_power, t, k))
            constants = (_DIVISOR, _BOTH) if k in (24, 53) else ()
            yield ValueClass(f"numbers next to 2^{k}", QUOTIENT, near, DEFAULT, FULL, constants)
    below = _of(t, given.below_multiples)
    yield ValueClass("one less than a multiple", QUOTIENT, below, QUICK, DEFAULT, (_DIVISOR, _BOTH))
    yield ValueClass("multiples of the divisor", QUOTIENT, _of(t, given.multiples))
    for count, level in ((5000, DEFAULT), (1 << 18 if t.bits == 2 * _BYTE else 1 << 16, FULL)):
        drawn = partial(given.with_quotient, t, partial(given.random_pairs, t, count))
        tried = "random bit patterns" if level is DEFAULT else f"{count} pairs of random bit patterns"
        yield ValueClass(tried, QUOTIENT, drawn, level, level)
