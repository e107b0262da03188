"""The classes of floating-point operands, for divisions and for Reciprocal, and the numbers in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

from vinculum.conformance.cases.case import Level, Subject
from vinculum.conformance.cases.operation import BOTH, DIVIDEND, DIVISOR, FOLDED
from vinculum.conformance.cases.values import (
    Array,
    Joined,
    Maker,
    Operands,
    ValueClass,
    above,
    floats,
    of_bits,
    paired,
    random_below,
    random_bits,
    random_normals,
    scalar,
    whole,
)
from vinculum.models.sampling.edge_values import edge_values
from vinculum.reference import elements
from vinculum.reference.rounding import decode, power_of_two, round_to_nearest_even
from vinculum.spec.element_types import BinaryFormat, ElementType

Pair = tuple[int, int]


def nearest_to_halfway(element_type: ElementType, fmt: BinaryFormat, count: int) -> list[Pair]:
    """Return pairs of encodings whose quotients are as near as possible to the midpoint between two numbers.

    With p-bit significands x and y and an odd M of p + 1 bits, M y + d = 2**p x for d = 1 or -1 puts x / y beside
    M / 2**p, which is the midpoint between two numbers. For every odd y one M solves that modulo 2**p.
    """
    significands = list(_significands(element_type, fmt, count))
    what = f"exponents of hard quotients of {element_type.name}"
    largest = fmt.largest >> fmt.trailing_bits
    exponents = random_below(what, largest, 2 * count)
    signs = random_below(f"signs, {what}", 4, count)
    pairs = []
    for i, (x, y) in enumerate(significands):
        # Both operands of every other pair are between 1 and 2; the quotients of the rest must stay normal numbers.
        biased_y = 1 + exponents[2 * i] if i % 2 else fmt.bias
        biased_x = 1 + exponents[2 * i + 1] if i % 2 else fmt.bias
        if not 1 < fmt.bias + biased_x - biased_y < largest:
            biased_x = biased_y
        sign_x, sign_y = divmod(signs[i], 2)
        pairs.append((_code(x, biased_x, sign_x, fmt), _code(y, biased_y, sign_y, fmt)))
    return pairs


def _significands(element_type: ElementType, fmt: BinaryFormat, count: int) -> Iterator[Pair]:
    p = fmt.significand_bits
    half = 1 << (p - 1)
    found = 0
    for i, drawn in enumerate(random_below(f"significands of hard quotients of {element_type.name}", half, 8 * count)):
        y, d = half + drawn | 1, 1 if i % 2 else -1
        m = -d * pow(y, -1, 1 << p) % (1 << p) + (1 << p)
        x = (m * y + d) >> p
        if half <= x < 1 << p and found < count:
            found += 1
            yield x, y


def _code(significand: int, biased: int, sign: int, fmt: BinaryFormat) -> int:
    return (biased << fmt.trailing_bits) + significand - (1 << fmt.trailing_bits) | sign * fmt.sign_mask


def hard_reciprocals(fmt: BinaryFormat, count: int) -> list[int]:
    """Return encodings of numbers, some negative, whose reciprocals are close to the midpoint between two numbers.

    1 / (2**p - j) is 2**-p (1 + j 2**-p + j**2 2**-2p + ...): for an odd j the sum of the first two terms is a
    midpoint, and the third term puts the reciprocal just above it.
    """
    odd = range(1, min(2 * count, 1 << (fmt.trailing_bits // 2 + 2)), 2)
    return [
        _code((1 << fmt.significand_bits) - j, biased, j // 2 % 2, fmt)
        for j in odd
        for biased in (3, fmt.bias - 1, fmt.bias, fmt.bias + 3, 2 * fmt.bias - 4)
    ]


def around(targets: Iterable[Fraction], divisors: Iterable[int], fmt: BinaryFormat) -> list[Pair]:
    """Return pairs of encodings whose quotients are next to the targets.

    The dividends of each pair are the number nearest to target x divisor and its two neighbours, as far as they are
    positive and finite. With a negative divisor the quotient is negative.
    """
    pairs = []
    for target, divisor in zip(targets, divisors, strict=True):
        nearest = round_to_nearest_even(target * decode(divisor, fmt).magnitude, fmt)
        pairs += [(code, divisor) for code in (nearest - 1, nearest, nearest + 1) if 0 < code <= fmt.largest]
    return pairs


def quotients_next_to_overflow(element_type: ElementType, fmt: BinaryFormat) -> list[Pair]:
    """Return pairs whose quotients are next to the smallest number that rounds to infinity."""
    largest = decode(fmt.largest, fmt).value
    spacing = largest - decode(fmt.largest - 1, fmt).value
    divisors = random_normals("overflow", element_type, fmt, fmt.bias - 12, fmt.bias - 1, 300)
    one = fmt.bias << fmt.trailing_bits
    divisors += [one, one - 1, one - 2, one - 3]
    return around([largest + spacing / 2] * len(divisors), divisors, fmt)


def quotients_next_to_underflow(element_type: ElementType, fmt: BinaryFormat) -> list[Pair]:
    """Return pairs whose quotients are next to half the smallest subnormal, which rounds to zero."""
    target = power_of_two(fmt.subnormal_exponent - 1)
    least = fmt.bias + fmt.significand_bits + 1
    divisors = random_normals("underflow", element_type, fmt, least, least + 11, 200)
    divisors += [biased << fmt.trailing_bits for biased in range(fmt.bias + 1, (fmt.largest >> fmt.trailing_bits) + 1)]
    return around([target] * len(divisors), divisors, fmt)


def subnormal_ties(element_type: ElementType, fmt: BinaryFormat) -> list[Pair]:
    """Return pairs whose quotients are exactly at or next to the midpoint between two subnormal numbers."""
    halves = random_below(f"subnormal ties of {element_type.name}", 1 << fmt.trailing_bits, 200)
    halves += [0, 1, 2, (1 << fmt.trailing_bits) - 2, (1 << fmt.trailing_bits) - 1]
    targets = [(2 * half + 1) * power_of_two(fmt.subnormal_exponent - 1) for half in halves]
    powers = [fmt.bias + 1 + i % (fmt.significand_bits + 1) << fmt.trailing_bits for i in range(len(halves))]
    others = random_normals("subnormal ties", element_type, fmt, fmt.bias + 1, fmt.bias + 8, len(halves))
    return around(targets, powers, fmt) + around(targets, others, fmt) + _ties_of_odd_divisors(fmt)


def _ties_of_odd_divisors(fmt: BinaryFormat) -> list[Pair]:
    """Return pairs whose quotients are ties, which multiplying by the reciprocal misses even in a wider format."""
    odd = range(3, min(1 << fmt.significand_bits, 128), 2)
    divisors = [round_to_nearest_even(Fraction(2 * n), fmt) for n in odd]
    halves = [(1 if i % 2 else 3) * power_of_two(fmt.subnormal_exponent - 1) for i in range(len(odd))]
    return around(halves, divisors, fmt)


def _signed(codes: Iterable[int], fmt: BinaryFormat) -> list[int]:
    return [signed for code in codes for signed in (code, code | fmt.sign_mask)]


Codes = Callable[[ElementType, BinaryFormat], Iterable[int]]
"""Returns encodings of an element type."""

_MANY = 1000


def format_of(t: ElementType) -> BinaryFormat:
    """Return the binary format of a floating-point type."""
    assert t.binary_format is not None
    return t.binary_format


def from_pairs(make: Callable[[ElementType, BinaryFormat], Iterable[Pair]]) -> Maker:
    """Return a maker of operands from pairs of encodings."""
    return lambda t: paired(make(t, format_of(t)), lambda codes: floats(codes, t))


def by_each(dividends: Codes, divisors: Codes) -> Maker:
    """Return a maker of every dividend paired with every divisor."""
    return from_pairs(lambda t, fmt: product(dividends(t, fmt), divisors(t, fmt)))


def by_themselves(codes: Codes) -> Maker:
    """Return a maker of numbers, each paired with itself."""
    return from_pairs(lambda t, fmt: ((code, code) for code in codes(t, fmt)))


def ordinary_floats(t: ElementType, what: str) -> Array:
    """Return random normal numbers of ordinary size; the same `what` gives the same numbers."""
    fmt = format_of(t)
    reach = min(8, fmt.bias - 2)
    return floats(random_normals(what, t, fmt, fmt.bias - reach, fmt.bias + reach, _MANY), t)


def divided_by(number: int) -> Maker:
    """Return a maker of random dividends of ordinary size and one integer as a scalar divisor."""
    return lambda t: (ordinary_floats(t, f"dividends of {number}"), scalar(number, t))


def dividing(number: int) -> Maker:
    """Return a maker of one integer as a scalar dividend and random divisors of ordinary size."""
    return lambda t: (scalar(number, t), ordinary_floats(t, f"divisors of {number}"))


def random_pairs(count: int) -> Maker:
    """Return a maker of random encodings paired with random encodings."""
    return lambda t: tuple(floats(random_bits(f"{count} {role}", t, count), t) for role in ("dividends", "divisors"))


def special_codes(_: ElementType, fmt: BinaryFormat) -> list[int]:
    """Return the encodings of zeros, infinities, NaN, 1, and the smallest and largest subnormal and normal numbers."""
    one = fmt.bias << fmt.trailing_bits
    smallest_normal = 1 << fmt.trailing_bits
    infinity = [fmt.largest + 1] if fmt.infinities else []
    magnitudes = [0, *infinity, one, 1, smallest_normal - 1, smallest_normal, fmt.largest]
    return [*_signed(magnitudes, fmt), fmt.nan, fmt.nan | fmt.sign_mask]


def every_code(t: ElementType, _: BinaryFormat) -> range:
    """Return every encoding."""
    return range(1 << t.bits)


def nonzero_codes(t: ElementType, fmt: BinaryFormat) -> list[int]:
    """Return encodings of finite numbers other than zero: the special ones, then random ones."""
    codes = [*special_codes(t, fmt), *random_bits("finite numbers", t, 1000)]
    return [code for code in codes if 0 < code % fmt.sign_mask <= fmt.largest]


def subnormal_codes(count: int) -> Codes:
    """Return a function that gives subnormal numbers of both signs: the smallest, the largest and random ones."""

    def codes(t: ElementType, fmt: BinaryFormat) -> list[int]:
        largest = (1 << fmt.trailing_bits) - 1
        drawn = random_below(f"subnormals of {t.name}", largest, count)
        return _signed([1, 2, 3, largest, largest - 1, *(1 + code for code in drawn)], fmt)

    return codes


def subnormal_dividends(t: ElementType, fmt: BinaryFormat) -> Iterable[Pair]:
    """Return subnormal dividends, with divisors that give quotients of every size."""
    dividends = [*subnormal_codes(400)(t, fmt)]
    divisors = random_normals("divisors of subnormals", t, fmt, 1, fmt.bias + 2, len(dividends))
    return zip(dividends, divisors, strict=True)


def subnormal_divisors(t: ElementType, fmt: BinaryFormat) -> Iterable[Pair]:
    """Return subnormal divisors, most of whose reciprocals are infinite, with dividends that are small too."""
    divisors = [*subnormal_codes(400)(t, fmt)]
    dividends = random_normals("dividends of subnormals", t, fmt, 1, fmt.bias // 2, len(divisors))
    # In every third pair both are subnormal, so that their quotient is an ordinary number.
    dividends[::3] = divisors[::-1][::3]
    return zip(dividends, divisors, strict=True)


def multiples(t: ElementType) -> Operands:
    """Return integers paired with their factors, all of them exact in the type."""
    limit = 1 << format_of(t).significand_bits
    pairs = ((k * n, n) for n in range(1, 50) for k in range(1, 40) if k * n <= limit)
    return paired(pairs, lambda numbers: whole(numbers, t))


def next_to_overflow(_: ElementType, fmt: BinaryFormat) -> list[int]:
    """Return the numbers around 2**-(largest exponent + 1), whose reciprocals are near the limit of overflow."""
    middle = 1 << (fmt.trailing_bits - 2)
    return [signed for code in range(middle - 20, middle + 21) if code > 0 for signed in _signed([code], fmt)]


QUICK, DEFAULT, FULL = Level
QUOTIENT, ORDINARY, SPECIAL, DISCARDED = Subject.QUOTIENT, Subject.ORDINARY, Subject.SPECIAL, Subject.DISCARDED
BY_ZERO, TOO_LARGE = Subject.ZERO_BY_ZERO, Subject.TOO_LARGE
SCALAR, SCALAR_DIVIDEND, EQUAL = Joined.SCALAR_DIVISOR, Joined.SCALAR_DIVIDEND, Joined.EQUAL
_PAIRS, _HALF_PAIRS = 1 << 15, 1 << 18  # More for 16-bit formats.


def _zeros(_: ElementType, fmt: BinaryFormat) -> list[int]:
    return _signed([0], fmt)


def _edges(t: ElementType, _: BinaryFormat) -> list[int]:
    return elements(edge_values(t), t)


# Scenario, subject, operands; level for the newest version, level for older ones; placements with constants.
DIVISIONS = (
    ValueClass("ordinary numbers", ORDINARY,
               lambda t: (ordinary_floats(t, "dividends"), ordinary_floats(t, "divisors")), QUICK, DEFAULT, FOLDED),
    ValueClass("x divided by itself", QUOTIENT, by_themselves(nonzero_codes), QUICK, DEFAULT, DIVISOR),
    ValueClass("whole numbers divided by their factors", QUOTIENT, multiples, constants=DIVISOR),
    ValueClass("ordinary numbers divided by 3", QUOTIENT, divided_by(3), QUICK, DEFAULT, DIVISOR, SCALAR),
    ValueClass("ordinary numbers divided by 10", QUOTIENT, divided_by(10), constants=DIVISOR + BOTH, joined=SCALAR),
    *(ValueClass(f"ordinary numbers divided by {n}", QUOTIENT, divided_by(n), constants=DIVISOR, joined=SCALAR)
      for n in (1, -4, -7)),
    *(ValueClass(f"{n} divided by ordinary numbers", QUOTIENT, dividing(n), constants=DIVIDEND, joined=SCALAR_DIVIDEND)
      for n in (1, 3)),
    ValueClass("zeros, infinities and NaN", SPECIAL, by_each(special_codes, special_codes),
               QUICK, QUICK, DIVISOR + BOTH),
    ValueClass("zeros, infinities and NaN divided by themselves", SPECIAL, by_themselves(special_codes),
               constants=BOTH),
    ValueClass("zero divided by subnormals", SPECIAL, by_each(_zeros, subnormal_codes(30)), QUICK, DEFAULT, DIVISOR),
    ValueClass("zero divided by zero", BY_ZERO, by_each(_zeros, _zeros)),
    ValueClass("edge numbers by each other", SPECIAL, by_each(_edges, _edges), constants=BOTH),
    ValueClass("subnormal dividends", QUOTIENT, from_pairs(subnormal_dividends)),
    # Finds runtimes that flush subnormal numbers only where one divisor serves all dividends.
    ValueClass("subnormal dividends divided by 3", QUOTIENT,
               lambda t: (floats(subnormal_codes(400)(t, format_of(t)), t), scalar(3, t)),
               constants=DIVISOR, joined=SCALAR),
    ValueClass("subnormal divisors", QUOTIENT, from_pairs(subnormal_divisors), constants=DIVISOR),
    ValueClass("quotients next to overflow", TOO_LARGE, from_pairs(quotients_next_to_overflow), QUICK, DEFAULT, BOTH),
    ValueClass("quotients next to underflow", QUOTIENT, from_pairs(quotients_next_to_underflow), constants=BOTH),
    ValueClass("subnormal quotients at and next to ties", QUOTIENT, from_pairs(subnormal_ties), QUICK, DEFAULT, BOTH),
    ValueClass("every pair of 8-bit values", QUOTIENT, by_each(every_code, every_code),
               DEFAULT, DEFAULT, types=of_bits(8)),
    ValueClass("quotients hard to round", DISCARDED, from_pairs(partial(nearest_to_halfway, count=1000)),
               QUICK, QUICK, FOLDED, types=above(8)),
    ValueClass("10000 quotients hard to round", DISCARDED, from_pairs(partial(nearest_to_halfway, count=10_000)),
               FULL, FULL, types=above(8)),
    ValueClass("random bit patterns", QUOTIENT, random_pairs(5000), DEFAULT, DEFAULT, types=above(8)),
    *(ValueClass(f"{n} pairs of random bit patterns", QUOTIENT, random_pairs(n), FULL, FULL, types=types)
      for n, types in ((_HALF_PAIRS, of_bits(16)), (_PAIRS, above(16)))),
)  # fmt: skip


def _reciprocals(tried: str, codes: Codes, level: Level = DEFAULT, subject: Subject = QUOTIENT) -> ValueClass:
    return ValueClass(tried, subject, lambda t: (floats(codes(t, format_of(t)), t),), level, level, BOTH)


RECIPROCALS = (
    _reciprocals("zeros, infinities and NaN", special_codes, QUICK, SPECIAL),
    ValueClass("ordinary numbers", ORDINARY, lambda t: (ordinary_floats(t, "operands of Reciprocal"),),
               QUICK, QUICK, BOTH),
    _reciprocals("reciprocals hard to round", lambda _, fmt: hard_reciprocals(fmt, 300), QUICK),
    _reciprocals("edge numbers", _edges, subject=SPECIAL),
    _reciprocals("subnormal numbers", subnormal_codes(500)),
    # The two largest exponents.
    _reciprocals("subnormal reciprocals", lambda t, fmt: random_normals(
        "the largest", t, fmt, (fmt.largest >> fmt.trailing_bits) - 1, fmt.largest >> fmt.trailing_bits, 500)),
    _reciprocals("reciprocals next to overflow", next_to_overflow, subject=TOO_LARGE),
    ValueClass("the whole numbers to 1000", QUOTIENT, lambda t: (whole(range(1, 1001), t),), constants=BOTH),
    _reciprocals("random bit patterns", lambda t, _: random_bits("random bit patterns", t, 3000)),
    replace(_reciprocals("every 16-bit value", every_code, FULL), constants=(), types=of_bits(16)),
    replace(_reciprocals(f"{_PAIRS} random bit patterns",
                         lambda t, _: random_bits("many random bit patterns", t, _PAIRS), FULL),
            constants=(), types=above(16)),
)  # fmt: skip
