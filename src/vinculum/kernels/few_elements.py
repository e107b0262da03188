"""The quickest way through for plain arrays: one call of compiled code, which looks at the arrays itself.

It is an attempt: whatever is out of the ordinary is refused before anything is written, and left to the general way,
which tells what is wrong. Only exceptional elements are found after the division, which the general way then repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from vinculum.kernels.array_objects import (
    ALIGNED,
    C_CONTIGUOUS,
    DATA,
    ELEMENT_TYPE,
    FLAGS,
    RANK,
    SHAPE,
    STRIDES,
    WRITEABLE,
    array_object,
    field,
    type_of,
)
from vinculum.kernels.attempts import DONE, PLAIN, REFUSED
from vinculum.kernels.jit import entry, inlined
from vinculum.kernels.jobs import (
    BLOCK,
    BLOCK_COLUMNS,
    BLOCK_LINES,
    BLOCKS,
    DEPTH,
    DIVIDENDS,
    DIVISORS,
    FIRST_OVERFLOW,
    FIRST_ZERO_DIVISOR,
    ITEM_SIZE,
    LINES,
    LONGEST_JOB,
    NEST,
    NEXT_BLOCK,
    OF_DIVIDENDS,
    OF_DIVISORS,
    OVERFLOWS,
    QUOTIENTS,
    TRANSPOSED,
    ZERO_DIVISORS,
    new_job,
)
from vinculum.kernels.memory import call, pointer
from vinculum.kernels.vectors import TILE

# What stands before the job: the array type, the element type, the kernel, whether operands may be repeated, and room
# for the columns of a nest, one after the other: dimension, and strides of dividend, divisor and quotient.
_ARRAY_TYPE, _ELEMENT_TYPE, _KERNEL, _REPEATS, _COLUMNS = range(5)
_MOST_DIMENSIONS = 64  # that NumPy knows
_JOB = _COLUMNS + 4 * _MOST_DIMENSIONS


@inlined
def _plain(array: Any, record: Any, flags: int) -> bool:
    """Whether an object is an array of the element type with these flags."""
    return (
        type_of(array) == record[_ARRAY_TYPE]
        and field(array, ELEMENT_TYPE) == record[_ELEMENT_TYPE]
        and field(array, FLAGS) & flags == flags
    )


@inlined
def _rank(array: Any) -> int:
    return field(array, RANK) & 0xFF  # an int of 32 bits


@inlined
def _numbers(array: Any, place: int) -> Any:
    """View the shape of an array, or its strides."""
    return numba.carray(pointer(field(array, place), np.int64(0)), _MOST_DIMENSIONS)


@inlined
def _join(columns: Any, a: Any, b: Any, out: Any, repeats: bool, item: int) -> int:
    """Write the columns of the nest of three arrays, and return how many; 0 if the shapes do not join to the result's.

    Dimensions that all three step through as if they were one become one, and those of size 1 are left out.
    """
    rank, rank_a, rank_b = _rank(out), _rank(a), _rank(b)
    shape, shape_a, shape_b = _numbers(out, SHAPE), _numbers(a, SHAPE), _numbers(b, SHAPE)
    strides, strides_a, strides_b = _numbers(out, STRIDES), _numbers(a, STRIDES), _numbers(b, STRIDES)
    if rank_a > rank or rank_b > rank:
        return 0
    depth = 0
    for d in range(rank):
        size, i, j = shape[d], d - rank + rank_a, d - rank + rank_b
        along_a, along_b = i >= 0 and shape_a[i] == size, j >= 0 and shape_b[j] == size
        if not (along_a and along_b) and not (
            repeats
            and (along_a or along_b)
            and (along_a or i < 0 or shape_a[i] == 1)
            and (along_b or j < 0 or shape_b[j] == 1)
        ):
            return 0
        if size == 1:
            continue
        step_a, step_b, step = strides_a[i] if along_a else 0, strides_b[j] if along_b else 0, strides[d]
        if depth > 0 and _continues(columns, depth - 1, step_a * size, step_b * size, step * size):
            depth -= 1
            size *= columns[depth, 0]
        columns[depth, 0], columns[depth, 1], columns[depth, 2], columns[depth, 3] = size, step_a, step_b, step
        depth += 1
    if depth == 0:
        columns[0, 0], columns[0, 1], columns[0, 2], columns[0, 3] = 1, item, item, item
        depth = 1
    return depth


@inlined
def _continues(columns: Any, d: int, step_a: int, step_b: int, step: int) -> bool:
    return columns[d, 1] == step_a and columns[d, 2] == step_b and columns[d, 3] == step


@inlined
def _extent(columns: Any, depth: int, place: int, address: int, item: int) -> tuple[int, int]:
    """Return where the memory of an array begins and ends."""
    first = last = address
    for d in range(depth):
        reach = (columns[d, 0] - 1) * columns[d, place]
        first, last = first + min(reach, 0), last + max(reach, 0)
    return first, last + item


@inlined
def _alike(columns: Any, depth: int, place: int) -> bool:
    """Whether an operand is laid out as the result is."""
    for d in range(depth):  # noqa: SIM110  # Numba compiles no generators
        if columns[d, place] != columns[d, 3]:
            return False
    return True


@inlined
def _transposed(columns: Any, depth: int, item: int) -> int:
    """Return which operands' elements are neighbours along the last dimension but one, and not along a line."""
    found = 0
    if depth > 1:
        if columns[depth - 2, 1] == item and abs(columns[depth - 1, 1]) > item:
            found |= OF_DIVIDENDS
        if columns[depth - 2, 2] == item and abs(columns[depth - 1, 2]) > item:
            found |= OF_DIVISORS
    return found


