"""Operands that division goes wrong on, for the extracted C library."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from tests.kernels.comparing import DTYPES, FLOATS, random_encodings

Array = npt.NDArray[Any]

NAMES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
# What C calls the types that the functions are named after.
C_NAMES = {"float32": "float", "float64": "double"}

_MANTISSA_BITS = {"float32": 23, "float64": 52}


def divisible(name: str) -> tuple[Array, Array]:
    """Return every pair of remarkable values, of 8 bits every pair, and random ones; no integer is divided by zero."""
    values = _every_byte(name) if name in ("int8", "uint8") else _remarkable(name)
    drawn = [random_encodings(name, (2000,), seed) for seed in (1, 2)]
    squares = np.meshgrid(values, values, indexing="ij")
    a, b = (np.concatenate([x.ravel(), y]) for x, y in zip(squares, drawn, strict=True))
    accepted = np.ones(b.shape, bool) if name in FLOATS else b != 0
    return a[accepted], b[accepted]


def _every_byte(name: str) -> Array:
    return np.arange(256, dtype=np.uint8).view(DTYPES[name])


def _remarkable(name: str) -> Array:
    dtype = DTYPES[name]
    if name in FLOATS:
        return _remarkable_floats(name)
    limits = np.iinfo(dtype)
    near = {sign * (1 << k) + d for k in range(0, limits.bits, 3) for d in (-1, 0, 1) for sign in (1, -1)}
    near |= {limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 3, 10, 11, -11}
    return np.array(sorted(z for z in near if limits.min <= z <= limits.max), dtype)


def _remarkable_floats(name: str) -> Array:
    bits = 8 * DTYPES[name].itemsize
    last = _MANTISSA_BITS[name]
    infinity = ((1 << (bits - 1 - last)) - 1) << last
    one = (infinity >> (last + 1)) << last
    ones = (1 << last) - 1
    magnitudes = [0, 1, 2, ones - 1, ones, ones + 1, ones + 2, one - 1, one, one + 1, one + ones // 3, one + ones]
    magnitudes += [one + (1 << (last - 1)), one + (3 << (last - 1)), infinity - 1, infinity, infinity + 1]
    return np.array([x | sign << (bits - 1) for x in magnitudes for sign in (0, 1)], f"u{bits // 8}").view(DTYPES[name])


# Shapes of dividend and divisor.
_SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((2, 1), (1, 3)),
    ((0, 3), (1, 3)),
    ((2, 1, 4), (2, 0, 1)),
    ((1, 1), (1, 1)),
    ((2, 1, 3, 1, 2, 1), (1, 4, 1, 2, 1, 3)),
    ((5, 4, 3), (4, 1)),
)


def _numbered(*shape: int) -> Array:
    return np.arange(prod(shape)).reshape(shape)


# Views of the numbers of elements, as broadcast divisions walk over them: by shapes, and in diagonals.
WALKS: list[tuple[Array, Array]] = [
    *((a, b) for a, b in (np.broadcast_arrays(*(_numbered(*shape) for shape in pair)) for pair in _SHAPES)),
    (sliding_window_view(_numbered(6), 4), sliding_window_view(_numbered(6), 4)),
]
