"""Tests that need an optional runtime or program are skipped without it, but not in CI."""

from __future__ import annotations

from typing import NoReturn

import pytest

from vinculum.kernels import backend


def needs_core() -> pytest.MarkDecorator:
    """Mark tests of helper threads and of memory, which are about the compiled core only."""
    return pytest.mark.skipif(
        backend().name == "portable", reason="about the compiled core, which does not divide here"
    )


def skip_or_fail(request: pytest.FixtureRequest, needed: str) -> NoReturn:
    """Skip a test without something optional, or fail it under ``--require-all``; `needed` says how to get it."""
    if request.config.getoption("--require-all"):
        pytest.fail(f"--require-all forbids to skip what needs {needed}")
    pytest.skip(f"optional here, and needed: {needed}")