def _attempt(memory: Any, a: Any, b: Any, out: Any) -> int:
    record = numba.carray(pointer(field(memory, DATA), np.int64(0)), _JOB + LONGEST_JOB)
    if not (
        _plain(a, record, ALIGNED)
        and _plain(b, record, ALIGNED)
        and _plain(out, record, ALIGNED | C_CONTIGUOUS | WRITEABLE)
    ):
        return REFUSED
    job = record[_JOB:]
    item = job[ITEM_SIZE]
    columns = numba.carray(pointer(field(memory, DATA) + 8 * _COLUMNS, np.int64(0)), (_MOST_DIMENSIONS, 4))
    depth = _join(columns, a, b, out, record[_REPEATS] != 0, item)
    if depth == 0:
        return REFUSED
    size = 1
    for d in range(depth):
        size *= columns[d, 0]
    if size == 0:
        return DONE
    first_a, last_a = _extent(columns, depth, 1, field(a, DATA), item)
    first_b, last_b = _extent(columns, depth, 2, field(b, DATA), item)
    first, last = field(out, DATA), field(out, DATA) + size * item
    few = last - first <= BLOCK and last_a - first_a <= BLOCK and last_b - first_b <= BLOCK
    # Few are divided again if one is exceptional, so that operands must stay what they are.
    if first_a < last and first < last_a and (few or first_a != first or not _alike(columns, depth, 1)):
        return REFUSED
    if first_b < last and first < last_b and (few or first_b != first or not _alike(columns, depth, 2)):
        return REFUSED
    if not few:
        return PLAIN
    job[NEXT_BLOCK] = job[ZERO_DIVISORS] = job[OVERFLOWS] = 0
    job[FIRST_ZERO_DIVISOR] = job[FIRST_OVERFLOW] = -1
    job[DIVIDENDS], job[DIVISORS], job[QUOTIENTS] = field(a, DATA), field(b, DATA), first
    length = width = columns[depth - 1, 0]
    job[TRANSPOSED] = _transposed(columns, depth, item)
    if job[TRANSPOSED] != 0:
        width = min(length, TILE)
    job[BLOCK_LINES] = job[LINES] = size // length
    job[BLOCK_COLUMNS], job[BLOCKS], job[DEPTH] = width, (length + width - 1) // width, depth
    for d in range(depth):
        for place in range(4):
            job[NEST + place * depth + d] = columns[d, place]
    call(record[_KERNEL], field(memory, DATA) + 8 * _JOB)
    return DONE if job[ZERO_DIVISORS] + job[OVERFLOWS] == 0 else REFUSED


def attempt(kernel: int, dtype: np.dtype[Any], repeats: bool) -> Callable[[object, object, object], int]:
    """Return a function of dividends, divisors and result, which divides few if nothing is out of the ordinary.

    Few take at most the bytes of a block in each array, gaps included.

    Parameters
    ----------
    kernel : int
        The address of a kernel.
    dtype : numpy.dtype
        The element type of all three. It is known by its address, and so has to outlive the function.
    repeats : bool
        Whether operands are repeated along dimensions that they lack, or have with size 1.

    Returns
    -------
    callable
        It returns DONE if the quotients are in the result, none of them exceptional; PLAIN if there are more than few,
        the result contiguous, in memory of its own or in the place of an operand; else REFUSED. It does not release
        the GIL, as its calls share the job.
    """
    nest = np.array([[1], [dtype.itemsize], [dtype.itemsize], [dtype.itemsize]], np.int64)
    memory: npt.NDArray[np.int64] = np.zeros(_JOB + LONGEST_JOB, np.int64)
    memory[:_COLUMNS] = [id(np.ndarray), id(dtype), kernel, repeats]
    job = new_job(nest, dtype.itemsize, ())
    memory[_JOB : _JOB + job.size] = job
    # A method of the memory, so to say: Python calls it quicker than functools.partial.
    return MethodType(entry(_attempt, *(array_object,) * 4, releases_gil=False), memory)
