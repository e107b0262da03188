"""Comparison of quotients bit by bit, in which all NaNs are equal."""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(getattr(ml_dtypes, name, name))
    for name in (
        *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
        *("float16", "bfloat16", "float32", "float64"),
    )
}
INTEGERS = tuple(name for name in DTYPES if "int" in name)
FLOATS = tuple(name for name in DTYPES if "float" in name)

_EXPONENT_MASK: dict[type[Any], int] = {
    DTYPES[name].type: mask
    for name, mask in zip(FLOATS, (0x7C00, 0x7F80, 0x7F80_0000, 0x7FF0_0000_0000_0000), strict=True)
}


def encodings(array: Array) -> Array:
    """Return the bit patterns of an array as unsigned integers, whatever its layout."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def is_nan(array: Array) -> npt.NDArray[np.bool_]:
    """Return where an array is NaN, by its encodings: processor settings have no effect on that."""
    if array.dtype.type not in _EXPONENT_MASK:
        return np.zeros(array.shape, bool)
    exponent_mask = _EXPONENT_MASK[array.dtype.type]
    magnitude_mask = (1 << (8 * array.dtype.itemsize - 1)) - 1
    nan: npt.NDArray[np.bool_] = (encodings(array) & magnitude_mask) > exponent_mask
    return nan


def differing(actual: Array, expected: Array) -> npt.NDArray[np.bool_]:
    """Return where two arrays of one element type and shape differ in more than the payload of a NaN."""
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    different: npt.NDArray[np.bool_] = encodings(actual) != encodings(expected)
    if actual.dtype.type in _EXPONENT_MASK and different.any():
        different &= ~(is_nan(actual) & is_nan(expected))
    return different


def assert_same(actual: Array, expected: Array) -> None:
    """Fail if arrays differ, and show the number of differences and the first."""
    different = differing(actual, expected)
    if different.any():
        first = tuple(int(i) for i in np.argwhere(different)[0])
        raise AssertionError(
            f"{int(different.sum())} of {different.size} differ, the first at {first}: "
            f"{actual[first]!r} instead of {expected[first]!r}"
        )


def random_encodings(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """Return random bit patterns; a third of integers are small, and one in nine is the smallest or the largest."""
    rng = np.random.default_rng(seed)
    dtype = DTYPES[name]
    array = rng.integers(0, 256, prod(shape) * dtype.itemsize, dtype=np.uint8).view(dtype).reshape(shape)
    if name in INTEGERS:
        few = (np.arange(256) % 7 - (3 if dtype.kind == "i" else 0)).astype(dtype)
        few[228::2], few[229::2] = np.iinfo(dtype).min, np.iinfo(dtype).max
        drawn = rng.integers(0, 256, shape, dtype=np.uint8)
        array = np.where((drawn < 85) | (drawn >= 228), few.take(drawn), array)
    return array


def lenient(name: str) -> dict[str, Any]:
    """Return policies under which every pair of a type has a quotient."""
    return {} if name in FLOATS else {"zero_divisor": "saturate", "overflow": "saturate"}


def exact_quotients(
    a: Array, b: Array, *, floor: bool = True, zero_divisor: str = "saturate", overflow: str = "saturate"
) -> Array:
    """Return what the operators give under policies that give a value, by NumPy.

    NumPy's division of integers is exact where it is defined, its division of binary32 and binary64 is the processor's,
    and that of 16-bit floats by way of binary32 rounds as one rounding does: 24 bits are more than twice 11.
    """
    if a.dtype.type in _EXPONENT_MASK:
        wide = np.float32 if a.dtype.itemsize == 2 else a.dtype.newbyteorder("=")
        with np.errstate(all="ignore"):
            rounded: Array = np.divide(*(x.astype(wide, copy=False) for x in (a, b)))
            return rounded.astype(a.dtype.newbyteorder("="), copy=False)
    a, b = np.broadcast_arrays(*(x.astype(x.dtype.newbyteorder("="), copy=False) for x in (a, b)))
    smallest, largest = (a.dtype.type(limit) for limit in (np.iinfo(a.dtype).min, np.iinfo(a.dtype).max))
    with np.errstate(all="ignore"):
        quotients: Array = np.asarray(a // b)
    if not floor and smallest:
        quotients += (quotients < 0) & (quotients * b != a)
    by_zero = b == 0
    signs = np.sign(a[by_zero]) if zero_divisor == "saturate" else 0
    quotients[by_zero] = np.where(signs > 0, largest, np.where(signs < 0, smallest, a.dtype.type(0)))
    if smallest:
        quotients[(b == -1) & (a == smallest)] = largest if overflow == "saturate" else smallest
    return quotients
