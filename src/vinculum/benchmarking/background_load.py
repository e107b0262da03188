"""How busy other processes keep the processors while we measure."""

from __future__ import annotations

import os
from time import monotonic

import psutil


class BackgroundLoad:
    """The load of other processes on the processors, from now on."""

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
    """Return how many seconds the processors have worked for any process, other guests of the same host included."""
    times = psutil.cpu_times()._asdict()
    idle = ("idle", "iowait", "guest", "guest_nice")  # The time of guests is counted as their host's already.
    return float(sum(seconds for name, seconds in times.items() if name not in idle))


def _own() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
