"""What the machine is, in words."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from vinculum.benchmarking import machine as module
from vinculum.benchmarking.machine import kernel_choices, machine


def test_everything_is_told() -> None:
    found = machine()
    assert list(found) == ["processor", "cores", "caches", "memory", "system", "Python", "compiled for"]
    assert all(found.values())
    assert found["Python"] == platform.python_version()


def test_fewer_cores_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "usable_processors", lambda: 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert machine()["cores"] == "3 of 8"


def test_a_system_that_does_not_tell_its_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_CACHES", tmp_path)
    assert machine()["caches"] == "not told by this system"


def test_kernels_are_named() -> None:
    choices = kernel_choices()
    assert choices
    assert all(name and words for name, words in choices.items())
