"""Integer quotients, compared with their definition and with Python's rationals, and policies."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vinculum.errors import AttributeValueError
from vinculum.reference.exact_quotient import floor, integer_quotient, truncating
from vinculum.spec.element_types import ELEMENT_TYPES, INT4, INT64, UINT4, ElementType
from vinculum.spec.model import IntegerRounding

INTEGERS = [t for t in ELEMENT_TYPES if t.is_integer]
SIGNED = [t for t in INTEGERS if t.minimum < 0]
EDGES = st.sampled_from([s * v for s in (1, -1) for k in (0, 1, 7, 31, 53, 63, 64) for v in (2**k - 1, 2**k, 2**k + 1)])
INTS = EDGES | st.integers()
ZERO_DIVISOR, OVERFLOW = ("raise", "zero", "saturate"), ("wrap", "raise", "saturate")
DIVISORS = INTS.filter(lambda b: b != 0)  # the zero divisor has a test of its own


def all_pairs(element_type: ElementType) -> itertools.product[tuple[int, int]]:
    """Return every dividend with every divisor of a type."""
    values = range(element_type.minimum, element_type.maximum + 1)
    return itertools.product(values, values)


class TestTruncating:
    """ONNX Div-6: 'for integer inputs, the result is computed using truncating division'."""

    @given(INTS, DIVISORS)
    @example(-11, 3)
    @example(-(2**63), -1)
    def test_the_remainder_is_smaller_and_has_the_dividends_sign(self, a: int, b: int) -> None:
        remainder = a - b * truncating(a, b)
        assert abs(remainder) < abs(b)
        assert remainder * a >= 0


class TestFloor:
    """OpenVINO Divide-1, m_pythondiv true: floor division."""

    @given(INTS, DIVISORS)
    @example(-11, 3)
    def test_the_remainder_is_smaller_and_has_the_divisors_sign(self, a: int, b: int) -> None:
        remainder = a - b * floor(a, b)
        assert abs(remainder) < abs(b)
        assert remainder * b >= 0


class TestPolicies:
    """The policies zero_divisor and overflow, where the documents are silent."""

    @pytest.mark.parametrize("element_type", [INT4, UINT4], ids=str)
    @pytest.mark.parametrize("rounding", IntegerRounding)
    def test_every_pair_that_needs_no_policy(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        plain = 0
        for a, b in all_pairs(element_type):
            if b == 0 or (a, b) == (-8, -1):
                continue  # the pairs of the tests below
            plain += 1
            exact = Fraction(a, b)
            expected = math.trunc(exact) if rounding is IntegerRounding.TRUNCATING else math.floor(exact)
            for zero_divisor, overflow in itertools.product(ZERO_DIVISOR, OVERFLOW):
                quotient = integer_quotient(a, b, element_type, rounding, zero_divisor, overflow)
                assert quotient == expected
        assert plain == 16 * 15 - (element_type is INT4)

    @pytest.mark.parametrize("element_type", INTEGERS, ids=str)
    @pytest.mark.parametrize("rounding", IntegerRounding)
    def test_zero_divisor(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        low, high = element_type.minimum, element_type.maximum
        for a in (low, 0, 1, high):
            assert integer_quotient(a, 0, element_type, rounding, "zero") == 0
            with pytest.raises(ZeroDivisionError, match=rf"^{a} / 0 in {element_type}; choose zero_divisor="):
                integer_quotient(a, 0, element_type, rounding)
        saturated = [integer_quotient(a, 0, element_type, rounding, "saturate") for a in (1, high, 0, low, low // 8)]
        assert saturated == [high, high, 0, low, low]

    @pytest.mark.parametrize("element_type", SIGNED, ids=str)
    @pytest.mark.parametrize("rounding", IntegerRounding)
    def test_smallest_by_minus_one(self, element_type: ElementType, rounding: IntegerRounding) -> None:
        low, high = element_type.minimum, element_type.maximum
        assert integer_quotient(low, -1, element_type, rounding) == low
        assert integer_quotient(low, -1, element_type, rounding, overflow="saturate") == high
        with pytest.raises(OverflowError, match=rf"^{low} / -1 exceeds the largest {element_type}, {high}; "):
            integer_quotient(low, -1, element_type, rounding, overflow="raise")

    def test_an_unknown_policy_is_refused(self) -> None:
        with pytest.raises(AttributeValueError, match=r"^zero_divisor is 'nan'; allowed: 'raise', 'zero', "):
            integer_quotient(1, 1, INT64, IntegerRounding.FLOOR, "nan")
        with pytest.raises(AttributeValueError, match=r"^overflow is 'zero'; allowed: 'wrap', 'raise', 'saturate'"):
            integer_quotient(1, 1, INT64, IntegerRounding.FLOOR, overflow="zero")
