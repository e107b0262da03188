"""The loop over the blocks of a job, and over the lines and runs of a block; see `jobs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from vinculum.kernels.atomics import fence, fetch_add
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
    GATHER,
    LINES,
    LONGEST_JOB,
    NEST,
    NEXT_BLOCK,
    OF_DIVIDENDS,
    OF_DIVISORS,
    QUOTIENTS,
    SCATTER,
    STREAM,
    TRANSPOSED,
    TURN,
)
from vinculum.kernels.memory import (
    BUFFER,
    COUNTERS,
    TILES,
    address_of,
    call_copy,
    load,
    pointer,
    room_on_the_stack,
    size_of,
    zero_of,
)
from vinculum.kernels.runs import Runs
from vinculum.kernels.vectors import TILE, TILE_BYTES, side_of

Array = np.ndarray[Any, Any]

# Elements of a run that nothing is copied of: they and their quotients stay in the first-level cache.
RUN = 4096
# Repeated divisors of shorter lines are not worth preparing.
PREPARED = 64


@inlined
def _first_line(job: Array, nest: Array, counter: Array, line: int, column: int) -> tuple[int, int, int]:
    """Count to a line of a job, and return where its operands and its quotients begin, at a column."""
    inner = job[DEPTH] - 1
    a = job[DIVIDENDS] + column * nest[1, inner]
    b = job[DIVISORS] + column * nest[2, inner]
    c = job[QUOTIENTS] + column * nest[3, inner]
    for dimension in range(inner - 1, -1, -1):
        counter[dimension] = line % nest[0, dimension]
        line //= nest[0, dimension]
        a += counter[dimension] * nest[1, dimension]
        b += counter[dimension] * nest[2, dimension]
        c += counter[dimension] * nest[3, dimension]
    return a, b, c


@inlined
def _next_line(nest: Array, counter: Array, a: int, b: int, c: int) -> tuple[int, int, int]:
    """Count one line on, and return where it begins; behind the last one, where the first began."""
    for dimension in range(counter.size - 1, -1, -1):
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
    return a, b, c


def blockwise(runs: Runs) -> Callable[[Any], None]:
    """Make the division of a job, in the type that the job's address points to."""
    run, prepares, prepare, run_by = runs

    @inlined
    def divide_line(
        job: Array, a: int, a_step: int, b: int, b_step: int, c: int, count: int, position: int, room: int, zero: Any
    ) -> None:
        """Divide some elements of a line, which begin at the addresses a and b, to c."""
        size = size_of(zero)
        c_step = job[NEST + 4 * job[DEPTH] - 1]
        direct = job[DIRECT] != 0
        foreign_a, foreign_b = job[FOREIGN] & OF_DIVIDENDS, job[FOREIGN] & OF_DIVISORS
        a_direct = (a_step == size or a_step == 0) and a % size == 0 and foreign_a == 0
        b_direct = (b_step == size or b_step == 0) and b % size == 0 and foreign_b == 0
        step = RUN if direct and a_direct and b_direct else BUFFER // size
        divisor = load(b, zero)
        by = b_direct and b_step == 0 and a_step != 0 and count >= PREPARED and prepares(divisor)
        prepared = prepare(divisor if by else type(divisor)(1))
        for start in range(0, count, step):
            elements = min(step, count - start)
            x, y, z = a + start * a_step, b + start * b_step, c + start * c_step
            target = z
            if not a_direct:
                call_copy(job[GATHER], x, a_step, room, elements, foreign_a)
                x = room
            if not b_direct:
                call_copy(job[GATHER], y, b_step, room + BUFFER, elements, foreign_b)
                y = room + BUFFER
            if not direct:
                target = room + 2 * BUFFER
            dividends = numba.carray(pointer(x, zero), 1 if a_direct and a_step == 0 else elements)
            divisors = numba.carray(pointer(y, zero), 1 if b_direct and b_step == 0 else elements)
            quotients = numba.carray(pointer(target, zero), elements)
            if by:
                run_by(dividends, divisor, prepared, quotients)
            else:
                run(dividends, divisors, quotients, job, position + start)
            if not direct:
                call_copy(job[SCATTER], target, c_step, z, elements, job[STREAM])

    @inlined
    def divide_block(job: Array, nest: Array, block: int, room: int, zero: Any) -> None:
        inner = job[DEPTH] - 1
        length = nest[0, inner]
        columns = job[BLOCK_COLUMNS]
        across = (length + columns - 1) // columns
        column = block % across * columns
        count = min(columns, length - column)
        first = block // across * job[BLOCK_LINES]
        end = min(first + job[BLOCK_LINES], job[LINES])
        counter = numba.carray(pointer(room + COUNTERS, np.int64(0)), inner)
        a, b, c = _first_line(job, nest, counter, first, column)
        a_tile, b_tile = room + TILES, room + TILES + TILE_BYTES
        size, side = size_of(zero), side_of(zero)
        left = 0  # lines of the tiles
        for line in range(first, end):
            # Operands that are stored by columns are turned round by tiles of some lines. Which, is read anew for every
            # line: LLVM would compile all that follows twice, with such operands and without.
            turned = job[TRANSPOSED] & ~job[FOREIGN]
            x, x_step, y, y_step = a, nest[1, inner], b, nest[2, inner]
            if turned and left == 0 and min(end - line, nest[0, inner - 1] - counter[inner - 1]) >= side:
                if turned & OF_DIVIDENDS:
                    call_copy(job[TURN], a, x_step, a_tile, count, 0)
                if turned & OF_DIVISORS:
                    call_copy(job[TURN], b, y_step, b_tile, count, 0)
                left = side
            if left > 0:
                if turned & OF_DIVIDENDS:
                    x, x_step = a_tile + (side - left) * TILE * size, size
                if turned & OF_DIVISORS:
                    y, y_step = b_tile + (side - left) * TILE * size, size
                left -= 1
            divide_line(job, x, x_step, y, y_step, c, count, line * length + column, room, zero)
            a, b, c = _next_line(nest, counter, a, b, c)

    @inlined
    def divide(address: Any) -> None:
        environment = enter_ieee_754()
        begin = address_of(address)
        job = numba.carray(pointer(begin, np.int64(0)), LONGEST_JOB)
        nest = numba.carray(pointer(begin + 8 * NEST, np.int64(0)), (4, job[DEPTH]))
        room = room_on_the_stack()
        while True:
            block = fetch_add(job, NEXT_BLOCK, 1)
            if block >= job[BLOCKS]:
                break
            divide_block(job, nest, block, room, zero_of(address))
        if job[STREAM]:
            fence()
        restore(environment)

    return divide
