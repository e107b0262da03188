"""What several tests of the kernels need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import vinculum
from tests.kernels.many_threads import allowed


@pytest.fixture
def eight_threads() -> Iterator[None]:
    """Let eight threads divide, whatever processors there are."""
    with allowed(8):
        yield
    vinculum.set_threads(None)
