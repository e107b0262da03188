"""The load of other processes during a measurement."""

from __future__ import annotations

import os
from time import monotonic

import psutil


class BackgroundLoad:
    """The load of other processes on the processors, from its construction on."""

    def __init__(self) -> None:
        self._began = monotonic()
        self._busy = _busy()
        self._own = _own()

    def part(self) -> float:
        """Return the share of processor time used by others since the start; our children must have ended."""
        passed = (monotonic() - self._began) * (os.cpu_count() or 1)
        others = (_busy() - self._busy) - (_own() - self._own)
        return min(1.0, max(0.0, others / passed))


def _busy() -> float:
    """Return the busy seconds of all processors, including time used by other guests of the same host."""
    times = psutil.cpu_times()._asdict()
    idle = ("idle", "iowait", "guest", "guest_nice")  # Guests' time is already included in their host's.
    return float(sum(seconds for name, seconds in times.items() if name not in idle))


def _own() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
