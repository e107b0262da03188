"""Operands with the edges over-weighted: where quotients lie at, or just beside, a boundary of rounding."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from vinculum.reference.rounding import decode, round_to_nearest_even
from vinculum.spec.element_types import BinaryFormat, ElementType


@cache
def integer_edges(element_type: ElementType) -> tuple[int, ...]:
    """Return 0, the limits, the neighbours of every power of two and of its binary64 steps."""
    magnitudes = {0, 3, 5, 7, 10}
    for k in range(element_type.bits + 1):
        magnitudes |= {(1 << k) + d for d in (-3, -2, -1, 0, 1, 2, 3)}
        # Halfway between two neighbouring binary64 numbers, where converting an integer rounds most.
        magnitudes |= {(1 << k) + (1 << k >> 53) + d for d in (-1, 0, 1)}
        magnitudes |= {(1 << k) + 3 * (1 << k >> 53) + d for d in (-1, 0, 1)}
    signed = {sign * m for m in magnitudes for sign in (1, -1)}
    return tuple(sorted(v for v in signed if element_type.minimum <= v <= element_type.maximum))


def integers(element_type: ElementType) -> st.SearchStrategy[int]:
    """Draw an integer of the type: an edge, one of any magnitude, or any."""
    lowest, highest = element_type.minimum, element_type.maximum
    of_any_magnitude = st.builds(lambda v, k: v >> k, st.integers(lowest, highest), st.integers(0, element_type.bits))
    return st.one_of(st.sampled_from(integer_edges(element_type)), of_any_magnitude, st.integers(lowest, highest))


@st.composite
def integer_operands(draw: st.DrawFn, element_type: ElementType) -> tuple[list[int], list[int]]:
    """Draw divisors, and dividends whose quotients by them lie next to an integer."""
    divisors = draw(st.lists(integers(element_type), min_size=1, max_size=2))
    quotients = draw(st.lists(integers(element_type), min_size=1, max_size=2))
    near = [
        q * b + d
        for q in quotients
        for b in divisors
        for d in (0, 1, -1, b - 1, 1 - b, b // 2, element_type.minimum - q * b, element_type.maximum - q * b)
    ]
    # Limited by taking fewer of the divisor: the remainder stays what it was.
    limited = [_within(v, b, element_type) for v in near for b in divisors[:1]]
    return sorted(set(limited + draw(st.lists(integers(element_type), max_size=4)))), divisors


def _within(value: int, divisor: int, element_type: ElementType) -> int:
    """Return a value of the type with the same remainder."""
    lowest, highest = element_type.minimum, element_type.maximum
    if lowest <= value <= highest:
        return value
    step = abs(divisor)
    if not step:
        return min(max(value, lowest), highest)
    limited = highest - (highest - value) % step
    return limited if limited >= lowest else highest


@cache
def float_edges(fmt: BinaryFormat) -> tuple[int, ...]:
    """Return the encodings of the zeros, the limits, the numbers next to powers of two, infinities and NaNs."""
    one = fmt.bias << fmt.trailing_bits
    smallest_normal = 1 << fmt.trailing_bits
    centres = {0, smallest_normal, one, one + smallest_normal, fmt.largest, one + (smallest_normal >> 1), 2 * one}
    unsigned = {c + d for c in centres for d in (-2, -1, 0, 1, 2)} | {fmt.nan, fmt.nan + 1, smallest_normal >> 1}
    return tuple(sorted(u | sign for u in unsigned if 0 <= u < fmt.sign_mask for sign in (0, fmt.sign_mask)))


def any_encoding(fmt: BinaryFormat) -> st.SearchStrategy[int]:
    """Draw an encoding: an edge, a subnormal or nearly, one of few significant bits, or any."""
    subnormal = st.integers(0, 4 << fmt.trailing_bits)
    few_bits = st.builds(
        lambda exponent, k: (exponent << fmt.trailing_bits) | (1 << k >> 1),
        st.integers(0, (1 << fmt.exponent_bits) - 1),
        st.integers(0, fmt.trailing_bits),
    )
    anything = st.integers(0, 2 * fmt.sign_mask - 1)
    return st.one_of(st.sampled_from(float_edges(fmt)), subnormal, few_bits, anything)


@st.composite
def near_boundary(draw: st.DrawFn, fmt: BinaryFormat) -> tuple[int, int]:
    """Draw a dividend and a divisor whose quotient is halfway between two numbers, or as near as the format has."""
    lower = draw(
        st.one_of(
            st.integers(0, 1 << fmt.trailing_bits),  # subnormal, where exact ties are common
            st.integers(0, fmt.largest),
            st.sampled_from([fmt.largest, fmt.largest - 1, 0, 1]),  # the boundary to infinity, and to zero
        )
    )
    # Of few significant bits, so that halfway times it is a number, and the quotient an exact tie.
    few_bits = st.integers(1, 31).map(lambda n: round_to_nearest_even(Fraction(n), fmt))
    divisor = draw(
        st.one_of(
            few_bits,
            st.integers(1, fmt.largest),
            st.sampled_from([u for u in float_edges(fmt) if 0 < u <= fmt.largest]),
        )
    )
    halfway = decode(lower, fmt).value + _step(lower, fmt) / 2
    dividend = round_to_nearest_even(halfway * decode(divisor, fmt).value, fmt)
    dividend = min(max(dividend + draw(st.integers(-1, 1)), 0), fmt.largest)
    signs = draw(st.tuples(st.booleans(), st.booleans()))
    return dividend | signs[0] * fmt.sign_mask, divisor | signs[1] * fmt.sign_mask


def _step(lower: int, fmt: BinaryFormat) -> Fraction:
    """Return the distance to the next number, beyond the largest as if the exponent went on."""
    if lower == fmt.largest:
        return decode(lower, fmt).value - decode(lower - 1, fmt).value
    return decode(lower + 1, fmt).value - decode(lower, fmt).value
