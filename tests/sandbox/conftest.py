"""Fixtures of the tests of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vinculum.sandbox import process

_START = process.start


@pytest.fixture
def started_anew(warm_processes: object) -> Iterator[None]:
    """Start every process as for a user, not by a fork."""
    forked, process.start = process.start, _START
    yield
    process.start = forked
