"""Quotients that are hardest to round, constructed from the width of the significand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from vinculum.conformance.cases.values.encodings import random_below, random_normals
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


def next_to_overflow(element_type: ElementType, fmt: BinaryFormat) -> list[Pair]:
    """Return pairs whose quotients are next to the smallest number that rounds to infinity."""
    largest = decode(fmt.largest, fmt).value
    spacing = largest - decode(fmt.largest - 1, fmt).value
    divisors = random_normals("overflow", element_type, fmt, fmt.bias - 12, fmt.bias - 1, 300)
    one = fmt.bias << fmt.trailing_bits
    divisors += [one, one - 1, one - 2, one - 3]
    return around([largest + spacing / 2] * len(divisors), divisors, fmt)


def next_to_underflow(element_type: ElementType, fmt: BinaryFormat) -> list[Pair]:
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
