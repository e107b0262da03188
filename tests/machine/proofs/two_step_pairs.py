"""Pairs of 64-bit integers where the two-step quotient has the least room, and their exact quotients."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Array = npt.NDArray[Any]

COUNT = 600_000  # a quarter of them edges by edges
_MASK = 2**64 - 1


def edges() -> Words:
    """Return every power of two and what lies next to it, and all that in two's complement negative: MIN and -1 too."""
    near = {(sign * ((1 << bit) + step)) & _MASK for bit in range(65) for step in (-1, 0, 1) for sign in (1, -1)}
    return np.array(sorted(near), np.uint64)


def adversarial_pairs(seed: int) -> tuple[Words, Words]:
    """Return dividends and divisors, COUNT of each, no divisor zero: edges, all magnitudes, and next to multiples."""
    random = np.random.default_rng(seed)
    edge = edges()
    a, b = (side.ravel() for side in np.meshgrid(edge, edge))
    left = COUNT - a.size
    divisors = np.where(random.random(left) < 0.5, _any_magnitude(random, left), random.choice(edge, left))
    divisors = np.maximum(divisors, np.uint64(1))
    multiples = _any_magnitude(random, left) // divisors * divisors
    steps = random.integers(-1, 2, left).astype(np.int64).view(np.uint64)  # -1, 0 and 1, which wrap
    dividends = np.where(random.random(left) < 0.75, multiples + steps, _any_magnitude(random, left))
    # As signed pairs these are small beside large; negated they are every mixture of signs.
    signs = random.integers(0, 2, (2, left), np.uint64) * np.uint64(_MASK)
    flipped = random.random(left) < 0.5
    dividends = np.where(flipped, (dividends ^ signs[0]) - signs[0], dividends)
    divisors = np.where(flipped, (divisors ^ signs[1]) - signs[1], divisors)
    return np.concatenate([a, dividends]), np.maximum(np.concatenate([b, divisors]), np.uint64(1))


def _any_magnitude(random: np.random.Generator, count: int) -> Words:
    words = random.integers(0, _MASK, count, np.uint64, endpoint=True)
    shifted: Words = words >> random.integers(0, 64, count, np.uint64)
    return shifted


def exact_quotients(a: Array, b: Array, *, floor: bool) -> Array:
    """Divide by Python's integers; the one quotient outside the type, MIN/-1, wraps."""
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    quotients = [x // y if floor or (x < 0) == (y < 0) else -(-x // y) for x, y in pairs]
    return np.array([q & _MASK for q in quotients], np.uint64).view(a.dtype)
