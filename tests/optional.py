"""Tests that need an optional runtime or program are skipped without it, but not in CI."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
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


def package_or_skip(request: pytest.FixtureRequest, name: str) -> None:
    """Skip a test if a package is not installed, or fail it under ``--require-all``."""
    if find_spec(name) is None:
        skip_or_fail(request, f"the package {name}")


def program_or_skip(request: pytest.FixtureRequest, *names: str) -> str:
    """Return the path of the first of these programs that is installed; without any skip the test, or fail it."""
    for name in names:
        if (found := shutil.which(name)) is not None:
            return found
    skip_or_fail(request, f"the program {' or '.join(names)}")
