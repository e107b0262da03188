"""Integers of 64 bits that are small go a shorter way; the quotients at its limits are exact like all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import assert_same, exact_quotients
from tests.kernels.test_multiply_high_quotients import OPERATORS, each_rounding

Array = npt.NDArray[Any]

POWERS = (49, 50, 51, 52, 53, 63)


def numbers(name: str, power: int) -> list[int]:
    """Return numbers below and at a power of two, and what divides them, almost."""
    limit = 1 << power
    near = {limit + step for step in (-3, -2, -1, 0, 1, 2)} | {
        1,
        2,
        3,
        5,
        7,
        1 << 25,
        (1 << 26) - 1,
        limit // 3,
        limit // 7,
    }
    signs = (1, -1) if name == "int64" else (1,)
    limits = np.iinfo(name)
    return sorted(n * sign for n in near for sign in signs if limits.min <= n * sign <= limits.max)


@each_rounding
@pytest.mark.parametrize("name", ["int64", "uint64"])
@pytest.mark.clause("truncating-division")
@pytest.mark.clause("floor-division")
class TestSmallIntegers:
    """What is small enough is decided for a run at once, and never wrongly."""

    @pytest.mark.parametrize("power", POWERS)
    def test_every_pair_next_to_a_power_of_two(self, name: str, rounding: str, power: int) -> None:
        all_of_them = numbers(name, power)
        for bound in (1 << power, (1 << power) + 1, 1 << 64):  # with those at the power, and without
            some = [n for n in all_of_them if -bound <= n < bound]
            a, b = (np.array(x, name).reshape(-1) for x in np.meshgrid(np.array(some, object), np.array(some, object)))
            assert_same(OPERATORS[rounding](a, b), exact_quotients(a, b, floor=rounding == "floor", overflow="wrap"))

    @pytest.mark.parametrize("place", [0, 255, 256, 257, 511, 4095, 4096, 4999])
    @pytest.mark.parametrize("which", [0, 1])
    def test_one_that_is_not(self, name: str, rounding: str, place: int, which: int) -> None:
        rng = np.random.default_rng(place)
        pair = [rng.integers(1, 1 << 50, 5000).astype(name), rng.integers(1, 1 << 20, 5000).astype(name)]
        large = np.iinfo(name).max - 1
        for value in (1 << 50, 1 << 51, 1 << 52, large, -(1 << 50) - 1, -(1 << 51) - 1, -large):
            if value < np.iinfo(name).min:
                continue
            pair[which][place] = value
            assert_same(OPERATORS[rounding](*pair), exact_quotients(*pair, floor=rounding == "floor", overflow="wrap"))

    def test_exceptional_elements_among_small_ones(self, name: str, rounding: str) -> None:
        a, b = np.arange(-500, 500).astype(name), np.arange(1, 1001).astype(name)
        b[[300, 999]] = 0
        with pytest.raises(vinculum.DivisionByZeroError) as caught:
            OPERATORS[rounding](a, b)
        assert (caught.value.count, caught.value.first_index) == (2, (300,))
        b[:] = 1 if name == "uint64" else -1
        if name == "int64":
            a[7] = np.iinfo(name).min
            with pytest.raises(vinculum.IntegerOverflowError) as overflow:
                OPERATORS[rounding](a, b, overflow="raise")
            assert (overflow.value.count, overflow.value.first_index) == (1, (7,))
