"""The machine, on which a run's times depend besides the packages, and the load of other processes on it."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path
from time import monotonic

import psutil

from vinculum.conformance.run.installation import processor
from vinculum.kernels import backend
from vinculum.kernels.threads import usable_processors

_CPUINFO = Path("/proc/cpuinfo")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_GIB = 1 << 30


def machine() -> dict[str, str]:
    """Return a description of the machine and the backend, by topic."""
    return {
        "processor": f"{processor()}{_model()}",
        "cores": _cores(),
        "caches": _caches() or "not reported by this system",
        "memory": f"{psutil.virtual_memory().total / _GIB:.0f} GiB",
        "system": platform.platform(),
        "Python": platform.python_version(),
        "backend": backend().name,
    }


def _model() -> str:
    """Return the numbers of an x86 processor's family and model, as a virtual machine often hides its name."""
    with suppress(OSError):
        lines = _CPUINFO.read_text(encoding="utf-8").replace("\t", "").splitlines()
        about = dict(line.split(": ", 1) for line in lines if ": " in line)
        if "cpu family" in about:
            return f" (family {about['cpu family']}, model {about['model']})"
    return ""


def _cores() -> str:
    usable, every = usable_processors(), os.cpu_count() or 1
    return f"{usable}" if usable == every else f"{usable} of {every}"


def _caches() -> str:
    """Return the sizes of the caches of the first processor, as Linux reports them."""
    found = []
    for index in sorted(_CACHES.glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        found.append(f"L{level}{'' if kind == 'Unified' else f' {kind.lower()}'} {size}")
    return ", ".join(found)


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
