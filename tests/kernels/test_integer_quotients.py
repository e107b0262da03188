"""Integer quotients where the operands decide the algorithm: small integers, and repeated divisors."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.cases import case
from tests.kernels import witness
from tests.kernels.comparing import DTYPES, INTEGERS, exact_quotients
from tests.kernels.integer_operands import edges, limits, next_to_multiples
from tests.kernels.witness import Divisions, arithmetic, divisions
from vinculum.kernels.contract import Backend, Exceptions

Array = npt.NDArray[Any]

# Divisors of shorter lines need not be worth preparing.
LONG = 64
# Bits below which a target may divide otherwise, and powers of two around.
FEW = {"int32": 24, "uint32": 24, "int64": 51, "uint64": 51}
POWERS = {24: (22, 23, 24, 25, 31), 51: (49, 50, 51, 52, 53, 63)}

each_rounding = pytest.mark.parametrize("floor", [False, True], ids=["truncating", "floor"])


@pytest.fixture
def by_backend(floor: bool) -> Divisions:
    """Return each backend's division with a rounding."""
    return divisions(floor=floor, overflow="wrap")


def check(by_backend: Divisions, a: Array, b: Array, expected: Array) -> None:
    """Fail unless every backend gives these quotients."""
    for backend, division in by_backend:
        with case(backend):
            witness.check(division, a, b, expected)


@cache
def lines_of_edges(name: str) -> tuple[Array, Array]:
    """Return rows of dividends, and a column with the divisor of each row."""
    rng = np.random.default_rng(6)
    smallest, largest = limits(name)
    bits = DTYPES[name].itemsize * 8
    drawn = [int(n) >> int(s) for n, s in zip(rng.integers(0, 1 << 62, 40), rng.integers(0, 62, 40), strict=True)]
    divisors = [*edges(name), *(n * sign for n in drawn for sign in (1, -1) if smallest <= n * sign <= largest)]
    assert {0, 1, smallest, largest, 1 << (bits - 2)} <= set(divisors)
    assert -1 in divisors or smallest == 0
    lines = [[*edges(name), *next_to_multiples(b, name, 1)] for b in divisors]
    length = max(map(len, lines))
    assert length >= LONG
    table = np.array([(dividends * 3)[:length] for dividends in lines], DTYPES[name])
    return table, np.array(divisors, DTYPES[name])[:, None]


