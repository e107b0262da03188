"""The operands of the probes: few enough for a second, and such that the models disagree on them wherever they can."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum import reference
from vinculum.conformance.generators.values import hard_quotients
from vinculum.conformance.generators.values.encodings import random_bits, random_normals
from vinculum.conformance.generators.values.float_operands import special_codes
from vinculum.spec.element_types import BFLOAT16, FLOAT, FLOAT16, BinaryFormat, ElementType
from vinculum.spec.model import IntegerRounding
from vinculum.tensors.storage import dtype_of

Array = NDArray[Any]

_SMALL = (
    (11, 3), (-11, 3), (11, -3), (-11, -3), (7, 2), (-7, 2), (3, 2), (-3, 2), (5, 2), (5, -2), (1, 2), (-1, 2),
    (9, 5), (8, 5), (100, 7), (127, 4), (0, 5), (0, -5), (1, 1), (-1, 1), (1, -1), (41, 41), (82, 41), (47, 47),
    (49, 49), (98, 49), (103, 103), (107, 107), (-49, 49), (-107, 107), (-98, -49), (120, 3), (121, 11), (255, 5),
    (819, -14), (1008500177, 230), (951696613, -37), (239729171, 11), (22215025, 14),
    (75, 30), (-75, -30), (195, 30), (61427, 122),
)  # fmt: skip
_LARGE = (
    (1 << 15) - 1, (1 << 16) - 1, (1 << 24) + 1, (1 << 24) + 3, (1 << 25) + 3, (1 << 31) - 2, (1 << 31) - 1, 1 << 31,
    (1 << 31) + 5, 3000000019, (1 << 32) - 1, (1 << 32) + 7, (1 << 40) + 3, (1 << 53) + 1, (1 << 53) + 3,
    (1 << 54) + 6, (1 << 62) + 123456789, (1 << 63) - 1, 1 << 63, (1 << 63) + 12345, (1 << 64) - 1,
)  # fmt: skip
_WHOLE = (*((n, n) for n in (41, 47, 49, 55, 61, 83, 97, 103, 107)), (1, 3), (2, 3), (5, 3), (1, 10), (10, 3))
_DIVISORS = (1, 3, -3, 7, 49, 1000003)


@cache
def integer_operands(element_type: ElementType) -> tuple[Array, Array]:
    """Return dividends and divisors of an integer type, on which every model has a quotient."""
    pairs = [*_SMALL]
    for value in _LARGE:
        pairs += [(value, divisor) for divisor in _DIVISORS]
        pairs += [(-value, divisor) for divisor in _DIVISORS]
        pairs += [(value, value), (-value, value), (7, value), (2 * value - 1, value), ((1 << 63) - 1, value)]
    pairs += _any_size(element_type)
    limits = (element_type.minimum, element_type.maximum)
    kept = [pair for pair in pairs if all(limits[0] <= x <= limits[1] for x in pair) and _every_model_divides(*pair)]
    a, b = np.array([[int(x) for x in pair] for pair in kept], object).T
    return a.astype(dtype_of(element_type)), b.astype(dtype_of(element_type))


def _any_size(element_type: ElementType) -> Iterator[tuple[int, int]]:
    """Yield pairs of integers of every size."""
    drawn = (random_bits(f"{role} of any size", element_type, 600) for role in ("dividends", "divisors", "shifts"))
    for *pair, shift in zip(*drawn, strict=True):
        a, b = (_signed(x, element_type.bits) if element_type.minimum else x for x in pair)
        yield a, b >> shift % element_type.bits


def _every_model_divides(a: int, b: int) -> bool:
    """Tell whether neither the operands nor what becomes of them in int32 or as signed are x / 0 or MIN / -1."""
    dividends, divisors = ((_saturated(x), _signed(x, 32), _signed(x, 64), x) for x in (a, b))
    return 0 not in divisors and not (-1 in divisors and {-(1 << 31), -(1 << 63)}.intersection(dividends))


def _saturated(value: int) -> int:
    return max(-(1 << 31), min(value, (1 << 31) - 1))


def _signed(value: int, bits: int) -> int:
    low = value % (1 << bits)
    return low - (1 << bits) if low >> (bits - 1) else low


@cache
def float_operands(element_type: ElementType) -> tuple[Array, Array]:
    """Return dividends and divisors of a floating-point type, of every size; the simplest come first, as examples."""
    form = element_type.binary_format
    assert form is not None
    pairs = [
        *((_integer(n, form), _integer(m, form)) for n, m in _WHOLE),
        *hard_quotients.nearest_to_halfway(element_type, form, 400),
        *_drawn(element_type, form),
        *hard_quotients.subnormal_ties(element_type, form, 40),
        *hard_quotients.next_to_overflow(element_type, form, 10),
        *product(special_codes(form), special_codes(form)),
        *_subnormal(form),
        *_special_when_narrowed(form),
    ]
    a, b = np.array(pairs, f"u{element_type.bits // 8}").T.copy()
    return a.view(dtype_of(element_type)), b.view(dtype_of(element_type))


def _drawn(element_type: ElementType, form: BinaryFormat) -> Iterator[tuple[int, int]]:
    """Yield encodings of pairs near 1, pairs of any encodings, and numbers that are divided by themselves."""
    spread = max(2, form.bias // 4)
    near = [
        random_normals(f"{role} near 1", element_type, form, form.bias - spread, form.bias + spread, 300)
        for role in ("dividends", "divisors")
    ]
    yield from zip(*near, strict=True)
    yield from zip(*(random_bits(f"any {role}", element_type, 300) for role in ("dividends", "divisors")), strict=True)
    yield from ((x, x) for x in near[0][:50])


def _subnormal(form: BinaryFormat) -> list[tuple[int, int]]:
    """Return encodings of pairs with subnormal numbers, and with those next to them."""
    one, two, three, six = (_integer(n, form) for n in (1, 2, 3, 6))
    normal, largest, negative = 1 << form.trailing_bits, form.largest, form.sign_mask
    subnormal = normal - 1
    inside = [(5, one), (subnormal, three), (negative | subnormal, one), (subnormal // 3 * 2, two)]
    both = [(subnormal, subnormal), (6, 2), (normal // 2, 3), (subnormal, 7)]
    divisors = [(normal, subnormal), (normal + 7, 5), (two, subnormal), (0, 3), (negative, 3)]
    quotients = [(normal, two), (normal + 5, three), (normal + 2, negative | six), (three, largest), (one, largest)]
    return [*inside, *both, *divisors, *quotients, (largest // 2 + 3, largest), (largest, three)]


def _special_when_narrowed(form: BinaryFormat) -> list[tuple[int, int]]:
    """Return encodings of pairs that are subnormal in a narrower format, or whose quotient or reciprocal is."""
    pairs: list[tuple[int, int]] = []
    for narrower in (FLOAT, FLOAT16, BFLOAT16):
        other = narrower.binary_format
        assert other is not None
        low = other.smallest_exponent
        if form.bias >= other.bias:
            large = _power(other.bias, form) + (1 << form.trailing_bits - 2)
            pairs.append((large, large))
        if form.smallest_exponent < low:
            tiny, small, large, one = (_power(e, form) + 5 for e in (low - 3, low // 2, -low // 2, 0))
            pairs += [(tiny, one), (tiny, tiny), (one, tiny), (small - 1, large + 3 * (1 << form.trailing_bits))]
    return pairs


def _power(exponent: int, form: BinaryFormat) -> int:
    """Return the encoding of a power of two that is a normal number."""
    return form.bias + exponent << form.trailing_bits


def _integer(value: int, form: BinaryFormat) -> int:
    """Return the encoding of a small integer, rounded down to the format."""
    exponent = value.bit_length() - 1
    significand = value << form.trailing_bits >> exponent
    return (form.bias + exponent - 1 << form.trailing_bits) + significand


@cache
def right_quotients(element_type: ElementType, rounding: IntegerRounding) -> Array:
    """Return the reference's quotients of an element type's probing operands."""
    operands = integer_operands if element_type.is_integer else float_operands
    return reference.divide(*operands(element_type), element_type, rounding=rounding)


@cache
def right_reciprocals(element_type: ElementType) -> Array:
    """Return the reference's reciprocals of a floating-point type's probing divisors."""
    return reference.reciprocal(float_operands(element_type)[1], element_type)
