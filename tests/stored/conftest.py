"""Fixtures of the tests of stored arrays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import vinculum


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Use two threads, so that tests know how many blocks may be in progress."""
    with vinculum.threads(2):
        yield
