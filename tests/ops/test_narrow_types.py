"""int4, uint4, float8e4m3fn and float8e5m2 through `divide`: every pair, against arithmetic that shares no code.

The engine looks quotients up in tables that the exact reference wrote, so the reference is no judge here: integers
are held against Python's own, floats against binary64 division, whose 53 bits leave the second rounding, of at most
4, without effect.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from vinculum import DivisionByZeroError, IntegerOverflowError, Operator, divide

Array = np.ndarray[Any, Any]
NARROW = {"int4": range(-8, 8), "uint4": range(16)}
FLOATS = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


def pairs(name: str) -> tuple[list[int], list[int], Array, Array]:
    """Return every dividend beside every divisor, as Python's integers and as arrays."""
    values = NARROW[name]
    a, b = [x for x in values for _ in values], [y for _ in values for y in values]
    dtype = np.dtype(getattr(ml_dtypes, name))
    return a, b, np.array(a).astype(dtype), np.array(b).astype(dtype)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.clause("Divide-1", "any-numeric-type")
class TestIntegers:
    """Both roundings and every policy, for all 256 pairs."""

    @pytest.mark.parametrize("floor", [True, False])
    @pytest.mark.parametrize("zero_divisor", ["zero", "saturate"])
    @pytest.mark.parametrize("overflow", ["wrap", "saturate"])
    def test_every_pair(self, name: str, floor: bool, zero_divisor: Any, overflow: Any) -> None:
        smallest, largest = NARROW[name][0], NARROW[name][-1]

        def quotient(a: int, b: int) -> int:
            if b == 0:
                return 0 if zero_divisor == "zero" or a == 0 else largest if a > 0 else smallest
            exact = a // b if floor or (a < 0) == (b < 0) else -(-a // b)
            return exact if exact <= largest else largest if overflow == "saturate" else smallest

        values_a, values_b, a, b = pairs(name)
        quotients = divide(a, b, m_pythondiv=floor, zero_divisor=zero_divisor, overflow=overflow)
        assert quotients.dtype == a.dtype
        assert quotients.astype(int).tolist() == list(map(quotient, values_a, values_b))

    def test_what_raises(self, name: str) -> None:
        values_a, values_b, a, b = pairs(name)
        with pytest.raises(DivisionByZeroError) as zero:
            divide(a, b)
        assert (zero.value.count, zero.value.first_index) == (16, (values_b.index(0),))
        if name == "int4":
            with pytest.raises(IntegerOverflowError) as overflow:
                divide(a, b, zero_divisor="zero", overflow="raise")
            place = list(zip(values_a, values_b, strict=True)).index((-8, -1))
            assert (overflow.value.count, overflow.value.first_index) == (1, (place,))

    def test_the_upper_half_of_a_byte_means_nothing(self, name: str) -> None:
        """One element a byte: what the other four bits hold changes no result."""
        _, _, a, b = pairs(name)
        clean = divide(a, b, zero_divisor="zero")
        for noise in (0x00, 0x50, 0xF0):
            dirty_a, dirty_b = ((x.view("u1") & 0x0F | noise).astype("u1").view(x.dtype) for x in (a, b))
            assert divide(dirty_a, dirty_b, zero_divisor="zero").astype(int).tolist() == clean.astype(int).tolist()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.clause("Divide-1", "any-numeric-type", "f8e4m3-without-infinity")
class TestFloats:
    """All 65,536 pairs of each 8-bit float."""

    def test_every_pair(self, dtype: Any) -> None:
        every = np.arange(256).astype("u1").view(dtype)
        a, b = every[:, None], every[None, :]
        with np.errstate(all="ignore"):  # zeros, NaNs and overflow are the point
            exact = a.astype("f8") / b.astype("f8")
            expected = exact.astype(dtype)
        if dtype is ml_dtypes.float8_e4m3fn:
            expected[np.isinf(exact)] = np.nan
        quotients = divide(a, b)
        assert quotients.dtype == dtype
        nan = np.isnan(expected.astype("f4"))
        assert np.array_equal(np.isnan(quotients.astype("f4")), nan)
        assert np.array_equal(quotients.view("u1")[~nan], expected.view("u1")[~nan])


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4, *FLOATS])
class TestLayouts:
    """Broadcasting, views and `out` are those of every other type."""

    def test_views_and_out(self, dtype: Any) -> None:
        a, b = (np.array(x).astype(dtype) for x in ([[1, 2, 3], [4, 5, 6]], [1, 2, 1, 3]))
        expected = [[1, 1, 3], [4, 2, 6]] if np.dtype(dtype).name.endswith("int4") else [[1, 1, 3], [4, 2.5, 6]]
        out = np.empty((3, 2), dtype).T
        result = divide(np.asfortranarray(a), b[2::-1], out=out)
        assert result is out
        assert out.astype("f4").tolist() == expected
        assert divide(a, b[2::-1], out=a) is a
        assert a.astype("f4").tolist() == expected

    def test_empty_and_rank_0(self, dtype: Any) -> None:
        zero, six, two = (np.array(v).astype(dtype) for v in (0, 6, 2))
        assert divide(np.empty((0, 3), dtype), zero).shape == (0, 3)
        assert int(divide(six, two)) == 3

    def test_operator(self, dtype: Any) -> None:
        a, b = (np.array(x).astype(dtype) for x in ([6, 7], [2, 7]))
        operator = Operator("Divide", m_pythondiv=True)
        for _ in range(2):
            assert operator(a, b).astype(int).tolist() == [3, 1]
