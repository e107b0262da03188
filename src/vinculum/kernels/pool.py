"""Threads that help with the blocks of a job.

A helper that has just helped looks for the next job for a moment, in compiled code and without the GIL, which takes it
up within a microsecond; then it sleeps, and is woken on another processor than the caller's. Nobody waits for one that
is late: whoever divides a job claims block after block itself, and waits at the end only for blocks that are being
divided. OpenMP, which waits for every thread to come, was measured to take 8 milliseconds instead of 0.1 where a
processor is shared or asleep.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from vinculum.kernels.array_objects import DATA, array_object, field
from vinculum.kernels.atomics import exchange, fetch_add, read, replace
from vinculum.kernels.jit import entry, inlined
from vinculum.kernels.jobs import (
    BLOCKS,
    DIRECT,
    DIVIDENDS,
    DIVISORS,
    ITEM_SIZE,
    OVERFLOWS,
    QUOTIENTS,
    STREAM,
    ZERO_DIVISORS,
)
from vinculum.kernels.memory import call, pointer
from vinculum.kernels.processor import ON_X86
from vinculum.kernels.thread_limit import get_threads

Array = np.ndarray[Any, Any]

# The state that the threads of a pool share. Seats are helpers that may still join the job; finished are those that
# joined and are done. Taken is 1 while a job has the helpers.
_SEATS, _FINISHED, _KERNEL, _JOB, _CLOSED, _TAKEN = range(0, 48, 8)  # each in a line of the cache of its own
_STATE = 48

# How often a helper looks for a job before it sleeps, about half a millisecond.
_PATIENCE = 20_000
# How often the end of a block is looked for before other threads are let run.
_IMPATIENCE = 1000

_current_processor = getattr(ctypes.CDLL(None), "sched_getcpu", None) if sys.platform == "linux" else None
_yield_processor = types.ExternalFunction("sched_yield", types.int32()) if os.name == "posix" else None


@intrinsic
def _pause(typing_context: Any) -> Any:
    """Tell the processor that this is a loop that waits (x86; elsewhere nothing)."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if ON_X86:
            hint = builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), ir.FunctionType(ir.VoidType(), []))
            builder.call(hint, [])
        return context.get_dummy_value()

    return types.void(), generate


@inlined
def _wait() -> None:
    """Let other threads run."""
    if _yield_processor is not None:
        _yield_processor()
    else:
        _pause()


def _serve(pool: Any) -> None:
    """Join one job after the other, until there has been none for a while."""
    state = numba.carray(pointer(field(pool, DATA), np.int64(0)), _STATE)
    idle = 0
    while idle < _PATIENCE and not read(state, _CLOSED):
        seats = read(state, _SEATS)
        if seats > 0 and replace(state, _SEATS, seats, seats - 1):
            call(state[_KERNEL], state[_JOB])
            fetch_add(state, _FINISHED, 1)
            idle = 0
        else:
            _pause()
            idle += 1


def _divide(kernel: int, work: Any, dividends: Any, divisors: Any, quotients: Any, pool: Any, helpers: int) -> int:
    """Divide arrays as a job tells, with that many helpers at most; return how many elements are exceptional.

    Threads that divide at the same time do not share the helpers: whoever comes first has them, the others divide
    alone. They are taken and left here, where no signal interrupts.
    """
    address = field(work, DATA)
    job = numba.carray(pointer(address, np.int64(0)), ITEM_SIZE + 1)
    a, b, c = field(dividends, DATA), field(divisors, DATA), field(quotients, DATA)
    job[DIVIDENDS], job[DIVISORS], job[QUOTIENTS] = a, b, c
    # A vectorised loop falls back to single elements where its result overlaps an operand.
    if c == a or c == b or c % job[ITEM_SIZE] != 0:  # noqa: SIM109  # compiled code, without tuples
        job[DIRECT] = job[STREAM] = 0
    state = numba.carray(pointer(field(pool, DATA), np.int64(0)), _STATE)
    if helpers == 0 or not replace(state, _TAKEN, 0, 1):
        call(kernel, address)
    else:
        state[_KERNEL], state[_JOB], state[_FINISHED] = kernel, address, 0
        exchange(state, _SEATS, helpers)
        call(kernel, address)
        joined = helpers - exchange(state, _SEATS, 0)
        waited = 0
        while read(state, _FINISHED) < joined:
            waited += 1
            if waited % _IMPATIENCE:
                _pause()
            else:
                _wait()
        exchange(state, _TAKEN, 0)
    return job[ZERO_DIVISORS] + job[OVERFLOWS]


