"""A job: what a kernel is to divide, and how that is cut into blocks.

A *nest* is a table of four rows: dimensions, then the strides of dividend, divisor and quotient in bytes, outermost
first. A *line* is what its last column walks. A *block* is some columns of some consecutive lines; threads claim the
blocks of a job one after the other until none is left, so that one which comes late holds nobody up. A *run* is as much
of a line as is divided between two looks at the flags.

A *job* is an int64 array whose places are named below, with the nest behind them. Positions count elements in the order
of the walk; where that is not row-major an *order* follows the nest: the rank, then for each dimension, the walk's
outermost first, its size and what a step along it adds to the row-major position.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from vinculum.kernels import copies
from vinculum.kernels.vectors import TILE

Nest = npt.NDArray[np.int64]

(
    NEXT_BLOCK,  # the first that nobody has claimed yet
    ZERO_DIVISORS,  # how many there are
    FIRST_ZERO_DIVISOR,  # its position, -1 if there is none
    OVERFLOWS,
    FIRST_OVERFLOW,
    DIVIDENDS,  # the address of the first element
    DIVISORS,
    QUOTIENTS,
    SATURATE_ZERO_DIVISORS,  # the policies
    SATURATE_OVERFLOW,
    STREAM,  # whether quotients are written past the caches
    DIRECT,  # whether runs are written where they belong at once, or to a buffer first
    FOREIGN,  # which operands have the other byte order
    TRANSPOSED,  # which operands' elements are neighbours along the last dimension but one
    GATHER,  # the addresses of the functions of `copies`
    TURN,
    SCATTER,
    BLOCK_LINES,  # the shape of a block
    BLOCK_COLUMNS,
    BLOCKS,  # how many blocks there are
    LINES,  # how many lines there are
    DEPTH,  # columns of the nest
    ITEM_SIZE,
    ORDERS,  # where the order begins, if the walk is not row-major; else 0
    NEST,  # where the nest begins
) = range(25)
OF_DIVIDENDS, OF_DIVISORS = 1, 2  # as in FOREIGN and TRANSPOSED
LONGEST_JOB = NEST + 6 * 64 + 1  # NumPy knows 64 dimensions

# Bytes of quotients in a block: some microseconds of work, and small enough for a processor's own cache.
BLOCK = 1 << 17
# Quotients that take more bytes than this are written past the caches, if their lines are not short.
_STREAMED_FROM = 1 << 25
_SHORT_LINE = 1 << 15


def new_job(nest: Nest, item_size: int, order: tuple[tuple[int, int], ...]) -> npt.NDArray[np.int64]:
    """Return the job of a nest, but for the addresses of the arrays and the policies.

    Parameters
    ----------
    nest : ndarray of int64, shape (4, depth)
        Dimensions, then the strides in bytes of dividend, divisor and quotient, outermost first.
    item_size : int
        Bytes of an element.
    order : tuple of pairs of int
        Size of each dimension as walked and what a step along it adds to the row-major position; empty if the walk is
        row-major.
    """
    depth = nest.shape[1]
    length = int(nest[0, -1])
    lines = prod(nest[0, :-1].tolist())
    block_lines, columns = _block(nest, item_size)
    # Every line of the quotients has to be aligned as the first is: records may lie an odd number of bytes apart.
    contiguous = nest[3, -1] == item_size and not np.any(nest[3] % item_size)
    job = np.zeros(NEST + 4 * depth + (1 + 2 * len(order) if order else 0), np.int64)
    job[[FIRST_ZERO_DIVISOR, FIRST_OVERFLOW]] = -1
    job[STREAM] = contiguous and length * lines * item_size > _STREAMED_FROM and columns * item_size >= _SHORT_LINE
    job[DIRECT] = contiguous and not job[STREAM]
    operands = (1, OF_DIVIDENDS), (2, OF_DIVISORS)
    job[TRANSPOSED] = sum(flag for row, flag in operands if _is_transposed(nest, row, item_size))
    job[[GATHER, TURN, SCATTER]] = copies.addresses(item_size)
    job[BLOCK_LINES], job[BLOCK_COLUMNS] = block_lines, columns
    job[BLOCKS] = -(-lines // block_lines) * -(-length // columns)
    job[LINES], job[DEPTH], job[ITEM_SIZE] = lines, depth, item_size
    job[NEST : NEST + 4 * depth] = nest.ravel()
    if order:
        job[ORDERS] = NEST + 4 * depth
        job[job[ORDERS] :] = [len(order), *(number for pair in order for number in pair)]
    return job


def _block(nest: Nest, item_size: int) -> tuple[int, int]:
    """Return how many lines and columns a block has."""
    length = int(nest[0, -1])
    elements = max(BLOCK // item_size, 1)
    columns = min(length, TILE if _by_columns(nest) else elements)
    return max(elements // max(columns, 1), 1), columns


def _by_columns(nest: Nest) -> bool:
    """Whether an array's elements lie closer to each other along another dimension than along a line."""
    strides = np.abs(nest[1:])
    return bool(np.any((strides[:, :-1] < strides[:, -1:]) & (strides[:, :-1] > 0)))


def _is_transposed(nest: Nest, row: int, item_size: int) -> bool:
    """Whether an operand's elements are neighbours along the last dimension but one, and not along a line."""
    return nest.shape[1] > 1 and nest[row, -2] == item_size and abs(nest[row, -1]) > item_size
