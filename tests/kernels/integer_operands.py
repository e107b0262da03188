"""Integers that reveal wrong rules: the edges of a type, and neighbours of multiples of a divisor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def limits(name: str) -> tuple[int, int]:
    """Return the smallest and the largest value of a type."""
    return int(np.iinfo(name).min), int(np.iinfo(name).max)


def edges(name: str) -> list[int]:
    """Return powers of two and their neighbours, the limits of the type, and a few other numbers."""
    smallest, largest = limits(name)
    powers = [1 << exponent for exponent in range(largest.bit_length() + 1)]
    near = {sign * power + step for sign in (1, -1) for power in powers for step in (-2, -1, 0, 1, 2)}
    few = {3, 5, 7, 10, 11, 100, 641, 6_700_417, 1_000_000_007}
    few |= {largest // 3, largest // 2, largest // 3 * 2, largest - 5}
    return sorted(n for n in near | few | {-n for n in few} | {smallest + 3} if smallest <= n <= largest)


def next_to_multiples(divisor: int, name: str, seed: int) -> Iterator[int]:
    """Yield multiples of a divisor and their neighbours, which reveal a quotient that is off by one."""
    smallest, largest = limits(name)
    most = largest // max(abs(divisor), 1)
    rng = np.random.default_rng([seed, abs(divisor)])
    for count in {0, 1, 2, 3, most // 2, most - 1, most, *(int(n) % (most + 1) for n in rng.integers(0, 1 << 62, 6))}:
        for dividend in (sign * divisor * count + step for sign in (1, -1) for step in (-1, 0, 1)):
            if smallest <= dividend <= largest:
                yield dividend
