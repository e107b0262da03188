"""What tests do without a runtime or a program that users need not install: they skip, but not in CI."""

from __future__ import annotations

from typing import NoReturn

import pytest


def skip_or_fail(request: pytest.FixtureRequest, option: str, needed: str) -> NoReturn:
    """Skip a test for want of something optional, or fail it under the option that forbids to skip.

    Parameters
    ----------
    request : pytest.FixtureRequest
        Of the test or of a fixture.
    option : str
        Such as ``"--require-torch"``.
    needed : str
        What is missing, and how to install it.
    """
    if request.config.getoption(option):
        pytest.fail(f"{option} forbids to skip what needs {needed}")
    pytest.skip(f"optional here, and needed: {needed}")
