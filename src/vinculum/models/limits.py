"""Limits of a run that only tries inputs out: how long its loops may go on, how large a result may be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter, process_time

from vinculum.errors import ModelError


class LimitError(ModelError):
    """A run that only tries inputs out would take more time or memory than it was given."""


_WAITED = [0.0]  # Seconds in which runtimes in other processes worked for this one.


def work_time() -> float:
    """Return the seconds of work so far: processor time of this process, and time waited for runtimes in others.

    Time that other programs take on a busy machine counts only while a runtime in another process is at work.
    """
    return process_time() + _WAITED[0]


@contextmanager
def waiting() -> Iterator[None]:
    """Count the time of the block as work: another process does it."""
    start = perf_counter()
    try:
        yield
    finally:
        _WAITED[0] += perf_counter() - start


_DEADLINE: ContextVar[float | None] = ContextVar("vinculum.models.deadline", default=None)
_LARGEST: ContextVar[int | None] = ContextVar("vinculum.models.largest", default=None)


@contextmanager
def limited(seconds: float, largest: int) -> Iterator[None]:
    """Let runs in the block raise `LimitError`, instead of an input's own idea of a size deciding.

    - `seconds`: how much `work_time` the block may take, however busy the machine is; loops are asked before every
      iteration.
    - `largest`: how many bytes one result of an operator that sizes it by an operand's value may take.
    """
    deadline, largest_token = _DEADLINE.set(work_time() + seconds), _LARGEST.set(largest)
    try:
        yield
    finally:
        _DEADLINE.reset(deadline)
        _LARGEST.reset(largest_token)


def check_time() -> None:
    """Refuse to go on when the time of the run is over."""
    deadline = _DEADLINE.get()
    if deadline is not None and work_time() > deadline:
        raise LimitError("a loop takes longer than a trial run may")


def seconds_left() -> float | None:
    """Return how many seconds of work the run has left, None if it may take any."""
    deadline = _DEADLINE.get()
    return None if deadline is None else max(deadline - work_time(), 0.0)


def check_bytes(size: int) -> None:
    """Refuse a result of that many bytes if it is too large for the run."""
    largest = _LARGEST.get()
    if largest is not None and size > largest:
        raise LimitError(f"a result would take {size} bytes, more than a trial run may")
