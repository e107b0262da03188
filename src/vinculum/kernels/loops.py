"""The loops, each written once and made for every rule: runs, lines, and the blocks of a job.

A *nest* is a table of four rows: dimensions, then the strides of dividend, divisor and quotient in bytes, outermost
first. A *line* is what its last column walks. A *block* is some columns of some consecutive lines; threads claim the
blocks of a job one after the other until none is left, so that one which comes late holds nobody up. A *run* is as much
of a line as is divided between two looks at the flags.

A *job* is an int64 array whose places are named below, with the nest behind them. Positions count elements in the order
of the walk; where that is not row-major an *order* follows the nest: the rank, then for each dimension, the walk's
outermost first, its size and what a step along it adds to the row-major position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from vinculum.kernels.environment import enter_ieee_754, restore
from vinculum.kernels.integer_quotient import (
    are_small,
    overflows,
    prepared_divisor,
    prepares,
    saturated,
)
from vinculum.kernels.jit import inlined
from vinculum.kernels.memory import (
    BUFFER,
    LINE,
    fence,
    fetch_add,
    fetch_least,
    int64_pointer,
    load,
    pointer,
    room_on_the_stack,
    size_of,
    store,
    stream_line,
    zero_of,
)

Array = np.ndarray[Any, Any]
Rule = Callable[..., Any]


class Runs(NamedTuple):
    """How a rule divides a run.

    Attributes
    ----------
    run : function of dividends, divisors, quotients, job, position
        Divides arrays of equal length; either operand may instead be one element that is repeated. The job is told of
        exceptional elements.
    prepares : function of a divisor
        Whether there is a quicker way for lines that repeat it, on which no element is exceptional.
    prepare : function of a divisor
        Makes it ready for that way; it is called for every divisor.
    run_by : function of dividends, divisor, prepared, quotients
        That way.
    """

    run: Callable[..., Any]
    prepares: Callable[..., Any]
    prepare: Callable[..., Any]
    run_by: Callable[..., Any]


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
    BLOCK_LINES,  # the shape of a block
    BLOCK_COLUMNS,
    BLOCKS,  # how many blocks there are
    LINES,  # how many lines there are
    DEPTH,  # columns of the nest
    ITEM_SIZE,
    ORDERS,  # where the order begins, if the walk is not row-major; else 0
    NEST,  # where the nest begins
) = range(20)
LONGEST_JOB = NEST + 6 * 64 + 1  # NumPy knows 64 dimensions

# Elements of a run that nothing is copied of: they and their quotients stay in the first-level cache.
RUN = 4096
# Repeated divisors of shorter lines are not worth preparing.
PREPARED = 64


def float_runs(quotient: Rule) -> Runs:
    """Make the runs of a rule that is defined for every pair."""

    @inlined
    def run(dividends: Array, divisors: Array, quotients: Array, job: Array, position: int) -> None:
        if divisors.size == 1 and dividends.size == 1:
            quotients[:] = quotient(dividends[0], divisors[0])
        elif divisors.size == 1:
            divisor = divisors[0]
            for i in range(quotients.size):
                quotients[i] = quotient(dividends[i], divisor)
        elif dividends.size == 1:
            dividend = dividends[0]
            for i in range(quotients.size):
                quotients[i] = quotient(dividend, divisors[i])
        else:
            for i in range(quotients.size):
                quotients[i] = quotient(dividends[i], divisors[i])

    @inlined
    def never(divisor: Any) -> bool:
        return False

    @inlined
    def unchanged(divisor: Any) -> Any:
        return divisor

    @inlined
    def no_run(dividends: Array, divisor: Any, prepared: Any, quotients: Array) -> None:
        """Stand where there is no quicker way."""

    return Runs(run, never, unchanged, no_run)


def integer_runs(quotient: Rule, small_quotient: Rule, quotient_by: Rule) -> Runs:
    """Make the runs of an integer rule, which finds zero divisors and overflow in the same pass."""

    @inlined
    def run(dividends: Array, divisors: Array, quotients: Array, job: Array, position: int) -> None:
        one = type(divisors[0])(1)
        exceptional = False
        if divisors.size == 1:
            divisor = divisors[0]
            guarded = one if divisor == 0 else divisor
            if dividends.size == 1:
                exceptional = overflows(dividends[0], divisor)
                quotients[:] = quotient(dividends[0], guarded)
            else:
                for i in range(quotients.size):
                    dividend = dividends[i]
                    exceptional |= overflows(dividend, divisor)
                    quotients[i] = quotient(dividend, guarded)
            exceptional |= divisor == 0
        elif dividends.size == 1:
            dividend = dividends[0]
            for i in range(quotients.size):
                divisor = divisors[i]
                exceptional |= (divisor == 0) | overflows(dividend, divisor)
                quotients[i] = quotient(dividend, one if divisor == 0 else divisor)
        elif are_small(divisors) and are_small(dividends):
            for i in range(quotients.size):
                divisor = divisors[i]
                exceptional |= divisor == 0
                quotients[i] = small_quotient(dividends[i], one if divisor == 0 else divisor)
        else:
            for i in range(quotients.size):
                dividend = dividends[i]
                divisor = divisors[i]
                exceptional |= (divisor == 0) | overflows(dividend, divisor)
                quotients[i] = quotient(dividend, one if divisor == 0 else divisor)
        if exceptional:
            _settle(dividends, divisors, quotients, job, position)

    @inlined
    def run_by(dividends: Array, divisor: Any, prepared: Any, quotients: Array) -> None:
        for i in range(quotients.size):
            quotients[i] = quotient_by(dividends[i], divisor, prepared)

    return Runs(run, prepares, prepared_divisor, run_by)


@inlined
def _row_major(job: Array, position: int) -> int:
    """Turn a position of the walk into one in row-major order."""
    begin = job[ORDERS]
    if begin == 0:
        return position
    found = 0
    for dimension in range(job[begin], 0, -1):
        found += position % job[begin + 2 * dimension - 1] * job[begin + 2 * dimension]
        position //= job[begin + 2 * dimension - 1]
    return found


@inlined
def _settle(dividends: Array, divisors: Array, quotients: Array, job: Array, position: int) -> None:
    """Count the exceptional elements of a run and give them the results that the policies ask for."""
    zero_divisors = overflowing = 0
    for i in range(quotients.size):
        dividend = dividends[0] if dividends.size == 1 else dividends[i]
        divisor = divisors[0] if divisors.size == 1 else divisors[i]
        if divisor == 0:
            zero_divisors += 1
            if zero_divisors == 1 or job[ORDERS]:
                fetch_least(job, FIRST_ZERO_DIVISOR, _row_major(job, position + i))
            # Zero by its type: joined with a Python 0, uint64 would go through binary64.
            quotients[i] = saturated(dividend) if job[SATURATE_ZERO_DIVISORS] else type(dividend)(0)
        elif overflows(dividend, divisor):
            overflowing += 1
            if overflowing == 1 or job[ORDERS]:
                fetch_least(job, FIRST_OVERFLOW, _row_major(job, position + i))
            if job[SATURATE_OVERFLOW]:
                quotients[i] = saturated(type(dividend)(1))
    fetch_add(job, ZERO_DIVISORS, zero_divisors)
    fetch_add(job, OVERFLOWS, overflowing)


@inlined
def _gather(address: int, stride: int, buffer: Array) -> None:
    """Copy a stretch of memory into a buffer; strides that have vector instructions are named."""
    size, count, zero = buffer.itemsize, buffer.size, type(buffer[0])(0)
    aligned = address % size == 0
    # Unsigned indices below, or Numba would look whether they are negative.
    if stride == size:
        for i in range(count):
            buffer[i] = load(address + i * size, zero)
    elif stride == -size and aligned:
        reversed_ = numba.carray(pointer(address - (count - 1) * size, zero), count)
        for i in range(count):
            buffer[i] = reversed_[np.uint64(count - 1 - i)]
    elif stride == 2 * size and aligned and size <= 2:  # of wider ones LLVM makes gathers, which are slower
        wider = numba.carray(pointer(address, zero), 2 * count - 1)
        for i in range(count):
            buffer[i] = wider[np.uint64(2 * i)]
    else:
        for i in range(count):
            buffer[i] = load(address + i * stride, zero)


@inlined
def _scatter(buffer: Array, address: int, stride: int) -> None:
    """Copy a buffer to a stretch of memory."""
    size = buffer.itemsize
    if stride == size:
        for i in range(buffer.size):
            store(address + i * size, buffer[i])
    else:
        for i in range(buffer.size):
            store(address + i * stride, buffer[i])


@inlined
def _stream(buffer: Array, source: int, target: int) -> None:
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


def blockwise(runs: Runs) -> Callable[[Any], None]:
    """Make the division of a job, in the type that the job's address points to."""
    run, prepares, prepare, run_by = runs

    @inlined
    def divide_line(job: Array, a: int, b: int, c: int, length: int, position: int, room: int, zero: Any) -> None:
        """Divide the elements of a line, or some of its columns, that begin at the addresses a and b, to c."""
        size = size_of(zero)
        depth = job[DEPTH]
        a_stride, b_stride, c_stride = job[NEST + 2 * depth - 1], job[NEST + 3 * depth - 1], job[NEST + 4 * depth - 1]
        direct = job[DIRECT] != 0
        a_direct = (a_stride == size or a_stride == 0) and a % size == 0
        b_direct = (b_stride == size or b_stride == 0) and b % size == 0
        step = RUN if direct and a_direct and b_direct else BUFFER // size
        divisor = load(b, zero)
        by = b_direct and b_stride == 0 and a_stride != 0 and length >= PREPARED and prepares(divisor)
        prepared = prepare(divisor if by else type(divisor)(1))
        for start in range(0, length, step):
            count = min(step, length - start)
            x, y, z = a + start * a_stride, b + start * b_stride, c + start * c_stride
            target = z
            if not a_direct:
                _gather(x, a_stride, numba.carray(pointer(room, zero), count))
                x = room
            if not b_direct:
                _gather(y, b_stride, numba.carray(pointer(room + BUFFER, zero), count))
                y = room + BUFFER
            if not direct:
                target = room + 2 * BUFFER
            dividends = numba.carray(pointer(x, zero), 1 if a_direct and a_stride == 0 else count)
            divisors = numba.carray(pointer(y, zero), 1 if b_direct and b_stride == 0 else count)
            quotients = numba.carray(pointer(target, zero), count)
            if by:
                run_by(dividends, divisor, prepared, quotients)
            else:
                run(dividends, divisors, quotients, job, position + start)
            if job[STREAM]:
                _stream(quotients, target, z)
            elif not direct:
                _scatter(quotients, z, c_stride)

    @inlined
    def divide_block(job: Array, block: int, room: int, zero: Any) -> None:
        inner = job[DEPTH] - 1
        nest = job[NEST : NEST + 4 * job[DEPTH]].reshape((4, job[DEPTH]))
        length = nest[0, inner]
        columns = job[BLOCK_COLUMNS]
        across = (length + columns - 1) // columns
        column = block % across * columns
        count = min(columns, length - column)
        line = block // across * job[BLOCK_LINES]
        end = min(line + job[BLOCK_LINES], job[LINES])
        a = job[DIVIDENDS] + column * nest[1, inner]
        b = job[DIVISORS] + column * nest[2, inner]
        c = job[QUOTIENTS] + column * nest[3, inner]
        counter = numba.carray(pointer(room + 3 * BUFFER, np.int64(0)), inner)
        rest = line
        for dimension in range(inner - 1, -1, -1):
            counter[dimension] = rest % nest[0, dimension]
            rest //= nest[0, dimension]
            a += counter[dimension] * nest[1, dimension]
            b += counter[dimension] * nest[2, dimension]
            c += counter[dimension] * nest[3, dimension]
        while True:
            divide_line(job, a, b, c, count, line * length + column, room, zero)
            line += 1
            if line == end:
                return
            dimension = inner - 1
            while True:
                counter[dimension] += 1
                a += nest[1, dimension]
                b += nest[2, dimension]
                c += nest[3, dimension]
                if counter[dimension] < nest[0, dimension]:
                    break
                a -= nest[1, dimension] * counter[dimension]
                b -= nest[2, dimension] * counter[dimension]
                c -= nest[3, dimension] * counter[dimension]
                counter[dimension] = 0
                dimension -= 1

    @inlined
    def divide(address: Any) -> None:
        environment = enter_ieee_754()
        job = numba.carray(int64_pointer(address), LONGEST_JOB)
        room = room_on_the_stack()
        while True:
            block = fetch_add(job, NEXT_BLOCK, 1)
            if block >= job[BLOCKS]:
                break
            divide_block(job, block, room, zero_of(address))
        if job[STREAM]:
            fence()
        restore(environment)

    return divide
