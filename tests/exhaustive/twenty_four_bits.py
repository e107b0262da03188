"""Divisions of 32-bit integers of few bits held against the exact quotients: next to multiples of every divisor."""

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


def compare(name: str, floor: bool, divisions: Mapping[str, Division], part: int) -> str | None:
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
        x, y = sign_a * a, sign_b * b
        exact = x // y if floor else sign_a * sign_b * (a // b)
        told = first_wrong(divisions, x.astype(name), y.astype(name), partial(_wrong, exact))
        if told:
            return told
    return None


def _wrong(exact: Array, found: Array) -> str | None:
    wrong = found != exact
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    return f"{wrong.sum()} of {wrong.size} wrong, first {found[first]} instead of {exact[first]}"
