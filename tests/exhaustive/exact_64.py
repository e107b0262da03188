"""Adversarial pairs of 64-bit integers, and quotients checked by multiplying back in 128 bits: no division is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

_0, _1, _2, _3 = (np.uint64(i) for i in range(4))
_32 = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFF_FFFF)
_TOP = np.uint64(1 << 63)
_LARGEST = np.uint64((1 << 64) - 1)


def edges(rng: np.random.Generator, size: int) -> Words:
    """Draw numbers of any length: random, beside a power of two, of few bits, of ones, or halfway in binary64."""
    word, length, other = _words(rng, size), rng.integers(0, 64, size, np.uint64), rng.integers(0, 64, size, np.uint64)
    power = _1 << length
    # 53 significant bits, and then exactly half of the last of them, or beside it.
    beyond = _1 + length % np.uint64(11)
    significand = (word >> np.uint64(11)) | (_1 << np.uint64(52))
    kinds = (
        word >> length,
        power + word % np.uint64(7) - _3,
        power ^ (_1 << other) ^ (word & _1),
        ((_LARGEST >> length) << (other & np.uint64(7))) - (word & _1),
        _LARGEST - (word >> np.uint64(50)),
        (significand << beyond) + (_1 << (beyond - _1)) + (word & _3) - _2,
    )
    return np.choose(rng.integers(0, len(kinds), size), kinds)


def near_multiples(rng: np.random.Generator, size: int, divisors: Words) -> Words:
    """Draw dividends: edges, or beside multiples of their divisors, of quotients that are edges where they fit."""
    dividends = edges(rng, size)
    most = _LARGEST // divisors
    multiples = np.where(dividends <= most, dividends, (dividends & (_TOP - _1)) % most) * divisors
    kinds = (
        multiples,
        multiples - _1,
        multiples + _1,
        multiples + divisors - _1,
        multiples + (divisors >> _1),
        multiples + (divisors >> _1) + _1,
        dividends,
        dividends,
    )
    return np.choose(rng.integers(0, len(kinds), size), kinds)


def draw(seed: int, dividends: int, divisors: int) -> tuple[Words, Words]:
    """Draw so many adversarial magnitudes, always the same by a seed; no divisor is zero."""
    rng = np.random.default_rng(seed)
    b = np.maximum(edges(rng, divisors), _1)
    return near_multiples(rng, dividends, b), b


def signed(seed: int, magnitudes: Words) -> Array:
    """Give magnitudes random signs; those above 2^63 lose their last bit first, one in 512 becomes MIN, and none 0."""
    words = _words(np.random.default_rng([seed, magnitudes.size]), magnitudes.size)
    small = np.where(magnitudes > _TOP, magnitudes >> _1, magnitudes)
    small = np.maximum(np.where(words >> np.uint64(55) == _0, _TOP, small), _1)
    return np.where((words & _1 == _1) | (small == _TOP), _0 - small, small).view(np.int64)


def _words(rng: np.random.Generator, size: int) -> Words:
    return rng.integers(0, 1 << 64, size, np.uint64)


def wrong_unsigned(a: Array, b: Array, quotients: Array) -> Mask:
    """Return which quotients are wrong; the divisors may be one element."""
    return ~_is_whole_part(quotients, a, b)


def wrong_signed(a: Array, b: Array, quotients: Array, floor: bool) -> Mask:
    """Return the same for signed integers, MIN/-1 wrapped."""
    negative = (a < 0) != (b < 0)
    dividends, divisors = (np.where(x < 0, _0 - x.view(np.uint64), x.view(np.uint64)) for x in (a, b))
    magnitudes = np.where(negative, _0 - quotients.view(np.uint64), quotients.view(np.uint64))
    right = _is_whole_part(magnitudes, dividends, divisors)
    if floor:
        right = np.where(negative, _is_rounded_away(magnitudes, dividends, divisors), right)
    return ~right


def _is_whole_part(quotients: Words, a: Words, b: Words) -> Mask:
    """Whether quotient * b <= a < (quotient + 1) * b."""
    high, low = _product(quotients, b)
    found: Mask = (high == _0) & (low <= a) & (a - low < b)
    return found


def _is_rounded_away(quotients: Words, a: Words, b: Words) -> Mask:
    """Whether (quotient - 1) * b < a <= quotient * b."""
    high, low = _product(quotients, b)
    found: Mask = (high == _0) & (low == a)
    high, low = _product(quotients - _1, b)
    found |= (high == _0) & (low < a) & (a - low < b)
    return found


def _product(a: Words, b: Words) -> tuple[Words, Words]:
    """Return the upper and the lower half of 128-bit products."""
    low = (a & _LOW_HALF) * (b & _LOW_HALF)
    first = (a >> _32) * (b & _LOW_HALF)
    second = (a & _LOW_HALF) * (b >> _32)
    middle = (low >> _32) + (first & _LOW_HALF) + (second & _LOW_HALF)
    high = (a >> _32) * (b >> _32) + (first >> _32) + (second >> _32) + (middle >> _32)
    return high, a * b
