"""Floating-point operands: the makers of the classes' arrays, and the encodings that they use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

from vinculum.conformance.cases.values.encodings import floats, random_below, random_bits, random_normals, scalar, whole
from vinculum.conformance.cases.values.hard_quotients import Pair
from vinculum.conformance.cases.values.value_class import Array, Maker, Operands
from vinculum.models.sampling.edge_values import edge_values
from vinculum.reference import elements
from vinculum.spec.element_types import BinaryFormat, ElementType

Codes = Callable[[ElementType, BinaryFormat], Iterable[int]]
"""Returns encodings of an element type."""

_MANY = 1000


def format_of(t: ElementType) -> BinaryFormat:
    """Return the binary format of a floating-point type."""
    assert t.binary_format is not None
    return t.binary_format


def from_pairs(make: Callable[[ElementType, BinaryFormat], Iterable[Pair]]) -> Maker:
    """Return a maker of operands from pairs of encodings."""

    def operands(t: ElementType) -> Operands:
        dividends, divisors = zip(*make(t, format_of(t)), strict=True)
        return floats(dividends, t), floats(divisors, t)

    return operands


def by_each(dividends: Codes, divisors: Codes) -> Maker:
    """Return a maker of every dividend paired with every divisor."""
    return from_pairs(lambda t, fmt: product(dividends(t, fmt), divisors(t, fmt)))


def by_themselves(codes: Codes) -> Maker:
    """Return a maker of numbers, each paired with itself."""
    return from_pairs(lambda t, fmt: ((code, code) for code in codes(t, fmt)))


def alone(codes: Codes) -> Maker:
    """Return a maker of Reciprocal's one operand."""
    return lambda t: (floats(codes(t, format_of(t)), t),)


def ordinary_floats(t: ElementType, what: str) -> Array:
    """Return random normal numbers of ordinary size; the same `what` gives the same numbers."""
    fmt = format_of(t)
    reach = min(8, fmt.bias - 2)
    return floats(random_normals(what, t, fmt, fmt.bias - reach, fmt.bias + reach, _MANY), t)


def ordinary(t: ElementType) -> Operands:
    """Return random dividends and divisors of ordinary size."""
    return ordinary_floats(t, "dividends"), ordinary_floats(t, "divisors")


def divided_by(number: int) -> Maker:
    """Return a maker of random dividends of ordinary size and one integer as a scalar divisor."""
    return lambda t: (ordinary_floats(t, f"dividends of {number}"), scalar(number, t))


def dividing(number: int) -> Maker:
    """Return a maker of one integer as a scalar dividend and random divisors of ordinary size."""
    return lambda t: (scalar(number, t), ordinary_floats(t, f"divisors of {number}"))


def random_pairs(count: int) -> Maker:
    """Return a maker of random encodings paired with random encodings."""
    return lambda t: tuple(floats(random_bits(f"{count} {role}", t, count), t) for role in ("dividends", "divisors"))


def _signed(codes: Iterable[int], fmt: BinaryFormat) -> list[int]:
    return [signed for code in codes for signed in (code, code | fmt.sign_mask)]


def zeros(_: ElementType, fmt: BinaryFormat) -> list[int]:
    """Return the encodings of both zeros."""
    return _signed([0], fmt)


def special_codes(_: ElementType, fmt: BinaryFormat) -> list[int]:
    """Return the encodings of zeros, infinities, NaN, 1, and the smallest and largest subnormal and normal numbers."""
    one = fmt.bias << fmt.trailing_bits
    smallest_normal = 1 << fmt.trailing_bits
    infinity = [fmt.largest + 1] if fmt.infinities else []
    magnitudes = [0, *infinity, one, 1, smallest_normal - 1, smallest_normal, fmt.largest]
    return [*_signed(magnitudes, fmt), fmt.nan, fmt.nan | fmt.sign_mask]


def edge_codes(t: ElementType, _: BinaryFormat) -> list[int]:
    """Return the encodings of the edge numbers."""
    return elements(edge_values(t), t)


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


def subnormals_divided_by(number: int) -> Maker:
    """Return a maker of subnormal dividends and one integer as a scalar divisor."""
    return lambda t: (floats(subnormal_codes(400)(t, format_of(t)), t), scalar(number, t))


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
    pairs = [(k * n, n) for n in range(1, 50) for k in range(1, 40) if k * n <= limit]
    dividends, divisors = zip(*pairs, strict=True)
    return whole(dividends, t), whole(divisors, t)


def next_to_overflow(_: ElementType, fmt: BinaryFormat) -> list[int]:
    """Return the numbers around 2**-(largest exponent + 1), whose reciprocals are near the limit of overflow."""
    middle = 1 << (fmt.trailing_bits - 2)
    return [signed for code in range(middle - 20, middle + 21) if code > 0 for signed in _signed([code], fmt)]


def with_subnormal_reciprocals(t: ElementType, fmt: BinaryFormat) -> list[int]:
    """Return numbers with the two largest exponents, whose reciprocals are subnormal."""
    largest = fmt.largest >> fmt.trailing_bits
    return random_normals("the largest", t, fmt, largest - 1, largest, 500)
