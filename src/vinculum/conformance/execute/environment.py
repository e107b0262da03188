"""What answers depend on beside the runtime: Python, NumPy, the platform and the processor."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np

_CPUINFO = Path("/proc/cpuinfo")


def environment() -> dict[str, str]:
    """Return the versions of what every runtime runs on, and the processor's model."""
    # By its name: the package itself stands above the rooms, and has long been imported.
    package = import_module(__name__.partition(".")[0])
    return {
        package.__name__: package.__version__,
        "numpy": np.__version__,
        "Python": platform.python_version(),
        "platform": platform.platform(),
        "processor": processor(),
    }


def processor() -> str:
    """Return the processor's model as the system calls it; its architecture if the system does not tell."""
    with suppress(OSError):
        for line in _CPUINFO.read_text().splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name":
                return model.strip()
    if platform.system() == "Darwin":
        with suppress(OSError, subprocess.SubprocessError):
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()
