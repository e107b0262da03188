"""Fixtures of the tests of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

import vinculum
from tests.kernels.many_threads import allowed
from vinculum.kernels import backends
from vinculum.kernels.contract import Backend


@pytest.fixture
def twelve_threads() -> Iterator[None]:
    """Let twelve threads divide, however many processors there are."""
    with allowed(12):
        yield
    vinculum.set_threads(None)


@pytest.fixture(params=backends(), ids=lambda backend: backend.name)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Return each backend, and each target of the compiled one."""
    return cast(Backend, request.param)
