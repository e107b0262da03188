"""The classes of integer operands: pairs with a quotient, and zero divisors and MIN divided by -1, which have none.

Where a standard leaves a quotient unspecified, a runtime may refuse, but all other elements must be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vinculum.conformance.cases.case import Level
from vinculum.conformance.cases.clauses import Subject
from vinculum.conformance.cases.operation import BOTH, DIVIDEND, DIVISOR, FOLDED
from vinculum.conformance.cases.values import integer_operands as given
from vinculum.conformance.cases.values.integer_operands import beside, with_quotient
from vinculum.conformance.cases.values.value_class import Joined, Maker, Types, ValueClass, above, every, of_bits
from vinculum.spec.element_types import ElementType

QUICK, DEFAULT, FULL = Level
QUOTIENT, DISCARDED, ORDINARY = Subject.QUOTIENT, Subject.DISCARDED, Subject.ORDINARY
BY_ZERO, MINIMUM = Subject.ZERO_DIVISOR, Subject.MINIMUM
SCALAR, SCALAR_DIVIDEND, EQUAL = Joined.SCALAR_DIVISOR, Joined.SCALAR_DIVIDEND, Joined.EQUAL


def _signed(t: ElementType) -> bool:
    return t.minimum < 0


def _unsigned(t: ElementType) -> bool:
    return not t.minimum


def _holding(number: int) -> Types:
    return lambda t: t.minimum <= number <= t.maximum


def _near(k: int) -> Types:
    """Return the predicate of types of more than 8 bits that hold numbers next to 2**k."""
    return lambda t: t.bits > 8 and t.maximum >= 2**k - 3


def _up_to(number: int) -> Types:
    """Return the predicate of types whose largest number, or 1000 if that is less, is this number."""
    return lambda t: min(t.maximum, 1000) == number


# Code for SIMD vectors divides what remains after whole vectors by other instructions. The default level runs the
# lengths that tell the remainder after 4, 8, 16 and 32 elements apart, and what only its length or place would show.
_LENGTHS = (*range(2, 10), 15, 16, 17, 31, 1001)
_PLACES: tuple[tuple[str, Callable[[int], int], tuple[int, ...]], ...] = (
    ("first", lambda length: 0, (2, 3, 5, 1001)),
    ("in the middle", lambda length: length // 2, (17,)),
    ("last", lambda length: length - 1, (2, 3, 4, 5, 6, 8, 16, 31, 1001)),
)


def _at_each_place(pair: str, subject: Subject, at: Callable[[int, int], Maker], types: Types) -> Iterator[ValueClass]:
    """Yield the classes of one pair without a quotient among ordinary ones, in every length and at every place."""
    for place, index, telling in _PLACES:
        for length in _LENGTHS:
            if length > 2 or place != "in the middle":
                level = DEFAULT if length in telling else FULL
                label = f"equal shapes of {length} elements"
                yield ValueClass(f"{pair}, {place}", subject, at(length, index(length)),
                                 level, FULL, None, EQUAL, types, label)  # fmt: skip


# Scenario, subject, operands; level for the newest version, level for older ones; placements with constants.
INTEGERS = (
    ValueClass("floor and truncation differ", DISCARDED, with_quotient(given.small),
               QUICK, QUICK, FOLDED, EQUAL, _signed),
    ValueClass("ordinary numbers", ORDINARY, given.ordinary, QUICK, DEFAULT, FOLDED),
    ValueClass("numbers at the edges of the type", QUOTIENT, with_quotient(given.edges), QUICK, QUICK, DIVISOR + BOTH),
    ValueClass("the top bit set", QUOTIENT, with_quotient(given.top_bit), QUICK, DEFAULT, FOLDED, EQUAL, _unsigned),
    ValueClass("x divided by itself", QUOTIENT, with_quotient(given.itself)),
    ValueClass("zero divided by other numbers", QUOTIENT, with_quotient(given.zero_by_others)),
    # A division by 4 implemented as a shift is floor division; one by -1 may become a negation.
    *(ValueClass(f"ordinary numbers divided by {n}", QUOTIENT, given.divided_by(n),
                 DEFAULT, FULL, DIVISOR, SCALAR, _holding(n)) for n in (3, 4, -3, -1)),
    # Finds multiplication by a fixed-point reciprocal that is one bit short.
    ValueClass("large numbers divided by 7", QUOTIENT, given.large_divided_by(7),
               QUICK, FULL, DIVISOR, SCALAR, above(4)),
    ValueClass("MAX divided by ordinary numbers", QUOTIENT, given.dividing(1 << 64),
               DEFAULT, FULL, DIVIDEND, SCALAR_DIVIDEND, above(8)),
    *(ValueClass(f"{n} divided by ordinary numbers", QUOTIENT, given.dividing(n),
                 DEFAULT, FULL, DIVIDEND, SCALAR_DIVIDEND, _up_to(n)) for n in (7, 15, 127, 255, 1000)),
    ValueClass("every pair of 4-bit values with a quotient", QUOTIENT, with_quotient(given.every_pair),
               DEFAULT, DEFAULT, BOTH, EQUAL, of_bits(4)),
    ValueClass("every pair of 8-bit values with a quotient", QUOTIENT, with_quotient(given.every_pair),
               DEFAULT, DEFAULT, (), EQUAL, of_bits(8)),
    # Limits of exact integers in float and double, and of narrower integer types; the former as constants too.
    *(ValueClass(f"numbers next to 2^{k}", QUOTIENT, with_quotient(given.next_to_power(k)),
                 DEFAULT, FULL, constants, EQUAL, _near(k))
      for k, constants in ((24, DIVISOR + BOTH), (31, ()), (32, ()), (53, DIVISOR + BOTH), (63, ()))),
    ValueClass("one less than a multiple", QUOTIENT, with_quotient(given.below_multiples),
               QUICK, DEFAULT, DIVISOR + BOTH, EQUAL, above(8)),
    ValueClass("multiples of the divisor", QUOTIENT, with_quotient(given.multiples),
               DEFAULT, FULL, (), EQUAL, above(8)),
    ValueClass("random bit patterns", QUOTIENT, with_quotient(given.random_pairs(5000)),
               DEFAULT, DEFAULT, (), EQUAL, above(8)),
    *(ValueClass(f"{count} pairs of random bit patterns", QUOTIENT, with_quotient(given.random_pairs(count)),
                 FULL, FULL, (), EQUAL, types) for count, types in ((1 << 18, of_bits(16)), (1 << 16, above(16)))),
    ValueClass("zero divisors", BY_ZERO, given.edges_by_zero, QUICK, DEFAULT, DIVISOR + BOTH),
    ValueClass("zero divisors beside ordinary numbers", BY_ZERO, beside(given.by_zero),
               DEFAULT, DEFAULT, DIVISOR + BOTH),
    ValueClass("a zero divisor", BY_ZERO, given.by_one_zero, DEFAULT, FULL, (), SCALAR),
    ValueClass("MIN divided by -1", MINIMUM, given.minimum(1),
               QUICK, DEFAULT, BOTH, EQUAL, _signed, "equal shapes of 1 element"),
    ValueClass("MIN divided by -1", MINIMUM, given.minimum_by_one, DEFAULT, FULL, (), SCALAR, _signed),
    ValueClass("MIN divided by -1 beside ordinary numbers", MINIMUM, beside(given.minimum(1000)),
               DEFAULT, DEFAULT, (), EQUAL, _signed),
    ValueClass("a zero divisor", BY_ZERO, given.zero_at(1, 0),
               DEFAULT, FULL, None, EQUAL, every, "equal shapes of 1 element"),
    *_at_each_place("a zero divisor", BY_ZERO, given.zero_at, every),
    *_at_each_place("MIN divided by -1", MINIMUM, given.minimum_at, _signed),
)  # fmt: skip
