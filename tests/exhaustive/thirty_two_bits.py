"""Divisions of 32-bit integers held against the exact quotients, next to multiples of divisors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.exhaustive.enumeration import Division, first_wrong

Array = npt.NDArray[Any]

LIMIT = 1 << 23
DIVISORS = 1 << 15
PARTS = LIMIT // DIVISORS
_MULTIPLES = 6
_DIVIDENDS_A_DIVISOR = 1 << 12
_DIVISORS_A_PART = -(-(10**8) // (PARTS * _DIVIDENDS_A_DIVISOR))


def few_bits(name: str, floor: bool, divisions: Mapping[str, Division], part: int) -> str | None:
    """Divide neighbours of multiples by each divisor of a part, and by its negative; tell of the first wrong quotient.

    Over all parts these are 10^8 pairs and more of every divisor from 1 to 2^23.
    """
    b = np.arange(part * DIVISORS + 1, (part + 1) * DIVISORS + 1).clip(max=LIMIT - 1)[:, None, None]
    most = (LIMIT - 1) // b
    drawn = np.random.default_rng(part).integers(0, most + 1, (DIVISORS, _MULTIPLES, 1))
    drawn[:, :2, 0] = np.stack([most[:, 0, 0], most[:, 0, 0] - 1], axis=1)
    a = (drawn * b + np.array([-1, 0, 1])).clip(0, LIMIT - 1)
    a, b = (x.reshape(-1) for x in np.broadcast_arrays(a, b))
    for sign_a, sign_b in [(1, 1)] if name.startswith("u") else [(1, 1), (1, -1), (-1, 1), (-1, -1)]:
        told = _compared(name, floor, divisions, sign_a * a, sign_b * b)
        if told:
            return told
    return None


def scalar_divisor(name: str, floor: bool, divisions: Mapping[str, Division], part: int) -> str | None:
    """Divide neighbours of multiples by few divisors of all magnitudes, one at a time; tell of the first wrong one.

    Over all parts these are 10^8 pairs.
    """
    rng = np.random.default_rng(part)
    limits = np.iinfo(name)
    for _ in range(_DIVISORS_A_PART):
        b = rng.integers(1, limits.max, 1, np.int64, endpoint=True) >> rng.integers(0, limits.bits - 1)
        b = np.maximum(b, 1) * rng.choice([-1, 1] if limits.min else [1])
        multiples = rng.integers(limits.min // abs(b), limits.max // abs(b) + 1, _DIVIDENDS_A_DIVISOR) * b
        a = (multiples + rng.integers(-1, 2, multiples.size)).clip(limits.min, limits.max)
        told = _compared(name, floor, divisions, a, b)
        if told:
            return told
    return None


def _compared(name: str, floor: bool, divisions: Mapping[str, Division], a: Array, b: Array) -> str | None:
    exact = a // b if floor else np.sign(a) * np.sign(b) * (abs(a) // abs(b))
    return first_wrong(divisions, a.astype(name), b.astype(name), partial(_wrong, exact.astype(name)))


def _wrong(exact: Array, found: Array) -> str | None:
    wrong = found != exact
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    return f"{wrong.sum()} of {wrong.size} wrong, first {found[first]} instead of {exact[first]}"
