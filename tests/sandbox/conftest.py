"""What the tests of the sandbox share: processes that it starts itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vinculum.sandbox import process

_START = process.start


@pytest.fixture
def started_anew(warm_processes: object) -> Iterator[None]:
    """Start every process anew, as a user's are."""
    forked, process.start = process.start, _START
    yield
    process.start = forked
