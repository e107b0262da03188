"""What other processes take of the processors is told, what we and our children take is not."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from vinculum.benchmarking import background_load
from vinculum.benchmarking.background_load import BackgroundLoad


class Clock:
    """Clocks set by hand: of the wall, of all processors, of our own processes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall = self.busy = self.own = 100.0
        times = psutil.cpu_times()
        monkeypatch.setattr(background_load, "monotonic", lambda: self.wall)
        monkeypatch.setattr(os, "cpu_count", lambda: 4)
        monkeypatch.setattr(
            psutil,
            "cpu_times",
            lambda: times._replace(**{name: self.busy if name == "user" else 0.0 for name in times._fields}),
        )
        own: dict[str, Any] = {"system": 0.0, "children_user": 0.0, "children_system": 0.0}
        monkeypatch.setattr(os, "times", lambda: SimpleNamespace(user=self.own, **own))


@pytest.mark.parametrize(
    ("busy", "own", "part"), [(20.0, 20.0, 0.0), (20.0, 10.0, 0.25), (40.0, 0.0, 1.0), (9.9, 10.0, 0.0)]
)
def test_the_rest_is_theirs(monkeypatch: pytest.MonkeyPatch, busy: float, own: float, part: float) -> None:
    clock = Clock(monkeypatch)
    watch = BackgroundLoad()
    clock.wall += 10.0
    clock.busy += busy
    clock.own += own
    assert watch.part() == pytest.approx(part)
