"""Every pair of each type of one byte against the exact reference."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.cases import case
from tests.kernels.witness import DTYPES, INTEGERS, ONE_BYTE, SIGNED, TYPES, arithmetic, check, crossed, exact
from vinculum.kernels import contract as kernels
from vinculum.kernels.contract import Backend

Array = npt.NDArray[Any]


@pytest.mark.parametrize(
    ("name", "floor"), [(name, floor) for name in ONE_BYTE for floor in (False, True) if name in INTEGERS or not floor]
)
@pytest.mark.clause("Divide-1", "any-numeric-type", "f8e4m3-without-infinity")
class TestEveryTwoBytes:
    """Of every type of one byte, on every target: as pairs, and with either side repeated along lines of any length.

    The upper halves of bytes that hold four bits mean nothing in operands, and are the sign's in results.
    """

    @pytest.fixture
    def divide(self, backend: Backend, floor: bool) -> kernels.Division:
        return backend.division(arithmetic(floor=floor))

    def test_equal_shapes(self, name: str, floor: bool, divide: kernels.Division) -> None:
        a, b = crossed(every_byte(name))
        result = check(divide, a, b, of_every_two_bytes(name, floor))
        if TYPES[name].bits == 4:
            kept = result.view(np.int8 if name in SIGNED else np.uint8)
            assert (kept.min(), kept.max()) == (TYPES[name].minimum, TYPES[name].maximum)

    @pytest.mark.parametrize("order", [1, -1], ids=["dividends", "divisors"])
    def test_repeated(self, name: str, floor: bool, divide: kernels.Division, order: int) -> None:
        """In separate calls, and as rows of one call."""
        every, table = every_byte(name), of_every_two_bytes(name, floor)
        expected = table if order > 0 else table.T
        for length in (256, 63, 3):
            with case("length", length):
                for start in range(0, 256, length):
                    part = slice(start, start + length)
                    a, b = (every[:, None], every[part])[::order]
                    check(divide, a, b, expected[:, part])
                for repeated, quotients in zip(every, expected, strict=True):
                    a, b = (repeated, every[:length])[::order]
                    check(divide, a, b, quotients[:length])


@cache
def every_byte(name: str) -> Array:
    """Return the elements of a one-byte type in the order of their bytes."""
    return np.arange(256, dtype=np.uint8).view(DTYPES[name])


@cache
def of_every_two_bytes(name: str, floor: bool) -> Array:
    """Return the reference's quotients of all pairs of bytes, saturated where there is none."""
    distinct = every_byte(name)[: 1 << TYPES[name].bits]
    a, b = crossed(distinct)
    quotients = exact(name, a, b, floor=floor, zero_divisor="saturate", overflow="saturate")
    return np.tile(quotients, [256 // len(distinct)] * 2)
