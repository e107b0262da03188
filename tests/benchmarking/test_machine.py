"""What the machine is, in words."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from vinculum.benchmarking import machine as module
from vinculum.benchmarking.machine import machine
from vinculum.kernels import backend


def test_everything_is_told() -> None:
    found = machine()
    assert list(found) == ["processor", "cores", "caches", "memory", "system", "Python", "backend"]
    assert all(found.values())
    assert (found["Python"], found["backend"]) == (platform.python_version(), backend().name)


def test_fewer_cores_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "usable_processors", lambda: 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert machine()["cores"] == "3 of 8"


def test_a_system_that_does_not_tell_its_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_CACHES", tmp_path)
    assert machine()["caches"] == "not reported by this system"