class _Helper:
    """One thread of a pool."""

    def __init__(self, pool: Pool, number: int) -> None:
        self.pool = pool
        self.asleep = False
        self.allowed: set[int] = set()
        self.bell: SimpleQueue[None] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=f"vinculum-{number}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while not self.pool.closed:
            self.pool.serve(self.pool.state)
            self.asleep = True
            self.bell.get()
            self.asleep = False
            self._move(self.allowed)

    def wake(self) -> None:
        """Ring, if it sleeps; an interrupt at any place leaves it asleep or awake, but never lost.

        Threads that ring at the same time let it look for a job once more than it had to.
        """
        if self.asleep and self.bell.empty():
            if _current_processor is not None:
                # On the caller's own processor, where the system may put it, the two would take turns.
                self.allowed = os.sched_getaffinity(0)
                self._move(self.allowed - {_current_processor()})
            self.bell.put(None)

    def _move(self, processors: set[int]) -> None:
        """Run on one of these processors, if there is one (Linux)."""
        if processors and self.thread.native_id is not None:
            with suppress(OSError):  # which processors may be used has just changed
                os.sched_setaffinity(self.thread.native_id, processors)


class Pool:
    """The helpers of a process; they are started when a division first wants them."""

    def __init__(self) -> None:
        self.serve = entry(_serve, array_object, releases_gil=True)
        self.divide = entry(_divide, types.int64, *(array_object,) * 5, types.int64, releases_gil=True)
        self.state = np.zeros(_STATE, np.int64)
        self.closed = False
        self._helpers: list[_Helper] = []
        # Of the thread that holds it, so that a signal's handler may divide too.
        self._starting = threading.RLock()

    def run(self, kernel: int, job: Array, dividends: Array, divisors: Array, quotients: Array) -> int:
        """Divide with as many threads as are allowed; return how many elements are exceptional."""
        blocks = job.item(BLOCKS)
        helpers = min(get_threads(), blocks) - 1 if blocks > 1 else 0
        if helpers and not self.closed:
            self._wake(helpers)
        exceptional: int = self.divide(kernel, job, dividends, divisors, quotients, self.state, helpers)
        return exceptional

    def _wake(self, wanted: int) -> None:
        if len(self._helpers) < wanted:
            self._start(wanted)
        for helper in self._helpers[:wanted]:
            if helper.asleep:
                helper.wake()

    def _start(self, wanted: int) -> None:
        # The system may give no more threads: there are fewer helpers then.
        with self._starting, suppress(RuntimeError):
            while len(self._helpers) < wanted and not self.closed:
                self._helpers.append(_Helper(self, len(self._helpers) + 1))

    def close(self) -> None:
        """Let the helpers end; compiled code must not run when the interpreter takes it down."""
        self.closed = True
        self.state[_CLOSED] = 1
        # Whoever divides at this moment may be starting helpers.
        self._starting.acquire(timeout=1)
        for helper in self._helpers:
            helper.bell.put(None)
            helper.thread.join()


_pool: Pool | None = None
_founding = threading.Lock()


def pool() -> Pool:
    """Return the pool of the process."""
    global _pool
    if _pool is None:
        with _founding:
            if _pool is None:
                made = Pool()
                atexit.register(made.close)
                _pool = made
    return _pool


def _forget() -> None:
    """Begin anew in a forked process, which has none of the helpers."""
    global _pool, _founding
    _founding = threading.Lock()  # the old one may have been held
    if _pool is not None:
        atexit.unregister(_pool.close)
        _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
