"""How a run is divided, written once and made for every rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vinculum.kernels.atomics import fetch_add, fetch_least
from vinculum.kernels.float_quotient import ByReciprocal
from vinculum.kernels.integer_quotient import (
    are_small,
    overflows,
    prepared_divisor,
    prepares,
    saturated,
)
from vinculum.kernels.jit import inlined
from vinculum.kernels.jobs import (
    FIRST_OVERFLOW,
    FIRST_ZERO_DIVISOR,
    ORDERS,
    OVERFLOWS,
    SATURATE_OVERFLOW,
    SATURATE_ZERO_DIVISORS,
    ZERO_DIVISORS,
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


def float_runs(quotient: Rule) -> Runs:
    """Make the runs of a rule that is defined for every pair."""

    @inlined
    def never(divisor: Any) -> bool:
        return False

    @inlined
    def unchanged(divisor: Any) -> Any:
        return divisor

    @inlined
    def no_run(dividends: Array, divisor: Any, prepared: Any, quotients: Array) -> None:
        """Stand where there is no quicker way."""

    return Runs(_float_run(quotient), never, unchanged, no_run)


def float_runs_by_reciprocal(quotient: Rule, by: ByReciprocal) -> Runs:
    """Make the runs of a rule for encodings of 16 bits, with the quicker way for a divisor that is repeated."""
    widen, narrow, smallest_normal = by.widen, by.narrow, np.float32(by.smallest_normal)
    smallest_divisor = np.uint16(by.smallest_divisor)

    @inlined
    def in_range(divisor: np.uint16) -> bool:
        return bool(divisor & np.uint16(0x7FFF) >= smallest_divisor)

    @inlined
    def reciprocal(divisor: np.uint16) -> np.float32:
        return np.float32(np.float32(1) / widen(divisor))

    @inlined
    def run_by(dividends: Array, divisor: np.uint16, prepared: np.float32, quotients: Array) -> None:
        subnormal = False
        for i in range(quotients.size):
            value = np.float32(widen(dividends[i]) * prepared)
            subnormal |= (abs(value) < smallest_normal) & (value != 0)
            quotients[i] = narrow(value)
        if subnormal:
            for i in range(quotients.size):
                quotients[i] = quotient(dividends[i], divisor)

    return Runs(_float_run(quotient), in_range, reciprocal, run_by)


def _float_run(quotient: Rule) -> Callable[..., Any]:
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

    return run


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
