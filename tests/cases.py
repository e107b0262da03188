"""Many small cases in one test: what fails says which it was.

A test of its own costs its worker and the process that collects results some milliseconds, which is more than most
divisions take.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def case(*words: object) -> Iterator[None]:
    """Tell which case failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(str, words))}")
        raise
