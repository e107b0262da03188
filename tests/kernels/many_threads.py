"""Many threads at once, both for divisions and for callers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from vinculum.kernels import threads as thread_limit

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def allowed(threads: int) -> Iterator[None]:
    """Let this process divide on that many threads, however many processors it may use."""
    before = thread_limit.usable_processors
    thread_limit.usable_processors = lambda: threads
    try:
        yield
    finally:
        thread_limit.usable_processors = before


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], *, limit: float = 120) -> list[Result]:
    """Call a function of each item in a thread of its own, all at once, and return what the calls returned.

    The exception of one is raised again; it fails if they take longer than `limit` seconds together.
    """
    given = list(items)
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}

    def call(place: int) -> None:
        try:
            results[place] = function(given[place])
        except BaseException as error:
            errors[place] = error

    # Daemons, which nobody waits for at the end of the process if they never end.
    threads = [threading.Thread(target=call, args=(place,), daemon=True) for place in range(len(given))]
    for thread in threads:
        thread.start()
    end = time.monotonic() + limit
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    for error in errors.values():
        raise error
    assert len(results) == len(given), f"{len(given) - len(results)} threads have not ended after {limit} seconds"
    return [results[place] for place in range(len(given))]
