"""Copies between memory of any stride and the buffers of a kernel.

They are compiled once for each size of elements and called by their addresses, which the job tells: as parts of every
kernel they would take as long to compile as all the rest of it.
"""

from __future__ import annotations

from typing import Any

from vinculum.kernels.jit import kernel
from vinculum.kernels.memory import address_of, load, size_of, store, zero_of
from vinculum.kernels.vectors import LINE, TILE, copy_line, side_of, stream_line, swap_line, transpose

_line, _reversed_line = copy_line(1), copy_line(-1)
_every_second, _every_third, _every_fourth = copy_line(2), copy_line(3), copy_line(4)


def gather(source: Any, stride: int, target: int, count: int, foreign: int) -> None:
    """Copy elements that lie apart to a buffer, and turn their bytes round if their order is foreign.

    Parameters
    ----------
    source : pointer
        To the first element; its type tells the size of all.
    stride : int
        Bytes from one to the next.
    target : int
        The buffer's address.
    count : int
        How many there are.
    foreign : int
        Not 0 if they have the other byte order.
    """
    first, zero = address_of(source), zero_of(source)
    size = size_of(zero)
    in_line = LINE // size
    # Lines are copied as far as an element follows: what lies before that one is read.
    lines = (count - 1) // in_line
    if stride == -size:
        for i in range(lines):
            _reversed_line(first - i * LINE, target + i * LINE, zero)
    elif stride == 2 * size:
        for i in range(lines):
            _every_second(first + i * 2 * LINE, target + i * LINE, zero)
    elif stride == 3 * size:
        for i in range(lines):
            _every_third(first + i * 3 * LINE, target + i * LINE, zero)
    elif stride == 4 * size:
        for i in range(lines):
            _every_fourth(first + i * 4 * LINE, target + i * LINE, zero)
    elif stride == size:
        for i in range(lines):
            _line(first + i * LINE, target + i * LINE, zero)
    else:
        lines = 0
    for i in range(lines * in_line, count):
        store(target + i * size, load(first + i * stride, zero))
    if foreign:
        # The last line may end behind the last element: a buffer holds whole lines.
        for i in range((count + in_line - 1) // in_line):
            swap_line(target + i * LINE, zero)


def turn(source: Any, pitch: int, target: int, columns: int, unused: int) -> None:
    """Copy columns to the lines of a tile, as many elements of each as a square has.

    Parameters
    ----------
    source : pointer
        To the first element of the first column, which the others of that column follow.
    pitch : int
        Bytes from one column to the next.
    target : int
        The tile's address.
    columns : int
        How many there are.
    unused : int
        Nothing; all copies are called alike.
    """
    first, zero = address_of(source), zero_of(source)
    size, side = size_of(zero), side_of(zero)
    turned = columns - columns % side
    for column in range(0, turned, side):
        transpose(first + column * pitch, pitch, target + column * size, zero)
    for column in range(turned, columns):
        for line in range(side):
            value = load(first + column * pitch + line * size, zero)
            store(target + (line * TILE + column) * size, value)


def scatter(source: Any, stride: int, target: int, count: int, streams: int) -> None:
    """Copy a buffer to where its elements belong.

    Parameters
    ----------
    source : pointer
        To the buffer.
    stride : int
        Bytes from one element to the next where they belong.
    target : int
        The address of the first there.
    count : int
        How many there are.
    streams : int
        Not 0 if they are contiguous and are to be written past the caches.
    """
    begin, zero = address_of(source), zero_of(source)
    size = size_of(zero)
    if stride != size:
        lines = count * size // LINE if stride == -size else 0
        for i in range(lines):
            last = (i + 1) * LINE - size
            _reversed_line(begin + last, target - last, zero)
        for i in range(lines * LINE // size, count):
            store(target + i * stride, load(begin + i * size, zero))
        return
    # Whole lines of the cache are written at once.
    before = min((-target % LINE) // size, count)
    lines = (count - before) * size // LINE
    after = before + lines * LINE // size
    for i in range(before):
        store(target + i * size, load(begin + i * size, zero))
    for i in range(lines):
        offset = before * size + i * LINE
        if streams:
            stream_line(begin + offset, target + offset)
        else:
            _line(begin + offset, target + offset, zero)
    for i in range(after, count):
        store(target + i * size, load(begin + i * size, zero))


def addresses(item_size: int) -> tuple[int, int, int]:
    """Return the addresses of `gather`, `turn` and `scatter` for elements of a size in bytes."""
    element = f"uint{8 * item_size}"
    return kernel(gather, element).address, kernel(turn, element).address, kernel(scatter, element).address
