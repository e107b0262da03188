"""Integers at the edges of their types, every edge by every edge, against Python's own integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vinculum import div, divide

Array = np.ndarray[Any, Any]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def edges(dtype: str) -> list[int]:
    """Return small numbers, the type's limits, and powers of two with their neighbours, of either sign."""
    limits = np.iinfo(dtype)
    bits = (1, 2, 7, 8, 15, 16, 24, 31, 32, 52, 53, 54, 62, 63)
    powers = [sign * 2**k + d for k in bits for d in (-1, 0, 1) for sign in (1, -1)]
    small = [0, 3, -3, 10, -10, 11, -11, 69]
    return sorted(
        {v for v in (*powers, *small, limits.min, limits.min + 1, limits.max) if limits.min <= v <= limits.max}
    )


def quotient(a: int, b: int, floor: bool, dtype: str) -> int:
    """Return what the default overflow and the zero policy give: MIN/-1 wraps, x/0 is 0."""
    if b == 0:
        return 0
    exact = a // b if floor or (a < 0) == (b < 0) else -(-a // b)
    return np.iinfo(dtype).min if exact > np.iinfo(dtype).max else exact


@pytest.mark.parametrize("floor", [False, True], ids=["truncating", "floor"])
@pytest.mark.parametrize("dtype", INTEGERS)
class TestEdges:
    """Truncating and floor division of every pair of edges."""

    def call(self, a: Array, b: Array, floor: bool) -> Array:
        return divide(a, b, zero_divisor="zero") if floor else div(a, b, zero_divisor="zero")

    def test_array_by_array(self, dtype: str, floor: bool) -> None:
        values = edges(dtype)
        a, b = np.repeat(np.array(values, dtype), len(values)), np.tile(np.array(values, dtype), len(values))
        expected = [quotient(x, y, floor, dtype) for x in values for y in values]
        assert self.call(a, b, floor).tolist() == expected

    def test_array_by_one_element(self, dtype: str, floor: bool) -> None:
        values = edges(dtype)
        for y in values:
            expected = [quotient(x, y, floor, dtype) for x in values]
            assert self.call(np.array(values, dtype), np.array(y, dtype), floor).tolist() == expected

    def test_one_element_by_array(self, dtype: str, floor: bool) -> None:
        values = edges(dtype)
        for x in values:
            expected = [quotient(x, y, floor, dtype) for y in values]
            assert self.call(np.array(x, dtype), np.array(values, dtype), floor).tolist() == expected

    def test_one_element_by_one_element_many_times(self, dtype: str, floor: bool) -> None:
        """Both operands are repeated by their strides alone."""
        for x, y in ((100, 7), (np.iinfo(dtype).max, 3), (np.iinfo(dtype).min, 3)):
            a, b = np.broadcast_to(np.array(x, dtype), (3, 5)), np.broadcast_to(np.array(y, dtype), 5)
            assert self.call(a, b, floor).tolist() == [[quotient(x, y, floor, dtype)] * 5] * 3
