"""The same elements in every way in which memory can hold them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def c_order(array: Array) -> Array:
    """Copy into row-major order."""
    return np.array(array, order="C")


def fortran_order(array: Array) -> Array:
    """Copy into column-major order."""
    return np.array(array, order="F")


def negative_strides(array: Array) -> Array:
    """Let every dimension run backwards through memory."""
    backwards = (slice(None, None, -1),) * array.ndim
    return np.array(array[backwards], order="C")[backwards]


def every_other(array: Array) -> Array:
    """Skip an element after each in every dimension; those are zero and would be noticed as divisors."""
    wide = np.zeros([2 * size for size in array.shape], array.dtype)
    view = wide[(slice(1, None, 2),) * array.ndim]
    view[...] = array
    return view


def rotated(array: Array) -> Array:
    """Put the last dimension outermost in memory."""
    return np.moveaxis(np.array(np.moveaxis(array, -1, 0), order="C"), 0, -1) if array.ndim else array.copy()


def part_of_rows(array: Array) -> Array:
    """Leave a gap after each row."""
    if not array.ndim:
        return array.copy()
    wide = np.zeros((*array.shape[:-1], array.shape[-1] + 3), array.dtype)
    view = wide[..., : array.shape[-1]]
    view[...] = array
    return view


WRITABLE: dict[str, Callable[[Array], Array]] = {
    "c_order": c_order,
    "fortran_order": fortran_order,
    "negative_strides": negative_strides,
    "every_other": every_other,
    "rotated": rotated,
    "part_of_rows": part_of_rows,
}


def read_only(array: Array) -> Array:
    """Forbid to write to it."""
    view = np.array(array, order="C")
    view.flags.writeable = False
    return view


def unaligned(array: Array) -> Array:
    """Begin at an odd address."""
    memory = np.zeros(array.nbytes + 16, np.uint8)
    start = 1 - memory.__array_interface__["data"][0] % 2
    view = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def byte_swapped(array: Array) -> Array:
    """Store the bytes of each element in the other order."""
    return array.astype(array.dtype.newbyteorder())


def field_of_records(array: Array) -> Array:
    """Put other bytes between the elements, so that none but the first may lie at a multiple of its size."""
    records = np.zeros(array.shape, np.dtype([("before", "u1"), ("kept", array.dtype), ("after", "u1")]))
    records["kept"] = array
    kept: Array = records["kept"]
    return kept


ANY: dict[str, Callable[[Array], Array]] = {
    **WRITABLE,
    "read_only": read_only,
    "unaligned": unaligned,
    "byte_swapped": byte_swapped,
    "field_of_records": field_of_records,
}


LINE = 64
"""Bytes of a line of the cache, at least."""


def at(shape: tuple[int, ...], dtype: np.dtype[Any], offset: int) -> Array:
    """Return an array that begins that many bytes after a line of the cache, other bytes around it."""
    size = prod(shape) * dtype.itemsize
    raw = np.full(size + 3 * LINE, 0x5A, np.uint8)
    begin = -raw.__array_interface__["data"][0] % LINE + LINE + offset
    return raw[begin : begin + size].view(dtype).reshape(shape)


def assert_untouched_around(array: Array) -> None:
    """Fail if a byte beside an array of `at` has changed."""
    raw = array
    while isinstance(raw.base, np.ndarray):
        raw = raw.base
    begin = array.__array_interface__["data"][0] - raw.__array_interface__["data"][0]
    assert (raw[:begin] == 0x5A).all()
    assert (raw[begin + array.nbytes :] == 0x5A).all()