def numbers(name: str, power: int) -> list[int]:
    """Return numbers around a power of two, and small divisors."""
    limit = 1 << power
    half = FEW[name] // 2
    near = {limit + step for step in (-3, -2, -1, 0, 1, 2)} | {1, 2, 3, 5, 7, 1 << half, (1 << (half + 1)) - 1}
    near |= {limit // 3, limit // 7}
    smallest, largest = limits(name)
    return sorted(n * sign for n in near for sign in (1, -1) if smallest <= n * sign <= largest)


@each_rounding
@pytest.mark.parametrize("name", FEW)
class TestSmallIntegers:
    """Whether all integers of a run are small is decided for the whole run."""

    def test_every_pair_next_to_a_power_of_two(self, name: str, by_backend: Divisions, floor: bool) -> None:
        for power in POWERS[FEW[name]]:
            with case(power):
                all_of_them = numbers(name, power)
                for bound in (1 << power, (1 << power) + 1, 1 << 64):  # with those at the power, and without
                    some = [n for n in all_of_them if -bound <= n < bound]
                    a, b = (
                        np.array(x, name).reshape(-1)
                        for x in np.meshgrid(np.array(some, object), np.array(some, object))
                    )
                    check(by_backend, a, b, exact_quotients(a, b, floor=floor, overflow="wrap"))

    @pytest.mark.parametrize("which", [0, 1])
    def test_one_that_is_not(self, name: str, by_backend: Divisions, floor: bool, which: int) -> None:
        """At the first or last place, or next to the boundary of a block, a chunk or a run."""
        rng = np.random.default_rng(1)
        limit = 1 << (FEW[name] - 1)
        pair = rng.integers(1, limit, 8200).astype(name), rng.integers(1, 1 << 20, 8200).astype(name)
        known = exact_quotients(*pair, floor=floor)
        info = np.iinfo(name)
        beyond = [limit, 2 * limit + 7, info.max - 1, *([-limit - 1, 1 - info.max] if info.min else [])]
        cuts = (8, 64, 256, 512, 4096, 8192)
        lengths = sorted({1, 2, 3, *(cut + step for cut in cuts for step in (-1, 0, 1)), 4096 + 256 + 1})
        cases = [(n, place, beyond[-1 - n % 2]) for n in lengths for place in {0, n - 1}]
        cases += [(8200, place, value) for value in beyond for cut in cuts for place in (cut - 1, cut, cut + 1)]
        for n, place, value in cases:
            for step in (1, 2) if n <= 4097 else (1,):
                a, b = (operand[: n * step : step] for operand in pair)
                changed = (a, b)[which]
                expected, before = known[: n * step : step].copy(), changed[place]
                changed[place] = value
                expected[place] = exact_quotients(a[place], b[place], floor=floor)
                check(by_backend, a, b, expected)
                changed[place] = before

    @pytest.mark.parametrize("which", [0, 1])
    def test_a_large_one_that_is_repeated(self, name: str, by_backend: Divisions, floor: bool, which: int) -> None:
        """In lines that are too short for preparing a divisor, and in longer ones."""
        limit, far = 1 << (FEW[name] - 1), 3 << (np.iinfo(name).bits - 3)
        small = np.random.default_rng(2).integers(1, limit, 300).astype(name)
        for value in (limit, far, *([-limit - 1, -far] if np.iinfo(name).min else [])):
            large = np.array([value], name)
            for n in (1, 2, 5, 63, 64, 256, 257, 300):
                a, b = (large, small[:n]) if which == 0 else (small[:n], large)
                check(by_backend, a, b, exact_quotients(a, b, floor=floor))

    def test_exceptional_elements_among_small_ones(self, name: str, backend: Backend, floor: bool) -> None:
        division = backend.division(arithmetic(floor=floor, zero_divisor="raise", overflow="raise"))
        a, b = np.arange(-500, 500).astype(name), np.arange(1, 1001).astype(name)
        b[[300, 999]] = 0
        assert division(a, b, None) == Exceptions(1000, 2, (300,), 0, None)
        if name.startswith("int"):
            a[7], b[:] = np.iinfo(name).min, -1
            assert division(a, b, None) == Exceptions(1000, 0, None, 1, (7,))


class TestSixteenBits:
    """Every divisor, the dividends next to its multiples and at the limits."""

    @each_rounding
    @pytest.mark.parametrize("name", ["int16", "uint16"])
    def test_every_divisor(self, name: str, by_backend: Divisions, floor: bool) -> None:
        smallest, largest = limits(name)
        divisors = np.arange(smallest, largest + 1, dtype=np.int32)[:, None]
        counts = (largest // np.maximum(abs(divisors), 1) * np.arange(0, 10, dtype=np.int32)) // 9  # up to the most
        multiples = (divisors * counts)[:, :, None] + np.array([-1, 0, 1], np.int32)
        near = np.concatenate([multiples, -multiples], axis=2).reshape(len(divisors), -1)
        ends = np.array([smallest, smallest + 1, 1, largest - 1, largest], np.int32)
        dividends = np.concatenate([near, np.broadcast_to(ends, (len(divisors), 5))], axis=1)
        a, b = np.clip(dividends, smallest, largest).astype(name), divisors.astype(name)
        assert a.shape[1] >= LONG
        check(by_backend, a, b, exact_quotients(a, b, floor=floor, overflow="wrap"))


class TestWideIntegers:
    """Adversarial divisors of 32 and 64 bits, each with the dividends next to its own multiples, and every edge."""

    @each_rounding
    @pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64"])
    def test_edges(self, name: str, by_backend: Divisions, floor: bool) -> None:
        table, columns = lines_of_edges(name)
        expected = exact_quotients(table, columns, floor=floor, overflow="wrap")
        check(by_backend, table, columns, expected)
        for i in range(0, len(columns), 3):
            check(by_backend, table[i], columns[i, 0], expected[i])


class TestEveryLine:
    """Lines of any length that share a divisor."""

    @each_rounding
    @pytest.mark.parametrize("name", INTEGERS)
    def test_lengths_around_the_shortest_worth_preparing(self, name: str, by_backend: Divisions, floor: bool) -> None:
        smallest, largest = limits(name)
        wide = np.random.default_rng(3).integers(smallest, largest, 8193, DTYPES[name], endpoint=True)
        for divisor in (0, 1, 7, smallest, largest, -1 if smallest else largest - 1, -3 if smallest else 3):
            b = DTYPES[name].type(divisor)
            expected = exact_quotients(wide, np.full_like(wide, b), floor=floor, overflow="wrap")
            for length in (1, 2, 15, 31, 33, 63, 64, 65, 127, 4095, 4097, 8192, 8193):
                check(by_backend, wide[:length], b, expected[:length])

    @pytest.mark.parametrize("name", INTEGERS)
    def test_a_line_by_zero_or_minus_one_is_told_whole(self, name: str, backend: Backend) -> None:
        a, b = np.ones((3, 100), DTYPES[name]), np.array([[1], [0], [5]], DTYPES[name])
        raising = backend.division(arithmetic(zero_divisor="raise"))
        assert raising(a, b, None) == Exceptions(300, 100, (1, 0), 0, None)
        if name.startswith("u"):
            return
        b[1] = -1
        a[0, 5] = a[1, 7] = a[1, 9] = a[2, 3] = np.iinfo(name).min
        overflows: tuple[witness.Overflow, ...] = ("raise", "saturate", "wrap")
        for floor, overflow in product((False, True), overflows):
            division = backend.division(arithmetic(floor=floor, overflow=overflow))
            with case(floor, overflow):
                if overflow == "raise":
                    assert division(a, b, None) == Exceptions(300, 0, None, 2, (1, 7))
                else:
                    witness.check(division, a, b, exact_quotients(a, b, floor=floor, overflow=overflow))
