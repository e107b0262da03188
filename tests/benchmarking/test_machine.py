"""What the machine is, in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vinculum.benchmarking import machine as module
from vinculum.benchmarking.machine import machine


def test_fewer_cores_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "usable_processors", lambda: 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert machine()["cores"] == "3 of 8"


def test_a_system_that_does_not_tell_its_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_CACHES", tmp_path)
    assert machine()["caches"] == "not reported by this system"
