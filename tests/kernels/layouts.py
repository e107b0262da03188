"""The same elements in different memory layouts."""

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
    """Store every dimension backwards."""
    backwards = (slice(None, None, -1),) * array.ndim
    return np.array(array[backwards], order="C")[backwards]


def every_other(array: Array) -> Array:
    """Skip every other element in every dimension; the skipped ones are zero, which a test would notice as divisors."""
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
    """Copy into a read-only array."""
    view = np.array(array, order="C")
    view.flags.writeable = False
    return view


def unaligned(array: Array) -> Array:
    """Copy to an odd address."""
    memory = np.zeros(array.nbytes + 16, np.uint8)
    start = 1 - memory.__array_interface__["data"][0] % 2
    view = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def byte_swapped(array: Array) -> Array:
    """Store the bytes of each element in the other order."""
    return array.astype(array.dtype.newbyteorder())


def field_of_records(array: Array) -> Array:
    """Put other bytes between the elements, so that most of them are unaligned."""
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


BROADCASTS: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    "column-major": lambda a, b: (np.asfortranarray(a), b),
    "both column-major": lambda a, b: (np.asfortranarray(a), np.asfortranarray(b)),
    "gaps": lambda a, b: (every_other(a), b),
    "gaps between rows": lambda a, b: (a[:, ::2], b[:, 1::2]),
    "reversed": lambda a, b: (a, negative_strides(b)),
    "rotated": lambda a, b: (a, rotated(b)),
    "a repeated dimension": lambda a, b: (a, np.broadcast_to(b[0], b.shape)),
    "an element": lambda a, b: (a, b[0, 0, :1]),
    "an element as the dividend": lambda a, b: (a[0, 0, 0, ...], b),
    "a row": lambda a, b: (a, b[0, 0]),
    "a row as the dividend": lambda a, b: (a[0, 0], b),
    "a column": lambda a, b: (a, b[..., :1]),
    "a channel": lambda a, b: (a, b[0, :, :1]),
    "a matrix": lambda a, b: (a, b[0]),
    "the outermost dimension": lambda a, b: (a, b[:, :1, :1]),
    "both repeated": lambda a, b: (a[:, :1], b[:1, :, :1]),
    "a divisor of higher rank": lambda a, b: (a[0], b[:, :, :1]),
    "dimensions of one element": lambda a, b: (a[:, None, :, None], b[:, None, :, None]),
    "one more dimension": lambda a, b: (a[0, 0], b[0, 0, None]),
    "an element by an element": lambda a, b: (
        np.broadcast_to(a[0, 0, 0], a.shape),
        np.broadcast_to(b[0, 0, :1], b.shape),
    ),
    "no elements": lambda a, b: (a[:, :0], b[:, :1]),
}
"""Ways to pair operands that are broadcast, of two of rank 3."""

LAYOUTS: dict[str, Callable[[Array, Array], tuple[Array, Array]]] = {
    **BROADCASTS,
    "contiguous": lambda a, b: (a, b),
    "transposed": lambda a, b: (a.T, b.T),
    "transposed, not the divisor": lambda a, b: (a.T, np.array(b.T, order="C")),
    "turned": lambda a, b: (a[::-1, :, ::-1], b[::-1, :, ::-1]),
    "moved axes": lambda a, b: (np.moveaxis(a, 0, 1), np.moveaxis(b, 0, 1)),
    "one dimension": lambda a, b: (a.reshape(-1), b.reshape(-1)),
    "one dimension, turned": lambda a, b: (a.reshape(-1)[::-1], b.reshape(-1)[::-1]),
    "every third": lambda a, b: (a.reshape(-1)[:-1:3], b.reshape(-1)[1::3]),
    "byte-swapped": lambda a, b: (byte_swapped(a), byte_swapped(b)),
}
"""All ways to pair two operands of rank 3."""


def _flat(memory: Array) -> Array:
    return memory.reshape(-1)


PLACES: dict[str, Callable[[Array, Array], tuple[Array, Array, Array]]] = {
    "the dividend": lambda m, other: (m, other, m),
    "the divisor": lambda m, other: (other, m, m),
    "both": lambda m, other: (m, m, m),
    "the dividend, by a column": lambda m, other: (m, other[:, :1], m),
    "the divisor, of a row": lambda m, other: (other[:1], m, m),
    "the dividend, columns first": lambda m, other: (m.T, other, m.T),
    "the dividend, turned": lambda m, other: (m[::-1, ::-1], other, m[::-1, ::-1]),
    "the dividend, with gaps": lambda m, other: (m[:, 1:-1], other[:, 2:], m[:, 1:-1]),
    "the dividend, every other": lambda m, other: (m[:, ::2], other[:, ::2], m[:, ::2]),
    "one element on": lambda m, other: (_flat(m)[:-1], _flat(other)[1:], _flat(m)[1:]),
    "one element back": lambda m, other: (_flat(m)[1:], _flat(other)[1:], _flat(m)[:-1]),
    "one element on of the divisor": lambda m, other: (_flat(other)[1:], _flat(m)[:-1], _flat(m)[1:]),
    "between the operands": lambda m, other: (_flat(m)[:-2], _flat(m)[2:], _flat(m)[1:-1]),
    "a row on": lambda m, other: (m[:-1], other[:-1], m[1:]),
    "a row back": lambda m, other: (m[1:], other[:-1], m[:-1]),
    "turned": lambda m, other: (m[::-1], other, m),
    "turned along the lines": lambda m, other: (m, other, m[:, ::-1]),
    "turned as a whole": lambda m, other: (_flat(m), _flat(other), _flat(m)[::-1]),
    "the divisor turned": lambda m, other: (other, m[::-1, ::-1], m),
    "transposed": lambda m, other: (m.T, other, m),
    "transposed, the divisor": lambda m, other: (other, m.T, m),
    "against its own transpose": lambda m, other: (m, m.T, m),
    "a row of it": lambda m, other: (other, m[len(m) // 2], m),
    "a row of it, in place": lambda m, other: (m, m[-1], m),
    "a column of it": lambda m, other: (other, m[:, 1:2], m),
    "a column of it as the dividend": lambda m, other: (m[:, -1:], other, m),
    "an element of it": lambda m, other: (m, m[1, 2], m),
    "its first element": lambda m, other: (other, m[:1, :1], m),
    "its last element as the dividend": lambda m, other: (m[-1, -1:], other, m),
    "a stretched row of it": lambda m, other: (np.broadcast_to(m[1], m.shape), other, m),
    "between its elements": lambda m, other: (m[:, ::2], other[:, ::2], m[:, 1::2]),
    "beside it": lambda m, other: (m[2], m[0], m[1]),
    "beside it, and another": lambda m, other: (m[1], other[0], m[0]),
    "windows of it": lambda m, other: (
        np.lib.stride_tricks.sliding_window_view(_flat(m), 3)[: len(m), :2],
        other[:, :2],
        m[:, :2],
    ),
}
"""Operands and a result that lies across them, of two squares: the memory, and other elements."""


LINE = 64
"""Bytes of a line of the cache, at least."""


def at(shape: tuple[int, ...], dtype: np.dtype[Any], offset: int) -> Array:
    """Return an array at that offset from a cache line, with other bytes around it."""
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
