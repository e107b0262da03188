"""The classes of integer operands: pairs with a quotient, and zero divisors and MIN divided by -1, which have none.

Where a standard leaves a quotient unspecified, a runtime may refuse, but all other elements must be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

import numpy as np

from vinculum.conformance.cases.case import Level, Subject
from vinculum.conformance.cases.operation import BOTH, DIVIDEND, DIVISOR, FOLDED
from vinculum.conformance.cases.values import (
    Array,
    Joined,
    Maker,
    Operands,
    Types,
    ValueClass,
    above,
    every,
    of_bits,
    paired,
    random_below,
    random_bits,
    scalar,
    whole,
)
from vinculum.models.sampling.edge_values import edge_values
from vinculum.reference import elements
from vinculum.spec.element_types import ElementType

Pairs = Iterable[tuple[int, int]]

_MANY = 1000


def with_quotient(pairs: Callable[[ElementType], Pairs]) -> Maker:
    """Return a maker of the pairs that have a quotient in the type, without zero divisors and MIN / -1."""

    def operands(t: ElementType) -> Operands:
        kept = ((a, b) for a, b in dict.fromkeys(pairs(t)) if b and (a, b) != (t.minimum, -1))
        return paired(kept, lambda numbers: whole(numbers, t))

    return operands


def within(numbers: Iterable[int], t: ElementType) -> list[int]:
    """Return the numbers that are in the type's range, without repetitions."""
    return [n for n in dict.fromkeys(numbers) if t.minimum <= n <= t.maximum]


def by_each(dividends: Iterable[int], divisors: Iterable[int], t: ElementType) -> Pairs:
    """Return every dividend paired with every divisor, as far as they are in the type's range."""
    return product(within(dividends, t), within(divisors, t))


def edges(t: ElementType) -> list[int]:
    """Return the edge values."""
    return elements(edge_values(t), t)


def every_pair(t: ElementType) -> Pairs:
    """Return every pair of values of a narrow type."""
    values = range(t.minimum, t.maximum + 1)
    return by_each(values, values, t)


def top_bit(t: ElementType) -> Pairs:
    """Return unsigned dividends whose top bit is set, which code for signed types takes for negative."""
    top = 1 << (t.bits - 1)
    dividends = [top, top + 1, t.maximum, t.maximum - 1, *(top + n for n in random_below(f"top of {t.name}", top, 40))]
    return by_each(dividends, (1, 2, 3, 5, 7, 10, 255, 1000, top - 1, top, top + 1, t.maximum), t)


def next_to_power(k: int) -> Callable[[ElementType], Pairs]:
    """Return a function that gives numbers next to 2**k and -2**k, divided by small ones and ones next to 2**k."""
    numbers = [sign * (2**k + d) for d in range(-3, 4) for sign in (1, -1)]
    return lambda t: by_each(numbers, (1, -1, 2, 3, -3, 7, 10, 2**k - 1, 2**k, 2**k + 1), t)


def below_multiples(t: ElementType) -> Pairs:
    """Yield dividends just below large multiples of their divisors; rounding to a float turns them into multiples."""
    for divisor, quotient in _factors(t):
        multiple = divisor * quotient
        yield multiple - 1, divisor
        if t.minimum:
            yield 1 - multiple, divisor
            yield multiple - 1, -divisor


def multiples(t: ElementType) -> Pairs:
    """Yield large multiples of their divisors."""
    for divisor, quotient in _factors(t):
        yield divisor * quotient, divisor
        if t.minimum:
            yield -divisor * quotient, divisor


