"""Adversarial pairs of 64-bit integers, and quotients checked by multiplying back in 128 bits: no division is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.exhaustive.exact_16 import NONE, compiled

Array = npt.NDArray[Any]

_0, _1, _2, _3 = (np.uint64(i) for i in range(4))
_32, _63 = np.uint64(32), np.uint64(63)
_LOW_HALF = np.uint64(0xFFFF_FFFF)
_TOP = np.uint64(1 << 63)
_LARGEST = np.uint64((1 << 64) - 1)


@compiled
def random_word(state: Array) -> Any:
    """Return the next word of an xorshift64* sequence; `state` holds one word that is not 0."""
    word = state[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    state[0] = word
    return np.uint64(word * np.uint64(0x2545F4914F6CDD1D))


@compiled
def edge(state: Array) -> Any:
    """Return a number of any length: random, beside a power of two, of few bits, of ones, or halfway in binary64."""
    kind = random_word(state) % np.uint64(6)
    length = random_word(state) & _63
    word = random_word(state)
    if kind == 0:
        return word >> length
    if kind == 1:
        return (_1 << length) + (word % np.uint64(7)) - _3
    if kind == 2:
        return (_1 << length) ^ (_1 << (word & _63)) ^ (word >> _63)
    if kind == 3:
        return ((_LARGEST >> length) << ((word >> _32) & np.uint64(7))) - (word & _1)
    if kind == 4:
        return _LARGEST - (word >> np.uint64(50))
    # 53 significant bits, and then exactly half of the last of them, or beside it.
    beyond = np.uint64(1) + length % np.uint64(11)
    significand = (word >> np.uint64(11)) | (_1 << np.uint64(52))
    return (significand << beyond) + (_1 << (beyond - _1)) + (word & _3) - _2


@compiled
def near_multiple(state: Array, divisor: np.uint64) -> Any:
    """Return a dividend: an edge, or beside a multiple of the divisor, of a quotient that is an edge where it fits."""
    dividend = edge(state)
    kind = random_word(state) & np.uint64(7)
    if kind >= np.uint64(6):
        return dividend
    most = np.uint64(_LARGEST // divisor)
    multiple = (dividend if dividend <= most else (dividend & (_TOP - _1)) % most) * divisor
    if kind == 0:
        return multiple
    if kind == 1:
        return multiple - _1
    if kind == 2:
        return multiple + _1
    if kind == 3:
        return multiple + divisor - _1
    return multiple + (divisor >> _1) + (kind & _1)


@compiled
def draw(state: Array, dividends: Array, divisors: Array) -> None:
    """Fill arrays with adversarial magnitudes; the divisors may be one element."""
    for i in range(divisors.size):
        divisor = edge(state)
        divisors[i] = _1 if divisor == _0 else divisor
    for i in range(dividends.size):
        dividends[i] = near_multiple(state, divisors[0] if divisors.size == 1 else divisors[i])


@compiled
def signed(state: Array, magnitudes: Array, numbers: Array) -> None:
    """Give magnitudes random signs; those above 2^63 lose their last bit first, one in 512 becomes MIN."""
    for i in range(magnitudes.size):
        magnitude = magnitudes[i] >> _1 if magnitudes[i] > _TOP else magnitudes[i]
        word = random_word(state)
        if word >> np.uint64(55) == _0:
            magnitude = _TOP
        magnitude = _1 if magnitude == _0 else magnitude
        numbers[i] = np.int64(_0 - magnitude if word & _1 or magnitude == _TOP else magnitude)


@compiled
def product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the upper and the lower half of a 128-bit product."""
    low = (a & _LOW_HALF) * (b & _LOW_HALF)
    first = (a >> _32) * (b & _LOW_HALF)
    second = (a & _LOW_HALF) * (b >> _32)
    middle = (low >> _32) + (first & _LOW_HALF) + (second & _LOW_HALF)
    high = (a >> _32) * (b >> _32) + (first >> _32) + (second >> _32) + (middle >> _32)
    return high, np.uint64(a * b)


@compiled
def is_whole_part(quotient: np.uint64, a: np.uint64, b: np.uint64) -> bool:
    """Whether quotient * b <= a < (quotient + 1) * b."""
    high, low = product(quotient, b)
    return bool(high == _0 and low <= a and a - low < b)


@compiled
def is_rounded_away(quotient: np.uint64, a: np.uint64, b: np.uint64) -> bool:
    """Whether (quotient - 1) * b < a <= quotient * b."""
    high, low = product(quotient, b)
    if high == _0 and low == a:
        return True
    high, low = product(np.uint64(quotient - _1), b)
    return bool(high == _0 and low < a and a - low < b)


@compiled
def wrong_unsigned(a: Array, b: Array, quotients: Array) -> tuple[int, int]:
    """Return how many quotients are wrong, and the position of the first; `b` may be one element."""
    wrong, first = 0, NONE
    for i in range(quotients.size):
        if not is_whole_part(quotients[i], a[i], b[0] if b.size == 1 else b[i]):
            first = i if wrong == 0 else first
            wrong += 1
    return wrong, first


@compiled
def wrong_signed(a: Array, b: Array, quotients: Array, floor: bool) -> tuple[int, int]:
    """Return the same for signed integers, MIN/-1 wrapped."""
    wrong, first = 0, NONE
    for i in range(quotients.size):
        divisor = b[0] if b.size == 1 else b[i]
        dividend_magnitude = _0 - np.uint64(a[i]) if a[i] < 0 else np.uint64(a[i])
        divisor_magnitude = _0 - np.uint64(divisor) if divisor < 0 else np.uint64(divisor)
        negative = (a[i] < 0) != (divisor < 0)
        magnitude = _0 - np.uint64(quotients[i]) if negative else np.uint64(quotients[i])
        if floor and negative:
            right = is_rounded_away(magnitude, dividend_magnitude, divisor_magnitude)
        else:
            right = is_whole_part(magnitude, dividend_magnitude, divisor_magnitude)
        if not right:
            first = i if wrong == 0 else first
            wrong += 1
    return wrong, first
