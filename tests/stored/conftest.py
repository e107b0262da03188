"""What the tests of stored arrays share: two threads, however many processors there are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import vinculum


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Let no more blocks be on their way than a test expects that stops, swaps or counts after some of them."""
    with vinculum.threads(2):
        yield
