"""The description of the machine, and the load of other processes."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from benchmarks.compare import machine as module
from benchmarks.compare.machine import BackgroundLoad, machine
from vinculum.conformance.run.installation import processor
from vinculum.kernels import backend


def test_the_description(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "usable_processors", lambda: 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(module, "_CACHES", tmp_path)
    cpuinfo = tmp_path / "cpuinfo"
    monkeypatch.setattr(module, "_CPUINFO", cpuinfo)
    assert (machine()["processor"], machine()["caches"]) == (processor(), "not reported by this system")
    cpuinfo.write_text("cpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\npower management:\n")
    for index, (level, kind, size) in enumerate((("1", "Data", "48K"), ("2", "Unified", "2048K"))):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, content in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{content}\n")
    found = machine()
    assert list(found) == ["processor", "cores", "caches", "memory", "system", "Python", "backend"]
    assert all(found.values())
    assert found["processor"] == f"{processor()} (family 25, model 17)"
    assert (found["Python"], found["backend"]) == (platform.python_version(), backend().name)
    assert (found["cores"], found["caches"]) == ("3 of 8", "L1 data 48K, L2 2048K")


@pytest.mark.parametrize(
    ("busy", "own", "part"), [(20.0, 20.0, 0.0), (20.0, 10.0, 0.25), (40.0, 0.0, 1.0), (9.9, 10.0, 0.0)]
)
def test_the_load_of_others(monkeypatch: pytest.MonkeyPatch, busy: float, own: float, part: float) -> None:
    times = psutil.cpu_times()
    clocks = SimpleNamespace(wall=100.0, busy=100.0, own=100.0)
    monkeypatch.setattr(module, "monotonic", lambda: clocks.wall)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    everyone = dict.fromkeys(times._fields, 0.0)
    monkeypatch.setattr(psutil, "cpu_times", lambda: times._replace(**everyone | {"user": clocks.busy}))
    others = {"system": 0.0, "children_user": 0.0, "children_system": 0.0}
    monkeypatch.setattr(os, "times", lambda: SimpleNamespace(user=clocks.own, **others))
    watch = BackgroundLoad()
    clocks.wall, clocks.busy, clocks.own = 110.0, 100.0 + busy, 100.0 + own
    assert watch.part() == pytest.approx(part)