def _factors(t: ElementType) -> Pairs:
    """Return divisors of up to 12 bits, with quotients such that their products are in the upper half of the range."""
    divisors = [2 + n for n in random_below(f"factors of {t.name}", 1 << min(12, t.bits // 2), 300)]
    shares = random_below(f"shares of {t.name}", 1 << 32, 300)
    quotients = (t.maximum // d * ((1 << 32) + share) >> 33 for d, share in zip(divisors, shares, strict=True))
    return zip(divisors, quotients, strict=True)


def random_pairs(count: int) -> Callable[[ElementType], Pairs]:
    """Return a function that gives random bit patterns; divisors, and so quotients, have every bit length."""

    def pairs(t: ElementType) -> Pairs:
        shifts = random_below(f"{count} shifts of {t.name}", t.bits, count)
        dividends, divisors = (_whole_range(t, f"{count} {role}", count) for role in ("dividends", "divisors"))
        return ((a, b >> shift) for a, b, shift in zip(dividends, divisors, shifts, strict=True))

    return pairs


def _whole_range(t: ElementType, what: str, count: int) -> list[int]:
    return [bits - (1 << t.bits) if bits > t.maximum else bits for bits in random_bits(what, t, count)]


def ordinary_dividends(t: ElementType, count: int = _MANY) -> Array:
    """Return random integers of ordinary size, of both signs for signed types; none is 0 or MIN."""
    return _ordinary(t, "dividends", min(100_000, t.maximum), count)


def ordinary_divisors(t: ElementType, count: int = _MANY) -> Array:
    """Return random integers other than 0, most of them smaller than the dividends."""
    return _ordinary(t, "divisors", min(1000, max(t.maximum // 4, 3)), count)


def _ordinary(t: ElementType, what: str, largest: int, count: int) -> Array:
    magnitudes = random_below(f"{what} of {t.name}", largest, count)
    signs = random_below(f"signs of {what} of {t.name}", 2, count)
    return whole((-1 - m if sign and t.minimum else 1 + m for m, sign in zip(magnitudes, signs, strict=True)), t)


def divided_by(number: int) -> Maker:
    """Return a maker of random dividends of ordinary size and one scalar divisor."""
    return lambda t: (ordinary_dividends(t), scalar(number, t))


def dividing(number: int) -> Maker:
    """Return a maker of one scalar dividend, at most the type's largest number, and random divisors."""
    return lambda t: (scalar(min(number, t.maximum), t), ordinary_divisors(t))


def large_divided_by(number: int) -> Maker:
    """Return a maker of dividends at the type's limits and around multiples near them, and one scalar divisor."""

    def operands(t: ElementType) -> Operands:
        limits = [t.maximum, t.minimum] if t.minimum else [t.maximum]
        signed = ((abs(limit), 1 if limit > 0 else -1) for limit in limits)
        multiples = (number * (size // number - k) * sign for size, sign in signed for k in range(9))
        dividends = within([*limits, *(m + d for m in multiples for d in (-1, 0, 1))], t)
        return whole(dividends, t), scalar(number, t)

    return operands


def by_zero(dividends: Array) -> Operands:
    """Return dividends, each with the divisor 0."""
    return dividends, np.zeros_like(dividends)


def minimum(count: int) -> Maker:
    """Return a maker of `count` divisions of the smallest number by -1."""
    return lambda t: (whole([t.minimum] * count, t), whole([-1] * count, t))


def beside(pair: Maker) -> Maker:
    """Return a maker of ordinary pairs in which every seventh is replaced by a given pair."""

    def operands(t: ElementType) -> Operands:
        a, b = ordinary_dividends(t), ordinary_divisors(t)
        a[3::7], b[3::7] = (own[3::7] for own in pair(t))
        return a, b

    return operands


Pair = Callable[[ElementType], tuple[int, int]]


def among(pair: Pair, length: int, index: int) -> Maker:
    """Return a maker of ordinary pairs, the one at an index replaced by a given pair."""

    def operands(t: ElementType) -> Operands:
        a, b = ordinary_dividends(t, length), ordinary_divisors(t, length)
        a[index : index + 1], b[index : index + 1] = (whole([number], t) for number in pair(t))
        return a, b

    return operands


QUICK, DEFAULT, FULL = Level
QUOTIENT, DISCARDED, ORDINARY = Subject.QUOTIENT, Subject.DISCARDED, Subject.ORDINARY
BY_ZERO, MINIMUM = Subject.ZERO_DIVISOR, Subject.MINIMUM
SCALAR, SCALAR_DIVIDEND, EQUAL = Joined.SCALAR_DIVISOR, Joined.SCALAR_DIVIDEND, Joined.EQUAL


def _signed(t: ElementType) -> bool:
    return t.minimum < 0


def _holding(number: int) -> Types:
    return lambda t: t.minimum <= number <= t.maximum


def _near(k: int) -> Types:
    """Return the predicate of types of more than 8 bits that hold numbers next to 2**k."""
    return lambda t: t.bits > 8 and t.maximum >= 2**k - 3


def _up_to(number: int) -> Types:
    """Return the predicate of types whose largest number, or 1000 if that is less, is this number."""
    return lambda t: min(t.maximum, 1000) == number


# Code for SIMD vectors divides what remains after whole vectors by other instructions. The default level runs the
# lengths that tell the remainder after 4, 8, 16 and 32 elements apart, those on either side of some number of vectors,
# and what only its length or place would show.
_LENGTHS = (*range(2, 10), 15, 16, 17, 31, 32, 33, 64, 65, 1001)
_PLACES: tuple[tuple[str, Callable[[int], int], tuple[int, ...]], ...] = (
    ("first", lambda length: 0, (2, 3, 5, 1001)),
    ("in the middle", lambda length: length // 2, (17,)),
    ("last", lambda length: length - 1, (2, 3, 4, 5, 6, 8, 16, 17, 31, 32, 33, 64, 65, 1001)),
)
_OF_CONSTANTS = (("last", 3), ("last", 16), ("last", 17))
"""The places and lengths that are asked with constant divisors, too."""


def _at_each_place(name: str, subject: Subject, pair: Pair, types: Types) -> Iterator[ValueClass]:
    """Yield the classes of one pair without a quotient among ordinary ones, in every length and at every place."""
    for place, index, telling in _PLACES:
        for length in _LENGTHS:
            if length > 2 or place != "in the middle":
                level = DEFAULT if length in telling else FULL
                constants = DIVISOR if (place, length) in _OF_CONSTANTS else None
                label = f"equal shapes of {length} elements"
                yield ValueClass(f"{name}, {place}", subject, among(pair, length, index(length)),
                                 level, FULL, constants, EQUAL, types, label)  # fmt: skip


_ONE = "equal shapes of 1 element"


def _seven_by_zero(_: ElementType) -> tuple[int, int]:
    return 7, 0


# Scenario, subject, operands; level for the newest version, level for older ones; placements with constants.
INTEGERS = (
    # Most of the quotients depend on the rounding direction.
    ValueClass("floor and truncation differ", DISCARDED,
               with_quotient(lambda t: by_each(range(-16, 17), (2, 3, 4, 5, 7, -2, -3, -4, -5, -7), t)),
               QUICK, QUICK, FOLDED, types=_signed),
    ValueClass("ordinary numbers", ORDINARY, lambda t: (ordinary_dividends(t), ordinary_divisors(t)),
               QUICK, DEFAULT, FOLDED),
    ValueClass("numbers at the edges of the type", QUOTIENT, with_quotient(lambda t: by_each(edges(t), edges(t), t)),
               QUICK, QUICK, DIVISOR + BOTH),
    ValueClass("the top bit set", QUOTIENT, with_quotient(top_bit), QUICK, DEFAULT, FOLDED,
               types=lambda t: not t.minimum),
    ValueClass("x divided by itself", QUOTIENT,
               with_quotient(lambda t: ((n, n) for n in (*edges(t), *_whole_range(t, "divided by itself", 500))))),
    ValueClass("zero divided by other numbers", QUOTIENT, with_quotient(lambda t: by_each((0,), edges(t), t))),
    # A division by 4 or -8 implemented as a shift is floor division; one by 1 or -1 may become a copy or a negation.
    *(ValueClass(f"ordinary numbers divided by {n}", QUOTIENT, divided_by(n),
                 constants=DIVISOR, joined=SCALAR, types=_holding(n)) for n in (3, 4, -3, -8, 1, -1)),
    # Finds multiplication by a fixed-point reciprocal that is one bit short.
    ValueClass("large numbers divided by 7", QUOTIENT, large_divided_by(7), QUICK, FULL, DIVISOR, SCALAR, above(4)),
    ValueClass("large numbers divided by 10", QUOTIENT, large_divided_by(10),
               constants=DIVISOR, joined=SCALAR, types=above(4)),
    ValueClass("MAX divided by ordinary numbers", QUOTIENT, dividing(1 << 64),
               constants=DIVIDEND, joined=SCALAR_DIVIDEND, types=above(8)),
    *(ValueClass(f"{n} divided by ordinary numbers", QUOTIENT, dividing(n),
                 constants=DIVIDEND, joined=SCALAR_DIVIDEND, types=_up_to(n)) for n in (7, 15, 127, 255, 1000)),
    *(ValueClass(f"every pair of {bits}-bit values with a quotient", QUOTIENT, with_quotient(every_pair),
                 DEFAULT, DEFAULT, constants, types=of_bits(bits)) for bits, constants in ((4, BOTH), (8, ()))),
    # Limits of exact integers in float and double, and of narrower integer types; the former as constants too.
    *(ValueClass(f"numbers next to 2^{k}", QUOTIENT, with_quotient(next_to_power(k)), constants=constants,
                 types=_near(k)) for k, constants in ((24, DIVISOR + BOTH), (31, ()), (32, ()), (53, DIVISOR + BOTH),
                                                      (63, ()))),
    ValueClass("one less than a multiple", QUOTIENT, with_quotient(below_multiples),
               QUICK, DEFAULT, DIVISOR + BOTH, types=above(8)),
    ValueClass("multiples of the divisor", QUOTIENT, with_quotient(multiples), types=above(8)),
    ValueClass("random bit patterns", QUOTIENT, with_quotient(random_pairs(5000)), DEFAULT, DEFAULT, types=above(8)),
    *(ValueClass(f"{count} pairs of random bit patterns", QUOTIENT, with_quotient(random_pairs(count)),
                 FULL, FULL, types=types) for count, types in ((1 << 18, of_bits(16)), (1 << 16, above(16)))),
    ValueClass("zero divisors", BY_ZERO, lambda t: by_zero(edge_values(t).copy()), QUICK, DEFAULT, DIVISOR + BOTH),
    ValueClass("zero divisors beside ordinary numbers", BY_ZERO, beside(lambda t: by_zero(ordinary_dividends(t))),
               DEFAULT, DEFAULT, DIVISOR + BOTH),
    ValueClass("a zero divisor", BY_ZERO, lambda t: (ordinary_dividends(t, 17), scalar(0, t)), joined=SCALAR),
    ValueClass("MIN divided by -1", MINIMUM, minimum(1), QUICK, DEFAULT, BOTH, EQUAL, _signed, _ONE),
    ValueClass("MIN divided by -1", MINIMUM, lambda t: (minimum(1000)(t)[0], scalar(-1, t)),
               constants=DIVISOR, joined=SCALAR, types=_signed),
    ValueClass("MIN divided by -1 beside ordinary numbers", MINIMUM, beside(minimum(1000)),
               DEFAULT, DEFAULT, types=_signed),
    ValueClass("a zero divisor", BY_ZERO, among(_seven_by_zero, 1, 0), constants=None, label=_ONE),
    *_at_each_place("a zero divisor", BY_ZERO, _seven_by_zero, every),
    *_at_each_place("MIN divided by -1", MINIMUM, lambda t: (t.minimum, -1), _signed),
)  # fmt: skip
