"""Limits of a trial run: how long its loops may take, and how large a result may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter, process_time

from vinculum.errors import ModelError


class LimitError(ModelError):
    """A trial run would exceed its limit of time or memory."""


_WAITED = [0.0]  # Seconds spent waiting for runtimes in other processes.


def work_time() -> float:
    """Return the seconds of work so far: processor time of this process, and time waited for runtimes in others.

    So load by other programs only counts while a runtime in another process is running.
    """
    return process_time() + _WAITED[0]


@contextmanager
def waiting() -> Iterator[None]:
    """Count the wall time of the block as work, which another process does."""
    start = perf_counter()
    try:
        yield
    finally:
        _WAITED[0] += perf_counter() - start


_DEADLINE: ContextVar[float | None] = ContextVar("vinculum.models.deadline", default=None)
_LARGEST: ContextVar[int | None] = ContextVar("vinculum.models.largest", default=None)


@contextmanager
def limited(seconds: float, largest: int | None = None) -> Iterator[None]:
    """Limit the time and memory of runs in the block, which input values can determine; runs raise `LimitError`.

    - `seconds`: the `work_time` that the block may take; loops check it before every iteration.
    - `largest`: the bytes that one result may take, for operators with an operand that determines its size; None for
      any number.
    """
    deadline, largest_token = _DEADLINE.set(work_time() + seconds), _LARGEST.set(largest)
    try:
        yield
    finally:
        _DEADLINE.reset(deadline)
        _LARGEST.reset(largest_token)


def check_time() -> None:
    """Raise `LimitError` if the time of the run is over."""
    deadline = _DEADLINE.get()
    if deadline is not None and work_time() > deadline:
        raise LimitError("a loop takes longer than a trial run may")


def seconds_left() -> float | None:
    """Return how many seconds of work the run has left, None if there is no limit."""
    deadline = _DEADLINE.get()
    return None if deadline is None else max(deadline - work_time(), 0.0)


def check_bytes(size: int) -> None:
    """Raise `LimitError` if a result of that many bytes is too large for the run."""
    largest = _LARGEST.get()
    if largest is not None and size > largest:
        raise LimitError(f"a result would take {size} bytes, more than a trial run may")
