"""Quotients by a divisor that stays the same along a line: one product's high half is the exact quotient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vinculum
from tests.kernels.comparing import DTYPES, INTEGERS, assert_same

Array = npt.NDArray[Any]
Division = Callable[..., Array]

OPERATORS: dict[str, Division] = {"truncating": vinculum.div, "floor": vinculum.divide}
# Divisors of shorter lines need not be worth preparing.
LONG = 64
POLICIES: dict[str, Any] = {"zero_divisor": "saturate"}

each_rounding = pytest.mark.parametrize("rounding", OPERATORS)
pytestmark = [pytest.mark.clause("truncating-division"), pytest.mark.clause("floor-division")]


def limits(name: str) -> tuple[int, int]:
    """Return the smallest and the largest value of a type."""
    return int(np.iinfo(name).min), int(np.iinfo(name).max)


def exact_quotients(dividends: Array, divisors: Array, rounding: str) -> Array:
    """Return the quotients by Python's integers, MIN/-1 wrapped and x/0 saturated."""
    dtype = dividends.dtype
    a, b = dividends.astype(object), np.where(divisors == 0, 1, divisors).astype(object)
    quotients = a // b if rounding == "floor" else np.sign(a) * np.sign(b) * (abs(a) // abs(b))
    smallest, largest = limits(dtype.name)
    quotients = np.where(quotients > largest, smallest, quotients).astype(dtype)
    by_zero = np.where(dividends == 0, 0, np.where(dividends > 0, dtype.type(largest), dtype.type(smallest)))
    return np.where(divisors == 0, by_zero.astype(dtype), quotients)


def edges(name: str) -> list[int]:
    """Return the numbers where something happens: powers of two and their neighbours, and the limits."""
    smallest, largest = limits(name)
    powers = [1 << exponent for exponent in range(largest.bit_length() + 1)]
    near = {sign * power + step for sign in (1, -1) for power in powers for step in (-2, -1, 0, 1, 2)}
    few = {
        3,
        5,
        7,
        10,
        11,
        100,
        641,
        6_700_417,
        1_000_000_007,
        largest // 3,
        largest // 2,
        largest // 3 * 2,
        largest - 5,
    }
    return sorted(n for n in near | few | {-n for n in few} | {smallest + 3} if smallest <= n <= largest)


