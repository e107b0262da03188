"""What the tests of the command line share; in a process of its own, as a runtime may end it."""

from __future__ import annotations

import pytest

from tests.acceptance.conftest import Vinculum, environment, examples, refused, started_vinculum

__all__ = ["environment", "examples", "refused", "started_vinculum"]


@pytest.fixture(scope="session")
def vinculum(started_vinculum: Vinculum) -> Vinculum:
    """Return a function that runs the command."""
    return started_vinculum
