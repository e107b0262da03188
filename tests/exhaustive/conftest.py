"""How much is enumerated, on which backends, and that it is recorded."""

from __future__ import annotations

import pytest

from tests.exhaustive.recording import Recorder
from vinculum.kernels import backends
from vinculum.kernels.contract import Backend


def pytest_configure(config: pytest.Config) -> None:
    """Record what passes, if that is asked for."""
    if config.getoption("--record"):
        names = [backend.name for backend in chosen_backends(config.getoption("--backend"))]
        config.pluginmanager.register(Recorder(names, config.getoption("--one-in")))


def chosen_backends(names: list[str]) -> list[Backend]:
    """Return the backends of these names, or all that this machine can run."""
    known = {each.name: each for each in backends()}
    if unknown := sorted(set(names) - {*known}):
        raise pytest.UsageError(f"no backend {', '.join(unknown)}; on this machine: {', '.join(known)}")
    return [known[name] for name in names or known]


@pytest.fixture
def chosen(request: pytest.FixtureRequest) -> list[Backend]:
    """Return the backends to enumerate on."""
    return chosen_backends(request.config.getoption("--backend"))


@pytest.fixture
def one_in(request: pytest.FixtureRequest) -> int:
    """Of how many parts one is run."""
    return int(request.config.getoption("--one-in"))
