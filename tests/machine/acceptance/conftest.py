"""The fixtures of tests/acceptance; the machine is asked about processes."""

from __future__ import annotations

import pytest

from tests.acceptance.conftest import Vinculum, environment, examples, guarded, mean, refused, started_vinculum

__all__ = ["environment", "examples", "guarded", "mean", "refused", "started_vinculum"]


@pytest.fixture(scope="session")
def vinculum(started_vinculum: Vinculum) -> Vinculum:
    """Return a function that runs the command."""
    return started_vinculum
