"""Float quotients: by a search for the nearest value, and against NumPy and ml_dtypes."""

from __future__ import annotations

import itertools
import random
from bisect import bisect_right
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vinculum.reference.exact_quotient import float_quotient, rational_quotient
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

FLOATS = (FLOAT8E4M3FN, FLOAT8E5M2, FLOAT16, BFLOAT16, FLOAT, DOUBLE)
UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def form(element_type: ElementType) -> BinaryFormat:
    """Return the binary format of a floating-point type."""
    assert element_type.binary_format is not None
    return element_type.binary_format


def array(encodings: list[int], element_type: ElementType) -> NDArray[Any]:
    """Return an array of these encodings."""
    return np.array(encodings, dtype=UNSIGNED[element_type.bits]).view(element_type.numpy)


def is_nan(bits: int, fmt: BinaryFormat) -> bool:
    """Return whether an encoding lies in the NaNs' range: beyond infinity, or beyond the largest number."""
    return bits % fmt.sign_mask > fmt.largest + fmt.infinities


def edges(fmt: BinaryFormat) -> list[int]:
    """Return the encodings next to every border of a format, with both signs."""
    one, infinity = fmt.bias << fmt.trailing_bits, fmt.largest + 1
    smallest_normal = 1 << fmt.trailing_bits
    borders = (0, smallest_normal, one, 2 * smallest_normal, infinity, fmt.nan)
    near = {b + d for b in borders for d in (-2, -1, 0, 1, 2)} | {fmt.sign_mask - 1}
    positive = [bits for bits in sorted(near) if 0 <= bits < fmt.sign_mask]
    return [*positive, *(bits | fmt.sign_mask for bits in positive)]


@cache
def units(element_type: ElementType) -> list[int]:
    """Return every finite magnitude, and the first beyond, in units of the smallest subnormal."""
    fmt = form(element_type)
    magnitudes = array(list(range(fmt.largest + 1)), element_type).astype(np.float64).tolist()
    finite = [int(Fraction(m) / Fraction(magnitudes[1])) for m in magnitudes]
    return [*finite, 2 * finite[-1] - finite[-2]]


def nearest_quotient(a: int, b: int, element_type: ElementType) -> int:
    """Return the index of the value nearest to a / b, both finite and given without sign, b not 0.

    Units cancel in a / b, so that one smallest subnormal is as many quotients as there are units in 1.
    """
    values = units(element_type)
    fmt = form(element_type)
    numerator, denominator = values[a] * values[fmt.bias << fmt.trailing_bits], values[b]
    below = min(bisect_right(values, numerator // denominator), len(values) - 1) - 1
    difference = 2 * numerator - (values[below] + values[below + 1]) * denominator
    return below + (below % 2 if difference == 0 else difference > 0)


def expected_quotient(a: int, b: int, element_type: ElementType) -> int | None:
    """Return the quotient's encoding by the table of special cases and the search; None for NaN."""
    fmt = form(element_type)
    sign = (a ^ b) & fmt.sign_mask
    a, b = a % fmt.sign_mask, b % fmt.sign_mask
    infinity = fmt.largest + 1 if fmt.infinities else None
    if is_nan(a, fmt) or is_nan(b, fmt) or (a == b and a in (0, infinity)):
        return None
    if b == infinity:
        return sign
    too_large = a == infinity or b == 0
    index = fmt.largest + 1 if too_large else nearest_quotient(a, b, element_type)
    if index > fmt.largest:
        return None if infinity is None else sign | infinity
    return sign | index


@cache
def quotient(a: int, b: int, element_type: ElementType) -> int:
    """Return the quotient under test, which some tests hold against more than one expectation."""
    return float_quotient(a, b, form(element_type))


def assert_quotients(pairs: list[tuple[int, int]], element_type: ElementType) -> None:
    """Hold the quotients of these encodings against the search."""
    fmt = form(element_type)
    for a, b in pairs:
        expected = expected_quotient(a, b, element_type)
        assert quotient(a, b, element_type) == (fmt.nan if expected is None else expected), (hex(a), hex(b))


def assert_as_numpy(pairs: list[tuple[int, int]], element_type: ElementType) -> None:
    """Hold the quotients against NumPy's own division; of NaN neither sign nor payload."""
    fmt = form(element_type)
    a, b = (array(list(operand), element_type) for operand in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        theirs = (a / b).view(UNSIGNED[element_type.bits]).tolist()
    for (x, y), their in zip(pairs, theirs, strict=True):
        ours = quotient(x, y, element_type)
        assert ours == (fmt.nan if is_nan(their, fmt) else their), (hex(x), hex(y))


class TestEveryPair:
    """OpenVINO Divide-1, 'any numeric type': the two 8-bit formats; every pair, and a third of them by a search."""

    @pytest.mark.parametrize("element_type", [FLOAT8E4M3FN, FLOAT8E5M2], ids=str)
    def test_by_search(self, element_type: ElementType) -> None:
        assert_quotients(list(itertools.product(range(0, 256, 3), range(256))), element_type)

    @pytest.mark.parametrize("element_type", [FLOAT8E4M3FN, FLOAT8E5M2], ids=str)
    def test_as_ml_dtypes(self, element_type: ElementType) -> None:
        assert_as_numpy(list(itertools.product(range(256), range(256))), element_type)


class TestCorrectRounding:
    """ONNX Div, floats: IEEE 754 division, correctly rounded, ties to even, subnormals kept."""

    @pytest.mark.parametrize("element_type", [FLOAT16, BFLOAT16], ids=str)
    def test_sixteen_bits_by_search(self, element_type: ElementType) -> None:
        draw = random.Random(16)
        drawn = [(draw.getrandbits(16), draw.getrandbits(16)) for _ in range(3000)]
        near_borders = edges(form(element_type))
        grid = itertools.product(near_borders, near_borders)
        assert_quotients([*drawn, *grid], element_type)

    @pytest.mark.parametrize("element_type", [FLOAT16, BFLOAT16, FLOAT, DOUBLE], ids=str)
    def test_edges_as_numpy(self, element_type: ElementType) -> None:
        near_borders = edges(form(element_type))
        assert_as_numpy(list(itertools.product(near_borders, near_borders)), element_type)

    @given(st.tuples(st.floats(width=32), st.floats(width=32)))
    @example((1.401298464324817e-45, 2.0))
    @example((3.4028234663852886e38, 0.9999999403953552))
    def test_float_as_numpy(self, operands: tuple[float, float]) -> None:
        a, b = np.array(operands, dtype=np.float32).view(np.uint32).tolist()
        assert_as_numpy([(a, b)], FLOAT)

    @given(st.tuples(st.floats(), st.floats()))
    @example((5e-324, 2.0))
    @example((1.7976931348623157e308, 0.9999999999999999))
    def test_double_as_numpy(self, operands: tuple[float, float]) -> None:
        a, b = np.array(operands).view(np.uint64).tolist()
        assert_as_numpy([(a, b)], DOUBLE)


class TestRational:
    """SONNX Div (real): exact quotients, the divisor not zero [C2]."""

    @given(st.fractions(), st.fractions().filter(lambda b: b != 0))  # [C2]; zero has its own test
    def test_the_quotient_times_the_divisor_is_the_dividend(self, a: Fraction, b: Fraction) -> None:
        assert rational_quotient(a, b) * b == a

    def test_zero_divisor(self) -> None:
        with pytest.raises(ZeroDivisionError, match=r"^1/2 / 0 is undefined over the reals"):
            rational_quotient(Fraction(1, 2), Fraction(0))
