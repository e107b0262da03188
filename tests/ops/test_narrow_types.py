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

from vinculum import divide

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
