"""What this machine is, in words."""

from __future__ import annotations

import platform

from vinculum.benchmarking.machine import machine
from vinculum.kernels import backend


def test_everything_is_told() -> None:
    found = machine()
    assert list(found) == ["processor", "cores", "caches", "memory", "system", "Python", "backend"]
    assert all(found.values())
    assert (found["Python"], found["backend"]) == (platform.python_version(), backend().name)
