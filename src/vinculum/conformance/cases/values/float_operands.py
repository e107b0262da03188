"""Floating-point operands: the arrays of the classes, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import product

from vinculum.conformance.cases.values.encodings import floats, random_below, random_bits, random_normals
from vinculum.conformance.cases.values.hard_quotients import Pair
from vinculum.conformance.cases.values.value_class import Array, Operands
from vinculum.models.sampling.edge_values import edge_values
from vinculum.reference import elements
from vinculum.reference.rounding import round_to_nearest_even
from vinculum.spec.element_types import BinaryFormat, ElementType


def ordinary_floats(t: ElementType, fmt: BinaryFormat, count: int, what: str = "ordinary numbers") -> Array:
    """Return random normal numbers of ordinary size, the same for the same `what`."""
    reach = min(8, fmt.bias - 2)
    return floats(random_normals(what, t, fmt, fmt.bias - reach, fmt.bias + reach, count), t)


def whole_floats(numbers: Iterable[int], t: ElementType, fmt: BinaryFormat) -> Array:
    """Return whole numbers as floating-point numbers, those that a type cannot hold rounded."""
    return floats((_whole(n, fmt) for n in numbers), t)


@cache
def _whole(number: int, fmt: BinaryFormat) -> int:
    return round_to_nearest_even(Fraction(number), fmt)


def random_pairs(t: ElementType, count: int) -> Operands:
    """Return random encodings by random encodings."""
    dividends, divisors = (random_bits(f"{count} {role}", t, count) for role in ("dividends", "divisors"))
    return floats(dividends, t), floats(divisors, t)


def from_pairs(t: ElementType, make: Callable[[], list[Pair]]) -> Operands:
    """Return operands of the pairs of encodings that `make` gives."""
    dividends, divisors = zip(*make(), strict=True)
    return floats(dividends, t), floats(divisors, t)


def _signed(codes: Iterable[int], fmt: BinaryFormat) -> list[int]:
    return [signed for code in codes for signed in (code, code | fmt.sign_mask)]


def special_codes(fmt: BinaryFormat) -> list[int]:
    """Return the encodings of zeros, infinities, NaN and 1, and of the ends of the subnormal and normal numbers."""
    one = fmt.bias << fmt.trailing_bits
    smallest_normal = 1 << fmt.trailing_bits
    infinity = [fmt.largest + 1] if fmt.infinities else []
    magnitudes = [0, *infinity, one, 1, smallest_normal - 1, smallest_normal, fmt.largest]
    return [*_signed(magnitudes, fmt), fmt.nan, fmt.nan | fmt.sign_mask]


def specials(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return every special number by every other."""
    return _grid(special_codes(fmt), special_codes(fmt), t)


def _grid(dividends: Iterable[int], divisors: Iterable[int], t: ElementType) -> Operands:
    a, b = zip(*product(dividends, divisors), strict=True)
    return floats(a, t), floats(b, t)


def edges(t: ElementType) -> Operands:
    """Return every edge number by every other."""
    codes = elements(edge_values(t), t)
    return _grid(codes, codes, t)


def every_pair(t: ElementType) -> Operands:
    """Return every encoding by every encoding."""
    return _grid(range(1 << t.bits), range(1 << t.bits), t)


def ordinary(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return random dividends and divisors of ordinary size."""
    return ordinary_floats(t, fmt, 1000, "dividends"), ordinary_floats(t, fmt, 1000, "divisors")


def by_number(t: ElementType, fmt: BinaryFormat, divisor: int) -> Operands:
    """Return random dividends of ordinary size, and one whole number as a scalar divisor."""
    return ordinary_floats(t, fmt, 1000, f"dividends of {divisor}"), whole_floats([divisor], t, fmt).reshape(())


def number_by(t: ElementType, fmt: BinaryFormat, dividend: int) -> Operands:
    """Return one whole number as a scalar dividend, and random divisors of ordinary size."""
    return whole_floats([dividend], t, fmt).reshape(()), ordinary_floats(t, fmt, 1000, f"divisors of {dividend}")


def nonzero_codes(t: ElementType, fmt: BinaryFormat, count: int) -> list[int]:
    """Return encodings of finite numbers other than zero: the special ones, then random ones."""
    codes = [*special_codes(fmt), *random_bits("finite numbers", t, count)]
    return [code for code in codes if 0 < code % fmt.sign_mask <= fmt.largest]


def itself(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return finite numbers other than zero, twice."""
    x = floats(nonzero_codes(t, fmt, 1000), t)
    return x, x.copy()


def specials_by_themselves(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return every special number, twice: of some the quotient is not 1."""
    x = floats(special_codes(fmt), t)
    return x, x.copy()


def zero_by_subnormals(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return both zeros by subnormal numbers."""
    return _grid(_signed([0], fmt), subnormal_codes(t, fmt, 30), t)


def zeros(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return both zeros by both zeros."""
    return _grid(_signed([0], fmt), _signed([0], fmt), t)


def subnormal_codes(t: ElementType, fmt: BinaryFormat, count: int) -> list[int]:
    """Return encodings of subnormal numbers of both signs: the smallest, the largest and random ones."""
    largest = (1 << fmt.trailing_bits) - 1
    drawn = random_below(f"subnormals of {t.name}", largest, count)
    return _signed([1, 2, 3, largest, largest - 1, *(1 + code for code in drawn)], fmt)


def subnormal_dividends(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return subnormal dividends, and divisors that leave quotients of every size."""
    dividends = subnormal_codes(t, fmt, 400)
    divisors = random_normals("divisors of subnormals", t, fmt, 1, fmt.bias + 2, len(dividends))
    return floats(dividends, t), floats(divisors, t)


def subnormal_divisors(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return subnormal divisors, whose reciprocals mostly are infinite, and dividends that are small too."""
    divisors = subnormal_codes(t, fmt, 400)
    dividends = random_normals("dividends of subnormals", t, fmt, 1, fmt.bias // 2, len(divisors))
    # Of every third pair both are subnormal, so that their quotient is an ordinary number.
    dividends[::3] = divisors[::-1][::3]
    return floats(dividends, t), floats(divisors, t)


def multiples(t: ElementType, fmt: BinaryFormat) -> Operands:
    """Return whole numbers by their factors, all of them held exactly."""
    limit = 1 << fmt.significand_bits
    pairs = [(k * n, n) for n in range(1, 50) for k in range(1, 40) if k * n <= limit]
    dividends, divisors = zip(*pairs, strict=True)
    return whole_floats(dividends, t, fmt), whole_floats(divisors, t, fmt)
