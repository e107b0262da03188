"""How much is enumerated, on which backends, and that it is recorded."""

from __future__ import annotations

import pytest

from tests.exhaustive.recording import Recorder
from vinculum.kernels import backend, backends
from vinculum.kernels.contract import Backend


def pytest_configure(config: pytest.Config) -> None:
    """Record what passes, if that is asked for."""
    if config.getoption("--record"):
        if config.getoption("--one-in") != 1:
            raise pytest.UsageError("--record is for whole enumerations; leave out --one-in")
        config.pluginmanager.register(Recorder())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Enumerate on each backend that --backend names."""
    if "backend" in metafunc.fixturenames:
        chosen = chosen_backends(metafunc.config.getoption("--backend"))
        metafunc.parametrize("backend", chosen, ids=lambda backend: backend.name)


def chosen_backends(names: list[str]) -> list[Backend]:
    """Return the backends of these names, all of them for ``all``, and the one in force for none."""
    known = {each.name: each for each in backends()}
    if unknown := sorted(set(names) - {*known, "all"}):
        raise pytest.UsageError(f"no backend {', '.join(unknown)}; on this machine: {', '.join(known)}, or all")
    if not names:
        return [backend()]
    return list(known.values()) if "all" in names else [known[name] for name in names]


@pytest.fixture
def one_in(request: pytest.FixtureRequest) -> int:
    """Of how many parts one is run."""
    return int(request.config.getoption("--one-in"))
