"""Integer operands: the makers of the classes' arrays, and the pairs that they use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np

from vinculum.conformance.cases.values.encodings import random_below, random_bits, scalar, whole
from vinculum.conformance.cases.values.value_class import Array, Maker, Operands
from vinculum.models.sampling.edge_values import edge_values
from vinculum.reference import elements
from vinculum.spec.element_types import ElementType

Pairs = Iterable[tuple[int, int]]

_MANY = 1000


def with_quotient(pairs: Callable[[ElementType], Pairs]) -> Maker:
    """Return a maker of the pairs that have a quotient in the type, without zero divisors and MIN / -1."""

    def operands(t: ElementType) -> Operands:
        kept = [(a, b) for a, b in dict.fromkeys(pairs(t)) if b and (a, b) != (t.minimum, -1)]
        dividends, divisors = zip(*kept, strict=True)
        return whole(dividends, t), whole(divisors, t)

    return operands


def within(numbers: Iterable[int], t: ElementType) -> list[int]:
    """Return the numbers that are in the type's range, without repetitions."""
    return [n for n in dict.fromkeys(numbers) if t.minimum <= n <= t.maximum]


def by_each(dividends: Iterable[int], divisors: Iterable[int], t: ElementType) -> Pairs:
    """Return every dividend paired with every divisor, as far as they are in the type's range."""
    return ((a, b) for a, b in product(within(dividends, t), within(divisors, t)))


def small(t: ElementType) -> Pairs:
    """Return small numbers of both signs; most of their quotients depend on the rounding direction."""
    return by_each(range(-16, 17), (2, 3, 4, 5, 7, -2, -3, -4, -5, -7), t)


def every_pair(t: ElementType) -> Pairs:
    """Return every pair of values of a narrow type."""
    values = range(t.minimum, t.maximum + 1)
    return by_each(values, values, t)


def edges(t: ElementType) -> Pairs:
    """Return every pair of edge values."""
    numbers = elements(edge_values(t), t)
    return by_each(numbers, numbers, t)


def itself(t: ElementType) -> Pairs:
    """Return edge values and random numbers, each paired with itself."""
    numbers = [*elements(edge_values(t), t), *_whole_range(t, "divided by itself", 500)]
    return ((n, n) for n in numbers)


def zero_by_others(t: ElementType) -> Pairs:
    """Return 0 paired with every edge value."""
    return by_each((0,), elements(edge_values(t), t), t)


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


def ordinary(t: ElementType) -> Operands:
    """Return random dividends and divisors of ordinary size."""
    return ordinary_dividends(t), ordinary_divisors(t)


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


def edges_by_zero(t: ElementType) -> Operands:
    """Return every edge value divided by 0."""
    dividends = edge_values(t).copy()
    return dividends, np.zeros_like(dividends)


def by_zero(t: ElementType) -> Operands:
    """Return random dividends of ordinary size divided by 0."""
    dividends = ordinary_dividends(t)
    return dividends, np.zeros_like(dividends)


def by_one_zero(t: ElementType) -> Operands:
    """Return a few dividends, and 0 as a scalar divisor."""
    return ordinary_dividends(t, 17), scalar(0, t)


def minimum(count: int) -> Maker:
    """Return a maker of `count` divisions of the smallest number by -1."""
    return lambda t: (whole([t.minimum] * count, t), whole([-1] * count, t))


def minimum_by_one(t: ElementType) -> Operands:
    """Return the smallest number a thousand times, and -1 as a scalar divisor."""
    return minimum(1000)(t)[0], scalar(-1, t)


def minimum_at(length: int, index: int) -> Maker:
    """Return a maker of ordinary pairs, the one at an index replaced by the smallest number divided by -1."""
    return lambda t: _with(t, length, index, (t.minimum, -1))


def zero_at(length: int, index: int) -> Maker:
    """Return a maker of ordinary pairs, the divisor at an index replaced by 0."""
    return lambda t: _with(t, length, index, (7, 0))


def _with(t: ElementType, length: int, index: int, pair: tuple[int, int]) -> Operands:
    a, b = ordinary_dividends(t, length), ordinary_divisors(t, length)
    a[index : index + 1], b[index : index + 1] = (whole([number], t) for number in pair)
    return a, b


def beside(pair: Maker) -> Maker:
    """Return a maker of ordinary pairs in which every seventh is replaced by a given pair."""

    def operands(t: ElementType) -> Operands:
        a, b = ordinary(t)
        a[3::7], b[3::7] = (own[3::7] for own in pair(t))
        return a, b

    return operands
