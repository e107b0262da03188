"""The extracted rules for 8, 16 and 32 bits, and for 51 of 64, divide as exact integers do."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.machine.proofs.compiled_rules import DIRECT, CompiledRules
from tests.machine.proofs.two_step_pairs import exact_quotients

Array = npt.NDArray[Any]

COUNT = 250_000
# What the proved programs require of the rules for 64 bits.
SMALL = (1 << 51) - 1

each_rule = pytest.mark.parametrize("name", DIRECT)


def limits(name: str) -> tuple[int, int]:
    """Return the least and the greatest operand that a rule is proved for."""
    kind = np.iinfo(DIRECT[name])
    return max(int(kind.min), -SMALL), min(int(kind.max), SMALL)


@cache
def edges(minimum: int, maximum: int) -> tuple[Array, Array]:
    """Return pairs within bounds: the ends, powers of two, and dividends next to multiples of their divisor."""
    random = np.random.default_rng(5)
    around = {sign * (2**k + d) for k in range(52) for d in (-1, 0, 1) for sign in (-1, 1)} | {minimum, maximum}
    around |= {41, -41, 49, -49, minimum + 1, maximum - 1}
    around |= set(random.integers(minimum, maximum, 100, endpoint=True).tolist())
    values = sorted(value for value in around if minimum <= value <= maximum)
    pairs = [(a, b) for a in values for b in values if b]
    for b in filter(None, values):
        most = max(abs(minimum), maximum) // abs(b)
        for k in {1, most - 1, most, *random.integers(0, most, 3, endpoint=True).tolist()}:
            pairs += [(sign * k * abs(b) + d, b) for d in (-1, 0, 1) for sign in (-1, 1)]
    kept = np.array([pair for pair in pairs if minimum <= pair[0] <= maximum])
    return kept[:, 0], kept[:, 1]


@cache
def drawn(minimum: int, maximum: int) -> tuple[Array, Array]:
    """Return pairs within bounds, of every magnitude; most dividends lie next to a multiple of their divisor."""
    random = np.random.default_rng(6)
    bits = maximum.bit_length()
    divisors = random.integers(minimum, maximum, COUNT, endpoint=True) >> random.integers(0, bits, COUNT)
    divisors = np.where(divisors == 0, 1, divisors)
    dividends = random.integers(minimum, maximum, COUNT, endpoint=True)
    near = dividends // divisors * divisors + random.integers(-1, 2, COUNT)
    return np.where((near < minimum) | (near > maximum) | (random.random(COUNT) < 1 / 3), dividends, near), divisors


def exact(name: str, dividends: Array, divisors: Array) -> Array:
    """Return NumPy's quotients of integers in the rule's type, which MIN/-1 alone does not fit: it wraps."""
    floored = dividends // divisors
    rounded = floored + ((floored < 0) & (floored * divisors != dividends) if "truncating" in name else 0)
    return rounded.astype(DIRECT[name])


@each_rule
class TestRules:
    """Against NumPy's integers, and Python's at the edges."""

    def test_edges(self, name: str, rules: CompiledRules) -> None:
        a, b = edges(*limits(name))
        assert set(limits(name)) <= set(a.tolist()) & {*b.tolist(), 0}
        quotients = exact_quotients(a, b, floor="truncating" not in name).astype(DIRECT[name])
        np.testing.assert_array_equal(exact(name, a, b), quotients)
        np.testing.assert_array_equal(rules(name, a, b), exact(name, a, b))

    def test_drawn_pairs_or_all_of_8_bits(self, name: str, rules: CompiledRules) -> None:
        minimum, maximum = limits(name)
        if maximum < 256:
            every = np.arange(minimum, maximum + 1)
            a, b = (side.ravel() for side in np.meshgrid(every, every[every != 0]))
            assert a.size == 256 * 255
        else:
            a, b = drawn(minimum, maximum)
            assert min((a % b == rest).mean() for rest in (0, 1)) > 1 / 20
        np.testing.assert_array_equal(rules(name, a, b), exact(name, a, b))


@pytest.mark.parametrize("name", [name for name, element in DIRECT.items() if element in ("int8", "int16", "int32")])
def test_minimum_by_minus_one(name: str, rules: CompiledRules) -> None:
    minimum = np.array([limits(name)[0]])
    assert rules(name, minimum, np.array([-1])).tolist() == minimum.tolist()
