"""Arrays from encodings and integers, reproducible random encodings, and distinct numbers for tests of shapes."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import prod
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from vinculum.conformance.cases.values.value_class import Array
from vinculum.spec.element_types import REAL, BinaryFormat, ElementType
from vinculum.tensors.storage import dtype_of

_LARGEST = 1 << 12
_PRIME = 4093  # So that dividends and divisors repeat with different periods.


def floats(codes: Iterable[int], element_type: ElementType) -> Array:
    """Return the floating-point numbers with these encodings."""
    return np.array(list(codes), np.uint64).astype(f"u{element_type.bits // 8}").view(dtype_of(element_type))


def whole(numbers: Iterable[int] | NDArray[np.int64], element_type: ElementType) -> Array:
    """Return integers in any element type; integer types hold them exactly, floating-point types round them."""
    if element_type is REAL:
        return np.array([Fraction(int(number)) for number in numbers], dtype=object)
    wide = np.float64 if element_type.binary_format else np.int64 if element_type.minimum else np.uint64
    array = numbers if isinstance(numbers, np.ndarray) else np.array(list(numbers), wide)
    return array.astype(wide).astype(dtype_of(element_type))


def scalar(number: int, element_type: ElementType) -> Array:
    """Return one integer as an array of rank 0."""
    return whole([number], element_type).reshape(())


def random_bits(what: str, element_type: ElementType, count: int) -> list[int]:
    """Return random words of the element type's width; the same `what` gives the same words on every machine."""
    seed = crc32(f"{what}, {element_type.name}".encode())
    words: NDArray[np.uint64] = np.random.PCG64(seed).random_raw(count)
    codes: list[int] = (words >> np.uint64(64 - element_type.bits)).tolist()
    return codes


def random_below(what: str, bound: int, count: int) -> list[int]:
    """Return random integers from 0 to `bound` - 1; the same `what` gives the same numbers."""
    words: list[int] = np.random.PCG64(crc32(what.encode())).random_raw(2 * count).tolist()
    return [(high << 64 | low) % bound for high, low in zip(words[::2], words[1::2], strict=True)]


def random_normals(
    what: str, element_type: ElementType, fmt: BinaryFormat, lowest: int, highest: int, count: int
) -> list[int]:
    """Return encodings of random signed normal numbers with biased exponents from `lowest` to `highest`."""
    trailing = 1 << fmt.trailing_bits
    first, last = max(lowest, 1), min(highest, fmt.largest >> fmt.trailing_bits)
    magnitudes = random_below(f"{what}, magnitudes of {element_type.name}", (last - first + 1) * trailing, count)
    signs = random_below(f"{what}, signs of {element_type.name}", 2, count)
    codes = (min(first * trailing + m, fmt.largest) for m in magnitudes)
    return [code | sign * fmt.sign_mask for code, sign in zip(codes, signs, strict=True)]


def dividends(shape: tuple[int, ...], t: ElementType) -> Array:
    """Return descending numbers, from the largest that is exact in the type (at most 4096); neighbours differ."""
    top = min(_largest_exact(t), _LARGEST)
    return whole(top - np.arange(prod(shape)) % max(top // 2, 1), t).reshape(shape)


def divisors(shape: tuple[int, ...], t: ElementType) -> Array:
    """Return ascending numbers from 1, distinct as far as the type represents them exactly."""
    top = min(_largest_exact(t), _PRIME) if t.is_integer else _largest_exact(t)
    return whole(1 + np.arange(prod(shape)) % top, t).reshape(shape)


def _largest_exact(t: ElementType) -> int:
    """Return the largest of the integers from 0 that are all exact in a type; 4096 for reals, which have none."""
    return t.maximum if t.is_integer else 1 << (t.binary_format.significand_bits if t.binary_format else 12)
