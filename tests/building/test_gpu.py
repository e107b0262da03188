"""`make gpu` records what happened on a device, and nothing without one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from building import gpu
from tests.device_arrays import cpu_cupy


def test_without_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)  # its import fails then
    assert gpu.main(tmp_path / "record.txt") == 2
    monkeypatch.setitem(sys.modules, "cupy", cpu_cupy)
    monkeypatch.setattr(cpu_cupy.cuda, "is_available", lambda: False, raising=False)
    assert gpu.main(tmp_path / "record.txt") == 2
    assert capsys.readouterr().err.count("CuPy finds no CUDA device here") == 2
    assert not list(tmp_path.iterdir())


def test_what_is_printed_is_recorded_with_how_it_ended(tmp_path: Path) -> None:
    record = tmp_path / "record.txt"
    assert gpu.recorded([["pytest", "--version"]], "heading", record)
    assert not gpu.recorded([["pytest", "--unknown"], ["keyword"]], "heading", record)
    heading, _, first, *lines = record.read_text("utf-8").splitlines()
    assert (heading, first) == ("heading", "$ python -m pytest --unknown")
    assert any("--unknown" in line for line in lines[:-3])
    assert lines[-3:] == ["", "$ python -m keyword", "exit code 0"]
