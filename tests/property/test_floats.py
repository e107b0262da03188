"""Floating-point quotients against rationals: halfway cases, subnormals, the boundaries to zero and to infinity."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vinculum
from tests.kernels.comparing import DTYPES, assert_same, encodings
from tests.property.views import half_as_often
from vinculum import reference
from vinculum.reference.rounding import decode, power_of_two, round_to_nearest_even
from vinculum.spec.element_types import BFLOAT16, DOUBLE, FLOAT, FLOAT16, BinaryFormat, ElementType

Array = npt.NDArray[Any]


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


each_type = pytest.mark.parametrize("element_type", [FLOAT16, BFLOAT16, FLOAT, DOUBLE], ids=str)


def form(element_type: ElementType) -> BinaryFormat:
    """Return the binary format of a floating-point type."""
    assert element_type.binary_format is not None
    return element_type.binary_format


def array(bits: list[int], element_type: ElementType) -> Array:
    """Return an array with these encodings."""
    dtype = DTYPES[element_type.numpy]
    return np.array(bits, f"u{dtype.itemsize}").view(dtype)


def divided(a: Array, b: Array) -> Array:
    """Divide as ONNX's operator and as OpenVINO's, whose attribute must have no effect."""
    quotients = vinculum.div(a, b)
    assert_same(vinculum.divide(a, b), quotients)
    assert_same(vinculum.divide(a, b, m_pythondiv=False), quotients)
    return quotients


@each_type
class TestFloats:
    """The exact quotient rounded once, to nearest with ties to even; subnormals kept; IEEE 754's special values."""

    @half_as_often
    @given(st.data())
    def test_next_to_a_boundary(self, element_type: ElementType, data: st.DataObject) -> None:
        pairs = data.draw(st.lists(near_boundary(form(element_type)), min_size=1, max_size=8))
        a, b = (array([pair[i] for pair in pairs], element_type) for i in (0, 1))
        expected = reference.divide(a, b, element_type)
        assert_same(divided(a, b), expected)
        assert_same(divided(a[:1], b[0]), expected[:1])
        assert_same(divided(a[-1], b[-1:]), expected[-1:])

    def test_exact_ties(self, element_type: ElementType) -> None:
        """Only among subnormal numbers can a quotient be exactly halfway; a reciprocal loses that."""
        fmt = form(element_type)
        limit = 1 << min(fmt.significand_bits, 11)
        pairs = [(m, n) for n in range(1, limit, 2) for m in range(1, -(-limit // n), 2)]
        half = power_of_two(fmt.subnormal_exponent - 1)
        a, b = (
            array([round_to_nearest_even(value, fmt) for value in values], element_type)
            for values in ([m * n * 16 * half for m, n in pairs], [Fraction(16 * n) for _, n in pairs])
        )
        expected = reference.divide(a, b, element_type)
        halfway = [decode(int(bits), fmt).magnitude / half for bits in encodings(expected)]
        assert {abs(doubled - m) for doubled, (m, _) in zip(halfway, pairs, strict=True)} == {1}
        assert {doubled % 4 for doubled in halfway} == {0}
        assert_same(divided(a, b), expected)
        assert_same(divided(a[::-1], b[::-1]), expected[::-1])

    @half_as_often
    @given(st.data())
    def test_laws(self, element_type: ElementType, data: st.DataObject) -> None:
        """x/1 = x; x/x = 1; -x/y = -(x/y): what a reciprocal times the dividend breaks."""
        fmt = form(element_type)
        bits_of_x = data.draw(st.lists(any_encoding(fmt), min_size=1, max_size=20))
        x = array(bits_of_x, element_type)
        one = array([fmt.bias << fmt.trailing_bits], element_type)
        assert_same(divided(x, one), x)
        numbers = [decode(bits, fmt) for bits in bits_of_x]
        finite = x[[number.is_finite and not number.is_zero for number in numbers]]
        assert_same(divided(finite, finite), np.broadcast_to(one, finite.shape))
        negative = array([bits ^ fmt.sign_mask for bits in bits_of_x], element_type)
        signs = np.array(fmt.sign_mask, f"u{x.dtype.itemsize}")
        quotients = divided(x, x[::-1])
        assert_same(divided(negative, x[::-1]), (quotients.view(signs.dtype) ^ signs).view(x.dtype))
