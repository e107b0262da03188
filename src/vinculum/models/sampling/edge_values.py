"""Edge values: numbers at which divisions go wrong."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.spec.element_types import BinaryFormat, ElementType
from vinculum.tensors.storage import dtype_of

_SMALL = (1, 2, 3, 5, 7, 10)
_POWERS = (4, 7, 8, 11, 15, 16, 24, 31, 32, 53, 62, 63)  # Where a significand or an integer type ends.


@cache
def edge_values(element_type: ElementType) -> NDArray[Any]:
    """Return the numbers of a type at which divisions go wrong, the most effective first, in a read-only array.

    Floats: zeros, infinities and NaN; the smallest and largest subnormal, normal and finite numbers; numbers next
    to 1 and 2, whose quotients are as close as possible to the midpoint of two numbers; small odd multiples of the
    smallest subnormal, half of which is exactly a midpoint. Integers: 0, the limits of the type, small numbers, and
    the neighbours of the powers of 2 at which another type or a significand ends.

    - `element_type`: any but the reals.
    """
    if element_type.binary_format is not None:
        codes = np.array(_float_codes(element_type.binary_format), np.uint64)
        values = codes.astype(f"u{-(-element_type.bits // 8)}").view(dtype_of(element_type))
    else:
        wide = np.int64 if element_type.minimum else np.uint64
        values = np.array(_integers(element_type), wide).astype(dtype_of(element_type))
    values.flags.writeable = False
    return values


def _float_codes(fmt: BinaryFormat) -> list[int]:
    one, smallest_normal = fmt.bias << fmt.trailing_bits, 1 << fmt.trailing_bits
    two = one + smallest_normal
    numbers = [0, one, fmt.largest, 1, smallest_normal, smallest_normal - 1, one + 1, one - 1, two]
    numbers += [_code(n, fmt) for n in _SMALL]
    numbers += [two - 1, two + 1, 2, 3, 5, smallest_normal + 1, 2 * smallest_normal - 1, fmt.largest - 1]
    numbers += [one - smallest_normal, one + smallest_normal // 2, fmt.largest - smallest_normal, smallest_normal // 2]
    infinity = [fmt.largest + 1] if fmt.infinities else []
    magnitudes = [numbers[0], *infinity, *(n for n in numbers[1:] if 0 < n <= fmt.largest)]
    first, *rest = ([code, code | fmt.sign_mask] for code in dict.fromkeys(magnitudes))
    return [*first, fmt.nan, *(code for pair in rest for code in pair)]


def _code(number: int, fmt: BinaryFormat) -> int:
    """Return the encoding of a small whole number, truncated if the significand is too short."""
    exponent = number.bit_length() - 1
    significand = (number << fmt.trailing_bits) >> exponent
    return (fmt.bias + exponent - 1 << fmt.trailing_bits) + significand


def _integers(element_type: ElementType) -> list[int]:
    lowest, highest = element_type.minimum, element_type.maximum
    numbers = [0, lowest, -1, 1, highest, 2, -2, 3, -3, lowest + 1, highest - 1, highest // 2 + 1, -7, 7, 10]
    numbers += [sign * (2**k + d) for k in _POWERS for d in (0, -1, 1) for sign in (1, -1)]
    numbers += range(lowest, highest + 1) if element_type.bits == 4 else ()
    return [n for n in dict.fromkeys(numbers) if lowest <= n <= highest]


def paired(element_type: ElementType, start: int, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `size` pairs of edge values from the `start`-th on, the most effective first, in a cycle."""
    values = edge_values(element_type)
    first, second = _shells(len(values))
    places = np.arange(start, start + size) % len(first)
    return values[first[places]], values[second[places]]


@cache
def _shells(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of positions, ordered by the larger position of each pair, otherwise shuffled."""
    first, second = np.divmod(np.random.default_rng(count).permutation(count * count), count)
    order = np.argsort(np.maximum(first, second), kind="stable")
    return first[order], second[order]
