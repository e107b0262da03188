"""`floor_divide`, `remainder` and `divmod`: compared with rationals, and with NumPy where NumPy is exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor, isfinite
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import assert_same
from tests.kernels.witness import DTYPES, FLOATS, TYPES, crossed, random_encodings, values
from vinculum import (
    AttributeValueError,
    BroadcastError,
    DivisionByZeroError,
    ElementTypeError,
    IntegerOverflowError,
    floor_divide,
    remainder,
)
from vinculum.reference.rounding import round_to_nearest_even

Array = npt.NDArray[Any]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def exact(a: Array, b: Array, name: str) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Return exact floor quotients and remainders of the finite pairs with nonzero divisors, and a mask of these."""
    fmt = TYPES[name].binary_format
    assert fmt is not None
    pairs = [(float(x), float(y)) for x, y in zip(a.ravel(), b.ravel(), strict=True)]
    regular = np.array([isfinite(x) and isfinite(y) and y != 0 for x, y in pairs])
    quotients, remainders = [], []
    for x, y in [pair for pair, is_regular in zip(pairs, regular, strict=True) if is_regular]:
        whole = floor(Fraction(x) / Fraction(y))
        rest = Fraction(x) - whole * Fraction(y)
        negative = (np.copysign(1, x) != np.copysign(1, y)) and x == 0
        quotients.append(round_to_nearest_even(Fraction(whole), fmt, negative_zero=bool(negative)))
        remainders.append(round_to_nearest_even(rest, fmt, negative_zero=y < 0))
    bits = f"u{a.dtype.itemsize}"
    return np.array(quotients, bits).view(a.dtype), np.array(remainders, bits).view(a.dtype), regular


def assert_exact(a: Array, b: Array, name: str) -> None:
    quotients, remainders, regular = exact(a, b, name)
    assert_same(floor_divide(a, b).ravel()[regular], quotients)
    assert_same(remainder(a, b).ravel()[regular], remainders)


class TestFloats:
    """The largest integer that is not above the quotient, rounded once; the remainder has the divisor's sign."""

    @pytest.mark.parametrize("name", FLOATS)
    def test_every_two_values(self, name: str) -> None:
        assert_exact(*crossed(values(name)), name)

    @pytest.mark.parametrize("name", FLOATS)
    def test_random_encodings(self, name: str) -> None:
        assert_exact(random_encodings(name, 3000, 1), random_encodings(name, 3000, 2), name)

    @pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
    def test_next_to_multiples(self, name: str) -> None:
        """Quotients, small and large, that are rounded to an integer from below and from above."""
        rng = np.random.default_rng(3)
        bits = {"float16": 14, "bfloat16": 60, "float32": 90, "float64": 110}[name]
        b = (rng.standard_normal(3000)).astype(DTYPES[name])
        multiples = np.floor(rng.random(3000) * 2.0 ** rng.integers(0, bits, 3000)) * b.astype(np.float64)
        a = multiples.astype(DTYPES[name])
        step = f"i{a.dtype.itemsize}"
        a = (a.view(step) + rng.integers(-1, 2, 3000).astype(step)).view(DTYPES[name])
        assert_exact(a, b, name)

    def test_floors_between_two_doubles(self) -> None:
        """The floor is halfway between two numbers, and the quotient above it: one rounds up, the other to even."""
        rng = np.random.default_rng(4)
        found: list[tuple[float, float]] = []
        for exponent, sign, _ in product(range(53), (1, -1), range(10)):
            # The odd `halfway` of 54 bits is chosen so that the dividend, a little above a multiple, has only 53.
            divisor = 2 * int(rng.integers(2**51, 2**52)) + 1
            above = 2 * int(rng.integers(0, 1 << max(0, 51 - exponent))) + 1
            halfway = -sign * above * pow(divisor, -1, 2**54) % 2**54
            if halfway >= 2**53:
                dividend, rest = divmod(sign * halfway * divisor + above, 2**54)
                assert not rest
                found.append((np.ldexp(float(dividend), 54 + exponent), float(divisor)))
                assert floor(Fraction(found[-1][0]) / divisor) == sign * halfway << exponent
        a, b = np.array(found).T.copy()
        assert_exact(a, b, "float64")
        assert (floor_divide(a, b) != np.floor_divide(a, b)).any()

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_what_is_not_finite_as_numpy_has_it(self, dtype: Any) -> None:
        special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan], dtype)
        a, b = special[:, None], special
        with np.errstate(all="ignore"):
            expected = np.divmod(a, b)
        for found, as_numpy in zip(vinculum.divmod(a, b), expected, strict=True):
            np.testing.assert_array_equal(found, as_numpy, strict=True)
            signs = np.isnan(as_numpy) | (np.signbit(found) == np.signbit(as_numpy))
            assert signs.all()