def next_to_multiples(divisor: int, name: str, seed: int) -> Iterator[int]:
    """Yield multiples of a divisor and their neighbours, where a quotient that is one off shows: few, many, any."""
    smallest, largest = limits(name)
    most = largest // max(abs(divisor), 1)
    rng = np.random.default_rng([seed, abs(divisor)])
    for count in {0, 1, 2, 3, most // 2, most - 1, most, *(int(n) % (most + 1) for n in rng.integers(0, 1 << 62, 6))}:
        for dividend in (sign * divisor * count + step for sign in (1, -1) for step in (-1, 0, 1)):
            if smallest <= dividend <= largest:
                yield dividend


class TestEightBits:
    """Every pair, the divisor repeated along lines of 256."""

    @each_rounding
    @pytest.mark.parametrize("name", ["int8", "uint8"])
    def test_every_pair(self, name: str, rounding: str) -> None:
        every = np.arange(256, dtype=np.uint8).view(name)
        columns = np.ascontiguousarray(every[:, None])
        expected = exact_quotients(np.broadcast_to(every, (256, 256)), columns, rounding)
        divide = OPERATORS[rounding]
        for divisor, line in zip(every, expected, strict=True):
            assert_same(divide(every, divisor, **POLICIES), line)
        assert_same(divide(every, columns, **POLICIES), expected)  # each line its divisor


class TestSixteenBits:
    """Every divisor, the dividends next to its multiples and at the limits."""

    @each_rounding
    @pytest.mark.parametrize("name", ["int16", "uint16"])
    def test_every_divisor(self, name: str, rounding: str) -> None:
        smallest, largest = limits(name)
        divisors = np.arange(smallest, largest + 1, dtype=np.int32)[:, None]
        guarded = np.where(divisors == 0, 1, divisors)
        counts = (largest // abs(guarded) * np.arange(0, 10, dtype=np.int32)) // 9  # up to the most that fit
        multiples = (guarded * counts)[:, :, None] + np.array([-1, 0, 1], np.int32)
        near = np.concatenate([multiples, -multiples], axis=2).reshape(len(divisors), -1)
        ends = np.array([smallest, smallest + 1, 1, largest - 1, largest], np.int32)
        dividends = np.concatenate([near, np.broadcast_to(ends, (len(divisors), 5))], axis=1)
        dividends = np.clip(dividends, smallest, largest)
        assert dividends.shape[1] >= LONG
        quotients = dividends // guarded
        if rounding == "truncating":
            quotients = np.sign(dividends) * np.sign(guarded) * (abs(dividends) // abs(guarded))
        wrapped = np.where(divisors == 0, np.sign(dividends) * largest - (dividends < 0), quotients).astype(name)
        a, b = dividends.astype(name), divisors.astype(name)
        assert_same(OPERATORS[rounding](a, b, **POLICIES), wrapped)


class TestWideIntegers:
    """Adversarial divisors of 32 and 64 bits, each with the dividends next to its own multiples, and every edge."""

    @each_rounding
    @pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64"])
    def test_edges(self, name: str, rounding: str) -> None:
        rng = np.random.default_rng(6)
        smallest, largest = limits(name)
        bits = DTYPES[name].itemsize * 8
        drawn = [int(n) >> int(s) for n, s in zip(rng.integers(0, 1 << 62, 40), rng.integers(0, 62, 40), strict=True)]
        divisors = [*edges(name), *(n * sign for n in drawn for sign in (1, -1) if smallest <= n * sign <= largest)]
        assert {0, 1, smallest, largest, 1 << (bits - 2)} <= set(divisors)
        assert -1 in divisors or smallest == 0
        common = edges(name)
        lines = [(b, [*common, *next_to_multiples(b, name, 1)]) for b in divisors]
        length = max(len(dividends) for _, dividends in lines)
        assert length >= LONG
        table = np.array([(dividends * 3)[:length] for _, dividends in lines], DTYPES[name])
        columns = np.array([[b] for b in divisors], DTYPES[name])
        expected = exact_quotients(table, columns, rounding)
        divide = OPERATORS[rounding]
        assert_same(divide(table, columns, **POLICIES), expected)
        for i in range(0, len(divisors), 3):
            assert_same(divide(table[i], columns[i, 0], **POLICIES), expected[i])


class TestEveryLine:
    """However long a line is, wherever its dividends lie, and however often the divisor changes."""

    @each_rounding
    @pytest.mark.parametrize("name", INTEGERS)
    def test_lengths_around_the_shortest_worth_preparing(self, name: str, rounding: str) -> None:
        rng = np.random.default_rng(3)
        smallest, largest = limits(name)
        for length in (1, 2, 15, 31, 33, 63, 64, 65, 127, 4095, 4097, 8192, 8193):
            a = rng.integers(smallest, largest, length, DTYPES[name], endpoint=True)
            for divisor in (
                0,
                1,
                7,
                smallest,
                largest,
                largest - 1 if smallest == 0 else -1,
                3 if smallest == 0 else -3,
            ):
                b = DTYPES[name].type(divisor)
                alike = np.full(length, b)
                assert_same(OPERATORS[rounding](a, b, **POLICIES), OPERATORS[rounding](a, alike, **POLICIES))

    @each_rounding
    @pytest.mark.parametrize("name", INTEGERS)
    def test_strided_dividends_and_results(self, name: str, rounding: str) -> None:
        rng = np.random.default_rng(4)
        smallest, largest = limits(name)
        wide = rng.integers(smallest, largest, (5, 3000), DTYPES[name], endpoint=True)
        columns = np.array([[0], [1], [7], [largest], [smallest]], DTYPES[name])
        divide = OPERATORS[rounding]
        expected = divide(wide.copy(), np.repeat(columns, 3000, axis=1), **POLICIES)
        for step in (2, 3, -1, -2):
            assert_same(divide(wide[:, ::step], columns, **POLICIES), expected[:, ::step])
            out = np.zeros_like(wide)
            divide(wide[:, ::step], columns, out=out[:, ::step], **POLICIES)
            assert_same(out[:, ::step], expected[:, ::step])
        in_place = wide.copy()
        assert_same(divide(in_place, columns, out=in_place, **POLICIES), expected)

    @pytest.mark.parametrize("name", [name for name in INTEGERS if not name.startswith("u")])
    def test_a_line_by_minus_one_is_told_of_its_overflow(self, name: str) -> None:
        a, b = np.zeros((3, 100), DTYPES[name]), np.array([[1], [-1], [5]], DTYPES[name])
        a[0, 5] = a[1, 7] = a[1, 9] = a[2, 3] = np.iinfo(name).min
        for divide in OPERATORS.values():
            with pytest.raises(vinculum.IntegerOverflowError) as caught:
                divide(a, b, overflow="raise")
            assert (caught.value.count, caught.value.first_index) == (2, (1, 7))
            assert divide(a, b, overflow="saturate")[1, 7] == np.iinfo(name).max
            assert divide(a, b)[1, 9] == np.iinfo(name).min

    @pytest.mark.parametrize("name", INTEGERS)
    def test_a_line_by_zero_is_told_whole(self, name: str) -> None:
        a, b = np.ones((3, 100), DTYPES[name]), np.array([[1], [0], [5]], DTYPES[name])
        with pytest.raises(vinculum.DivisionByZeroError) as caught:
            vinculum.div(a, b)
        assert (caught.value.count, caught.value.first_index) == (100, (1, 0))
