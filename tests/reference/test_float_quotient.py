"""Float quotients, compared with a search for the nearest value, and with NumPy."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.test_rounding import form, nearest, sorted_values
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

UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


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
    values = sorted_values(element_type)
    index = fmt.largest + 1 if too_large else nearest(values[a] / values[b], element_type)
    if index > fmt.largest:
        return None if infinity is None else sign | infinity
    return sign | index


def assert_quotients(pairs: list[tuple[int, int]], element_type: ElementType) -> None:
    """Compare the quotients of these encodings with the search."""
    fmt = form(element_type)
    for a, b in pairs:
        expected = expected_quotient(a, b, element_type)
        assert float_quotient(a, b, fmt) == (fmt.nan if expected is None else expected), (hex(a), hex(b))


def assert_as_numpy(pairs: list[tuple[int, int]], element_type: ElementType) -> None:
    """Compare the quotients with NumPy's; all NaNs are equal."""
    fmt = form(element_type)
    a, b = (np.array(x, UNSIGNED[element_type.bits]).view(element_type.numpy) for x in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        theirs = (a / b).view(UNSIGNED[element_type.bits]).tolist()
    for (x, y), their in zip(pairs, theirs, strict=True):
        ours = float_quotient(x, y, fmt)
        assert ours == (fmt.nan if is_nan(their, fmt) else their), (hex(x), hex(y))


class TestCorrectRounding:
    """ONNX Div, floats, and OpenVINO Divide-1, 'any numeric type': IEEE 754 division, ties to even, subnormals kept."""

    @pytest.mark.parametrize("element_type", [FLOAT8E4M3FN, FLOAT8E5M2], ids=str)
    def test_eight_bits_by_search(self, element_type: ElementType) -> None:
        """A third of all pairs; tests/kernels compares every pair with the kernels."""
        assert_quotients(list(itertools.product(range(0, 256, 3), range(256))), element_type)

    @pytest.mark.parametrize("element_type", [FLOAT16, BFLOAT16], ids=str)
    def test_sixteen_bits_by_search(self, element_type: ElementType) -> None:
        draw = random.Random(16)
        drawn = [(draw.getrandbits(16), draw.getrandbits(16)) for _ in range(3000)]
        near_borders = edges(form(element_type))
        grid = itertools.product(near_borders, near_borders)
        assert_quotients([*drawn, *grid], element_type)

    @pytest.mark.parametrize("element_type", [FLOAT, DOUBLE], ids=str)
    def test_edges_as_numpy(self, element_type: ElementType) -> None:
        near_borders = edges(form(element_type))
        assert_as_numpy(list(itertools.product(near_borders, near_borders)), element_type)

    @pytest.mark.parametrize("element_type", [FLOAT, DOUBLE], ids=str)
    @given(st.data())
    def test_any_as_numpy(self, element_type: ElementType, data: st.DataObject) -> None:
        numbers = st.floats(width=32 if element_type is FLOAT else 64)
        a, b = np.array(data.draw(st.tuples(numbers, numbers)), element_type.numpy).view(UNSIGNED[element_type.bits])
        assert_as_numpy([(int(a), int(b))], element_type)


class TestRational:
    """SONNX Div (real): exact quotients, the divisor not zero [C2]."""

    @given(st.fractions(), st.fractions().filter(bool))
    def test_the_quotient_times_the_divisor_is_the_dividend(self, a: Fraction, b: Fraction) -> None:
        assert rational_quotient(a, b) * b == a

    def test_zero_divisor(self) -> None:
        with pytest.raises(ZeroDivisionError, match=r"^1/2 / 0 is undefined over the reals"):
            rational_quotient(Fraction(1, 2), Fraction(0))
