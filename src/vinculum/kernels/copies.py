"""Copies between memory of any stride and buffers, in compiled code."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from vinculum.kernels.jit import inlined
from vinculum.kernels.memory import (
    LINE,
    TILE,
    copy_line,
    load,
    pointer,
    side_of,
    size_of,
    store,
    stream_line,
    swapped_bytes,
    transpose,
)

Array = np.ndarray[Any, Any]


_line, _reversed_line = copy_line(1), copy_line(-1)
_every_second, _every_third, _every_fourth = copy_line(2), copy_line(3), copy_line(4)


@inlined
def gather(source: int, stride: int, target: int, count: int, zero: Any, foreign: bool) -> None:
    """Copy elements that lie apart to contiguous memory, with their bytes turned round if their order is foreign."""
    size = size_of(zero)
    in_line = LINE // size
    # Lines are copied as far as an element follows: what lies before that one is read.
    lines = (count - 1) // in_line
    if stride == -size:
        for i in range(lines):
            _reversed_line(source - i * LINE, target + i * LINE, zero)
    elif stride == 2 * size:
        for i in range(lines):
            _every_second(source + i * 2 * LINE, target + i * LINE, zero)
    elif stride == 3 * size:
        for i in range(lines):
            _every_third(source + i * 3 * LINE, target + i * LINE, zero)
    elif stride == 4 * size:
        for i in range(lines):
            _every_fourth(source + i * 4 * LINE, target + i * LINE, zero)
    elif stride == size:
        for i in range(lines):
            _line(source + i * LINE, target + i * LINE, zero)
    else:
        lines = 0
    for i in range(lines * in_line, count):
        store(target + i * size, load(source + i * stride, zero))
    if foreign:
        gathered = numba.carray(pointer(target, zero), count)
        for i in range(count):
            gathered[i] = swapped_bytes(gathered[i])


@inlined
def turn(source: int, pitch: int, target: int, columns: int, zero: Any) -> None:
    """Copy the columns of as many lines as a square has, a pitch apart, to the lines of a tile."""
    size, side = size_of(zero), side_of(zero)
    turned = columns - columns % side
    for column in range(0, turned, side):
        transpose(source + column * pitch, pitch, target + column * size, zero)
    for column in range(turned, columns):
        for line in range(side):
            value = load(source + column * pitch + line * size, zero)
            store(target + (line * TILE + column) * size, value)


@inlined
def scatter(buffer: Array, address: int, stride: int) -> None:
    """Copy a buffer to a stretch of memory."""
    size = buffer.itemsize
    if stride == size:
        for i in range(buffer.size):
            store(address + i * size, buffer[i])
    else:
        for i in range(buffer.size):
            store(address + i * stride, buffer[i])


@inlined
def stream(buffer: Array, source: int, target: int) -> None:
    """Copy a buffer to contiguous memory, whole lines of the cache past it."""
    size = buffer.itemsize
    before = min((-target % LINE) // size, buffer.size)
    lines = (buffer.size - before) * size // LINE
    after = before + lines * LINE // size
    for i in range(before):
        store(target + i * size, buffer[i])
    for i in range(lines):
        stream_line(source + before * size + i * LINE, target + before * size + i * LINE)
    for i in range(after, buffer.size):
        store(target + i * size, buffer[i])
