"""Decoding and rounding, compared with the sorted list of a format's values, and with NumPy."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vinculum.reference import elements
from vinculum.reference.rounding import NumberClass, decode, round_to_nearest_even, round_up
from vinculum.spec.element_types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    FLOAT8E4M3FN,
    FLOAT8E5M2,
    FLOAT16,
    BinaryFormat,
    ElementType,
)

NARROW = (FLOAT8E4M3FN, FLOAT8E5M2, FLOAT16, BFLOAT16)


def form(element_type: ElementType) -> BinaryFormat:
    """Return the binary format of a floating-point type."""
    assert element_type.binary_format is not None
    return element_type.binary_format


@cache
def sorted_values(element_type: ElementType) -> list[Fraction]:
    """Return every non-negative number in order, its encoding being its index, and the first one too large.

    Built upward from the spacing alone: 2**trailing_bits steps to an exponent, two such rows at the smallest.
    """
    fmt = form(element_type)
    values = [Fraction(0)]
    spacing = Fraction(2) ** (1 - fmt.bias - fmt.trailing_bits)
    while len(values) <= fmt.largest + 1:
        if len(values) % (1 << fmt.trailing_bits) == 1 and len(values) > 2 << fmt.trailing_bits:
            spacing *= 2
        values.append(values[-1] + spacing)
    return values


def nearest(value: Fraction, element_type: ElementType) -> int:
    """Return the index of the nearest of the sorted values, a tie going to the even index."""
    values = sorted_values(element_type)
    below = min(bisect_right(values, value), len(values) - 1) - 1
    twice, sum_of_both = 2 * value, values[below] + values[below + 1]
    if twice == sum_of_both:
        return below + below % 2
    return below + 1 if twice > sum_of_both else below


def some(encodings: range, element_type: ElementType) -> range:
    """Return every encoding of 8 bits, and every 13th of 16."""
    return encodings if element_type.bits == 8 else encodings[::13]


class TestDecode:
    """IEEE 754 clause 3.4: what an encoding stands for."""

    @pytest.mark.parametrize("element_type", NARROW, ids=str)
    def test_every_encoding_means_what_numpy_says(self, element_type: ElementType) -> None:
        fmt = form(element_type)
        width = {8: np.uint8, 16: np.uint16}[element_type.bits]
        encodings = some(range(2 * fmt.sign_mask), element_type)
        numbers = np.array(encodings).astype(width).view(element_type.numpy)
        with np.errstate(invalid="ignore"):  # signalling NaNs are among the encodings
            expected_values = numbers.astype(np.float64).tolist()
        for bits, expected in zip(encodings, expected_values, strict=True):
            number = decode(bits, fmt)
            assert number.negative == bool(bits & fmt.sign_mask)
            if number.is_finite:
                assert math.ldexp(number.significand, number.exponent) == abs(expected)  # exact, of 11 bits
            else:
                assert math.isinf(expected) == number.is_infinite
                assert math.isnan(expected) == number.is_nan

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_binary64_is_what_python_computes_with(self, x: float) -> None:
        (bits,) = elements(np.array([x]), DOUBLE)
        number = decode(bits, form(DOUBLE))
        assert number.value == Fraction(x)
        assert number.negative == (math.copysign(1, x) < 0)

    @pytest.mark.parametrize("bits", [-1, 1 << 16])
    def test_an_encoding_of_another_width_is_refused(self, bits: int) -> None:
        with pytest.raises(ValueError, match=r"^encoding -?\d+ is not from 0 to 65535; mask it"):
            decode(bits, form(FLOAT16))


class TestRoundTiesToEven:
    """IEEE 754 clause 4.3.1: the nearest number, of two the even one; clause 7.4: overflow."""

    @pytest.mark.parametrize("element_type", NARROW, ids=str)
    def test_around_every_midpoint(self, element_type: ElementType) -> None:
        fmt = form(element_type)
        values = sorted_values(element_type)
        step = 1 if element_type.bits == 8 else 23
        for index in [*range(0, fmt.largest, step), fmt.largest]:
            midpoint = (values[index] + values[index + 1]) / 2
            hair = (values[index + 1] - values[index]) / 1_000_003
            for value in (midpoint - hair, midpoint, midpoint + hair):
                expected = nearest(value, element_type)
                rounded = round_to_nearest_even(value, fmt)
                if expected <= fmt.largest:
                    assert rounded == expected
                    assert round_to_nearest_even(-value, fmt) == expected | fmt.sign_mask
                else:
                    assert decode(rounded, fmt).number_class is (
                        NumberClass.INFINITE if fmt.infinities else NumberClass.NAN
                    )

    @given(st.integers(), st.integers(min_value=1), st.integers(-1100, 1100))
    def test_binary64_agrees_with_python(self, numerator: int, denominator: int, exponent: int) -> None:
        value = Fraction(numerator, denominator) * Fraction(2) ** exponent
        rounded = decode(round_to_nearest_even(value, form(DOUBLE)), form(DOUBLE))
        try:
            expected = float(value)
        except OverflowError:
            assert rounded.is_infinite
            assert rounded.negative == (value < 0)
        else:
            assert rounded.value == Fraction(expected)

    @pytest.mark.parametrize("element_type", [*NARROW, FLOAT, DOUBLE], ids=str)
    def test_half_the_smallest_subnormal_is_zero_and_keeps_its_sign(self, element_type: ElementType) -> None:
        fmt = form(element_type)
        half = decode(1, fmt).value / 2
        assert round_to_nearest_even(half, fmt) == 0
        assert round_to_nearest_even(-half, fmt) == fmt.sign_mask
        assert round_to_nearest_even(half * Fraction(1001, 1000), fmt) == 1

    def test_exact_zero_has_the_sign_that_is_asked_for(self) -> None:
        fmt = form(FLOAT16)
        assert round_to_nearest_even(Fraction(0), fmt) == 0
        assert round_to_nearest_even(Fraction(0), fmt, negative_zero=True) == 0x8000
        assert round_to_nearest_even(Fraction(1), fmt, negative_zero=True) == 0x3C00


class TestRoundUp:
    """Bounds are rounded outward: the smallest binary64 number not below the value."""

    @pytest.mark.parametrize("element_type", [*NARROW, FLOAT, DOUBLE], ids=str)
    @given(st.integers(min_value=0), st.integers(min_value=1), st.integers(-1200, 1200))
    def test_it_is_the_smallest_not_below(
        self, element_type: ElementType, numerator: int, denominator: int, exponent: int
    ) -> None:
        fmt = form(element_type)
        value = Fraction(numerator, denominator) * Fraction(2) ** exponent
        bits = round_up(value, fmt)
        if decode(bits, fmt).is_finite:
            assert decode(bits, fmt).value >= value
        else:
            assert bits == fmt.largest + 1
        if bits > 0:
            assert decode(bits - 1, fmt).value < value

    def test_a_negative_value_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"^-1/2 is negative"):
            round_up(Fraction(-1, 2), form(DOUBLE))
