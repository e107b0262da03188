"""What tests do without a runtime or a program that users need not install: they skip, but not in CI."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

import pytest

from vinculum.kernels import backend


def needs_core() -> pytest.MarkDecorator:
    """Mark tests of what the portable backend does not promise: helpers, and little memory beside the operands."""
    return pytest.mark.skipif(
        backend().name == "portable", reason="about the compiled core, which does not divide here"
    )


def needs(package: str) -> pytest.MarkDecorator:
    """Mark a test that is skipped where a package is not installed."""
    return pytest.mark.skipif(find_spec(package) is None, reason=f"optional here, and needed: {package}")


def skip_without(package: str) -> None:
    """Skip a test where a package is not installed."""
    if find_spec(package) is None:
        pytest.skip(f"optional here, and needed: {package}")


def module_or_skip(name: str) -> Any:
    """Return a module; where its package is not installed skip the tests of the whole file that asks for it."""
    package = name.partition(".")[0]
    if find_spec(package) is None:
        pytest.skip(f"optional here, and needed: {package}", allow_module_level=True)
    return import_module(name)


def skip_or_fail(request: pytest.FixtureRequest, needed: str) -> NoReturn:
    """Skip a test for want of something optional, or fail it under ``--require-all``.

    Parameters
    ----------
    request : pytest.FixtureRequest
        Of the test or of a fixture.
    needed : str
        What is missing, and how to install it.
    """
    if request.config.getoption("--require-all"):
        pytest.fail(f"--require-all forbids to skip what needs {needed}")
    pytest.skip(f"optional here, and needed: {needed}")
