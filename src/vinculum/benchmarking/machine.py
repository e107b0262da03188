"""The machine and the backend, on which a run's times depend besides the packages."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

from vinculum.conformance.execute.installation import processor
from vinculum.kernels import backend
from vinculum.kernels.threads import usable_processors

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_GIB = 1 << 30


def machine() -> dict[str, str]:
    """Return a description of the machine, by topic."""
    return {
        "processor": processor(),
        "cores": _cores(),
        "caches": _caches() or "not reported by this system",
        "memory": f"{psutil.virtual_memory().total / _GIB:.0f} GiB",
        "system": platform.platform(),
        "Python": platform.python_version(),
        "backend": backend().name,
    }


def _cores() -> str:
    usable, every = usable_processors(), os.cpu_count() or 1
    return f"{usable}" if usable == every else f"{usable} of {every}"


def _caches() -> str:
    """Return the sizes of the caches of the first processor, as Linux reports them."""
    found = []
    for index in sorted(_CACHES.glob("index*")):
        level, kind, size = (_read(index / name) for name in ("level", "type", "size"))
        if size:
            found.append(f"L{level}{'' if kind == 'Unified' else f' {kind.lower()}'} {size}")
    return ", ".join(found)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