class TestIntegers:
    """Integers have the quotients and policies of `divide`."""

    @pytest.mark.parametrize("name", INTEGERS)
    def test_as_numpy(self, name: str) -> None:
        a, b = values(name)[:, None], values(name)
        b = b[b != 0]
        with np.errstate(over="ignore"):
            quotients, remainders = np.divmod(a, b)
        found = vinculum.divmod(a, b)
        np.testing.assert_array_equal(found[0], quotients, strict=True)
        np.testing.assert_array_equal(found[1], remainders, strict=True)

    @pytest.mark.parametrize("name", ["int4", "uint4"])
    def test_four_bits(self, name: str) -> None:
        every = np.arange(-8, 8) if name == "int4" else np.arange(16)
        a, b = every[:, None], every[every != 0]
        found = remainder(a.astype(DTYPES[name]), b.astype(DTYPES[name]))
        assert found.dtype == getattr(ml_dtypes, name)
        assert (found.astype(int) == a % b).all()

    def test_policies(self) -> None:
        a, b = np.array([7, -128, 5], "i1"), np.array([0, -1, -2], "i1")
        with pytest.raises(DivisionByZeroError) as zero:
            remainder(a, b)
        assert (zero.value.count, zero.value.first_index) == (1, (0,))
        with pytest.raises(IntegerOverflowError):
            floor_divide(a[1:], b[1:], overflow="raise")
        assert remainder(a, b, zero_divisor="zero").tolist() == [0, 0, -1]
        quotients, rest = vinculum.divmod(a, b, zero_divisor="saturate", overflow="saturate")
        assert quotients.tolist() == [127, 127, -3]
        assert rest.tolist() == [0, 0, -1]
        with pytest.raises(AttributeValueError, match="remainder allows 'raise' and 'zero'"):
            remainder(a, b, zero_divisor="saturate")


class TestOperands:
    """Operands are accepted and refused as by the operators."""

    def test_numbers_and_out(self) -> None:
        a = np.array([7, -7], "i4")
        assert floor_divide(a, 2, out=a) is a
        assert a.tolist() == [3, -4]
        for name in ("i4", "f4"):
            a, b = np.array([7, -7], name), np.array([2, 3], name)
            swapped = [x.astype(x.dtype.newbyteorder()) for x in (a, b)]
            np.testing.assert_array_equal(floor_divide(*swapped), floor_divide(a, b), strict=True)
            np.testing.assert_array_equal(remainder(*swapped), remainder(a, b), strict=True)
        assert remainder(-7.5, np.float32([[2.0], [-2.0]])).tolist() == [[0.5], [-1.5]]  # type: ignore[arg-type]

    def test_refused(self) -> None:
        with pytest.raises(ElementTypeError, match="a is int32 and b float; floor_divide, remainder and divmod take"):
            floor_divide(np.ones(2, "i4"), np.ones(2, "f4"))
        with pytest.raises(ElementTypeError, match=r"b is a list; pass np.asarray\(b, dtype=...\)"):
            remainder(np.ones(2, "i4"), [1, 2])  # type: ignore[call-overload]  # what it is about
        with pytest.raises(BroadcastError, match=r"A of shape \(2,\) and B of shape \(3,\)"):
            remainder(np.ones(2), np.ones(3))
        with pytest.raises(BroadcastError, match=r"out has shape \(3,\)"):
            remainder(np.ones(2), np.ones(2), out=np.ones(3))
