"""The quickest way through for plain arrays: one call of compiled code, which looks at the arrays itself.

It is an attempt: whatever is out of the ordinary is refused before anything is written, and left to the general way,
which tells what is wrong. Only exceptional elements are found after the division, which the general way then repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
    WRITEABLE,
    array_object,
    field,
    type_of,
)
from vinculum.kernels.attempts import DONE, PLAIN, REFUSED
from vinculum.kernels.jit import entry, inlined
from vinculum.kernels.jobs import (
    BLOCK_COLUMNS,
    DIVIDENDS,
    DIVISORS,
    FIRST_OVERFLOW,
    FIRST_ZERO_DIVISOR,
    LONGEST_JOB,
    NEST,
    NEXT_BLOCK,
    OVERFLOWS,
    QUOTIENTS,
    ZERO_DIVISORS,
    new_job,
)
from vinculum.kernels.memory import pointer
from vinculum.kernels.pool import call

# What stands before the job: the array type, the element type, the kernel, how many elements are few, and whether one
# may stand for all.
_ARRAY_TYPE, _ELEMENT_TYPE, _KERNEL, _FEW, _REPEATS, _JOB = range(6)


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
def _size(array: Any) -> int:
    shape = numba.carray(pointer(field(array, SHAPE), np.int64(0)), 64)
    size = 1
    for dimension in range(_rank(array)):
        size *= shape[dimension]
    return size


@inlined
def _same_shape(a: Any, b: Any) -> bool:
    if _rank(a) != _rank(b):
        return False
    a_shape = numba.carray(pointer(field(a, SHAPE), np.int64(0)), 64)
    b_shape = numba.carray(pointer(field(b, SHAPE), np.int64(0)), 64)
    for dimension in range(_rank(a)):  # noqa: SIM110  # Numba compiles no generators
        if a_shape[dimension] != b_shape[dimension]:
            return False
    return True


def _attempt(memory: Any, a: Any, b: Any, out: Any) -> int:
    record = numba.carray(pointer(field(memory, DATA), np.int64(0)), _JOB + LONGEST_JOB)
    readable = C_CONTIGUOUS | ALIGNED
    if not (_plain(a, record, readable) and _plain(b, record, readable) and _plain(out, record, readable | WRITEABLE)):
        return REFUSED
    repeats_a = repeats_b = False
    if not _same_shape(a, out):
        repeats_a = record[_REPEATS] != 0 and _size(a) == 1 and _rank(a) <= _rank(out) and _same_shape(b, out)
        if not repeats_a:
            return REFUSED
    elif not _same_shape(b, out):
        repeats_b = record[_REPEATS] != 0 and _size(b) == 1 and _rank(b) <= _rank(out)
        if not repeats_b:
            return REFUSED
    job = record[_JOB:]
    size, item = _size(out), job[NEST + 3]
    few = size <= record[_FEW]
    first, last = field(out, DATA), field(out, DATA) + size * item
    for operand, repeats in ((a, repeats_a), (b, repeats_b)):
        begin = field(operand, DATA)
        overlaps = begin < last and first < begin + (item if repeats else size * item)
        # Few are divided again if one is exceptional, so that operands must stay what they are.
        if overlaps and (few or repeats or begin != first):
            return REFUSED
    if not few:
        return PLAIN
    if size == 0:
        return DONE
    job[NEXT_BLOCK] = job[ZERO_DIVISORS] = job[OVERFLOWS] = 0
    job[FIRST_ZERO_DIVISOR] = job[FIRST_OVERFLOW] = -1
    job[DIVIDENDS], job[DIVISORS], job[QUOTIENTS] = field(a, DATA), field(b, DATA), first
    job[BLOCK_COLUMNS] = job[NEST] = size
    job[NEST + 1] = 0 if repeats_a else item
    job[NEST + 2] = 0 if repeats_b else item
    call(record[_KERNEL], field(memory, DATA) + 8 * _JOB)
    return DONE if job[ZERO_DIVISORS] + job[OVERFLOWS] == 0 else REFUSED


def attempt(kernel: int, dtype: np.dtype[Any], few: int, repeats: bool) -> Callable[[object, object, object], int]:
    """Return a function of dividends, divisors and result, which divides few if nothing is out of the ordinary.

    Parameters
    ----------
    kernel : int
        The address of a kernel.
    dtype : numpy.dtype
        The element type of all three.
    few : int
        The most elements that it divides.
    repeats : bool
        Whether one element may stand for all.

    Returns
    -------
    callable
        It returns DONE if the quotients are in the result, none of them exceptional; PLAIN if there are more than few,
        contiguous, in memory of their own or in the place of an operand; else REFUSED. It does not release the GIL, as
        its calls share the job.
    """
    nest = np.array([[1], [dtype.itemsize], [dtype.itemsize], [dtype.itemsize]], np.int64)
    memory: npt.NDArray[np.int64] = np.concatenate(
        [[id(np.ndarray), id(dtype), kernel, few, repeats], new_job(nest, dtype.itemsize, ())]
    ).astype(np.int64)
    made = partial(entry(_attempt, *(array_object,) * 4, releases_gil=False), memory)
    made.dtype = dtype  # type: ignore[attr-defined]  # kept, or another could come to have its address
    return made
