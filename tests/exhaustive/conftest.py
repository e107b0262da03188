"""The options of the enumerations: which part of them, on which backends, and whether they are recorded."""

from __future__ import annotations

import pytest

from tests.exhaustive.recording import Recorder
from vinculum.kernels import backends
from vinculum.kernels.contract import Backend


def pytest_configure(config: pytest.Config) -> None:
    """Record the enumerations that pass, with ``--record``."""
    if config.getoption("--record"):
        names = [backend.name for backend in chosen_backends(config.getoption("--backend"))]
        config.pluginmanager.register(Recorder(names, config.getoption("--one-in")))


def chosen_backends(names: list[str]) -> list[Backend]:
    """Return the backends with these names, or all that this machine can run."""
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
    """Return N if only one part in N is run."""
    return int(request.config.getoption("--one-in"))
