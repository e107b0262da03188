"""Loops over flat memory and over nests of strided runs, each written once and made for every rule.

A *run* divides contiguous arrays of equal length, either operand of which may instead be one element that is repeated.
A *nest* is an int64 table of four rows: dimensions, then the strides of dividend, divisor and quotient in bytes,
outermost first; its last column is the run that is divided at once.

Integer runs keep a *tally*, an int64 array whose places are named below. Positions count elements in the order of the
walk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from vinculum.kernels.integer_quotient import overflows, reciprocal_of, saturated
from vinculum.kernels.jit import inlined
from vinculum.kernels.memory import address, load, pointer, store

Array = np.ndarray[Any, Any]
Tally = Any  # an array; None in a run of floats, which has nothing to count
Rule = Callable[..., Any]
Run = Callable[[Array, Array, Array, Tally, int], None]

SATURATE_ZERO_DIVISORS, SATURATE_OVERFLOW, ZERO_DIVISORS, FIRST_ZERO_DIVISOR, OVERFLOWS, FIRST_OVERFLOW = range(6)
EMPTY_TALLY = (0, 0, 0, -1, 0, -1)

# Elements that are divided before the flags are looked at: a few pages, which stay in the first-level cache.
CHUNK = 4096
# Elements of a strided run that are packed at once.
PACKED = 1024


def float_run(quotient: Rule) -> Run:
    """Make the run of a rule that is defined for every pair."""

    @inlined
    def run(dividends: Array, divisors: Array, quotients: Array, tally: Tally, position: int) -> None:
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

    return run


def integer_run(quotient: Rule, quotient_by: Rule) -> Run:
    """Make the run of an integer rule, which finds zero divisors and overflow in the same pass."""

    @inlined
    def run(dividends: Array, divisors: Array, quotients: Array, tally: Tally, position: int) -> None:
        one = type(divisors[0])(1)
        if divisors.size == 1 and dividends.size == 1:
            exceptional = (divisors[0] == 0) | overflows(dividends[0], divisors[0])
            quotients[:] = quotient(dividends[0], one if divisors[0] == 0 else divisors[0])
        elif divisors.size == 1:
            divisor = divisors[0]
            exceptional = divisor == 0
            guarded = one if exceptional else divisor
            reciprocal = reciprocal_of(guarded)
            for i in range(quotients.size):
                dividend = dividends[i]
                exceptional |= overflows(dividend, divisor)
                quotients[i] = quotient_by(dividend, guarded, reciprocal)
        elif dividends.size == 1:
            dividend = dividends[0]
            exceptional = False
            for i in range(quotients.size):
                divisor = divisors[i]
                exceptional |= (divisor == 0) | overflows(dividend, divisor)
                quotients[i] = quotient(dividend, one if divisor == 0 else divisor)
        else:
            exceptional = False
            for i in range(quotients.size):
                dividend = dividends[i]
                divisor = divisors[i]
                exceptional |= (divisor == 0) | overflows(dividend, divisor)
                quotients[i] = quotient(dividend, one if divisor == 0 else divisor)
        if exceptional:
            _settle(dividends, divisors, quotients, tally, position)

    return run


@inlined
def _settle(dividends: Array, divisors: Array, quotients: Array, tally: Tally, position: int) -> None:
    """Count the exceptional elements of a run and give them the results that the policies ask for."""
    for i in range(quotients.size):
        dividend = dividends[0] if dividends.size == 1 else dividends[i]
        divisor = divisors[0] if divisors.size == 1 else divisors[i]
        if divisor == 0:
            if tally[ZERO_DIVISORS] == 0:
                tally[FIRST_ZERO_DIVISOR] = position + i
            tally[ZERO_DIVISORS] += 1
            # Zero by its type: joined with a Python 0, uint64 would go through binary64.
            quotients[i] = saturated(dividend) if tally[SATURATE_ZERO_DIVISORS] else type(dividend)(0)
        elif overflows(dividend, divisor):
            if tally[OVERFLOWS] == 0:
                tally[FIRST_OVERFLOW] = position + i
            tally[OVERFLOWS] += 1
            if tally[SATURATE_OVERFLOW]:
                quotients[i] = saturated(type(dividend)(1))


def flat(run: Run) -> Run:
    """Make the division of contiguous arrays; the quotients may stand in the place of either operand."""

    @inlined
    def divide(dividends: Array, divisors: Array, quotients: Array, tally: Tally, position: int) -> None:
        # A vectorised loop falls back to single elements where its result overlaps an operand.
        in_place = address(quotients) == address(dividends) or address(quotients) == address(divisors)
        buffer = np.empty(min(CHUNK, quotients.size), quotients.dtype) if in_place else quotients
        for start in range(0, quotients.size, CHUNK):
            stop = min(start + CHUNK, quotients.size)
            run(
                dividends if dividends.size == 1 else dividends[start:stop],
                divisors if divisors.size == 1 else divisors[start:stop],
                buffer[: stop - start] if in_place else quotients[start:stop],
                tally,
                position + start,
            )
            if in_place:
                for i in range(start, stop):
                    quotients[i] = buffer[i - start]

    return divide


def nested(run: Run) -> Callable[[Array, Array, Array, Array, Tally], None]:
    """Make the division over a nest; the arrays only tell where the operands' first elements lie."""

    @inlined
    def divide_nest(dividends: Array, divisors: Array, quotients: Array, nest: Array, tally: Tally) -> None:
        inner = nest.shape[1] - 1
        length = nest[0, inner]
        dividend_stride, divisor_stride, quotient_stride = nest[1, inner], nest[2, inner], nest[3, inner]
        size = quotients.itemsize
        direct = (
            (dividend_stride == size or dividend_stride == 0)
            and (divisor_stride == size or divisor_stride == 0)
            and quotient_stride == size
            and address(quotients) != address(dividends)
            and address(quotients) != address(divisors)
        )
        step = min(length, CHUNK if direct else PACKED)
        buffers = np.empty((3, 0 if direct else step), quotients.dtype)
        counter = np.zeros(inner + 1, np.int64)
        dividend_offset = divisor_offset = quotient_offset = position = 0
        while True:
            for start in range(0, length, step):
                count = min(step, length - start)
                dividend_place = dividend_offset + start * dividend_stride
                divisor_place = divisor_offset + start * divisor_stride
                quotient_place = quotient_offset + start * quotient_stride
                if direct:
                    run(
                        numba.carray(pointer(dividends, dividend_place), count if dividend_stride else 1),
                        numba.carray(pointer(divisors, divisor_place), count if divisor_stride else 1),
                        numba.carray(pointer(quotients, quotient_place), count),
                        tally,
                        position + start,
                    )
                else:
                    _pack(dividends, dividend_place, dividend_stride, buffers[0, :count])
                    _pack(divisors, divisor_place, divisor_stride, buffers[1, :count])
                    run(buffers[0, :count], buffers[1, :count], buffers[2, :count], tally, position + start)
                    for i in range(count):
                        store(quotients, quotient_place + i * quotient_stride, buffers[2, i])
            position += length
            dimension = inner - 1
            while dimension >= 0:
                counter[dimension] += 1
                dividend_offset += nest[1, dimension]
                divisor_offset += nest[2, dimension]
                quotient_offset += nest[3, dimension]
                if counter[dimension] < nest[0, dimension]:
                    break
                dividend_offset -= nest[1, dimension] * counter[dimension]
                divisor_offset -= nest[2, dimension] * counter[dimension]
                quotient_offset -= nest[3, dimension] * counter[dimension]
                counter[dimension] = 0
                dimension -= 1
            if dimension < 0:
                return

    return divide_nest


@inlined
def _pack(operand: Array, offset: int, stride: int, buffer: Array) -> None:
    """Copy a strided stretch of an operand into a contiguous buffer."""
    for i in range(buffer.size):
        buffer[i] = load(operand, offset + i * stride)
