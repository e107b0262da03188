"""The loop over the blocks of a job, and over the lines and runs of a block; see `jobs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from vinculum.kernels.copies import gather, scatter, stream
from vinculum.kernels.environment import enter_ieee_754, restore
from vinculum.kernels.jit import inlined
from vinculum.kernels.jobs import (
    BLOCK_COLUMNS,
    BLOCK_LINES,
    BLOCKS,
    DEPTH,
    DIRECT,
    DIVIDENDS,
    DIVISORS,
    FOREIGN,
    FOREIGN_DIVIDENDS,
    FOREIGN_DIVISORS,
    LINES,
    LONGEST_JOB,
    NEST,
    NEXT_BLOCK,
    QUOTIENTS,
    STREAM,
)
from vinculum.kernels.memory import (
    BUFFER,
    fence,
    fetch_add,
    int64_pointer,
    load,
    pointer,
    room_on_the_stack,
    size_of,
    zero_of,
)
from vinculum.kernels.runs import Runs

Array = np.ndarray[Any, Any]

# Elements of a run that nothing is copied of: they and their quotients stay in the first-level cache.
RUN = 4096
# Repeated divisors of shorter lines are not worth preparing.
PREPARED = 64


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
        foreign_a, foreign_b = job[FOREIGN] & FOREIGN_DIVIDENDS != 0, job[FOREIGN] & FOREIGN_DIVISORS != 0
        a_direct = (a_stride == size or a_stride == 0) and a % size == 0 and not foreign_a
        b_direct = (b_stride == size or b_stride == 0) and b % size == 0 and not foreign_b
        step = RUN if direct and a_direct and b_direct else BUFFER // size
        divisor = load(b, zero)
        by = b_direct and b_stride == 0 and a_stride != 0 and length >= PREPARED and prepares(divisor)
        prepared = prepare(divisor if by else type(divisor)(1))
        for start in range(0, length, step):
            count = min(step, length - start)
            x, y, z = a + start * a_stride, b + start * b_stride, c + start * c_stride
            target = z
            if not a_direct:
                gather(x, a_stride, room, count, zero, foreign_a)
                x = room
            if not b_direct:
                gather(y, b_stride, room + BUFFER, count, zero, foreign_b)
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
                stream(quotients, target, z)
            elif not direct:
                scatter(quotients, z, c_stride)

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
