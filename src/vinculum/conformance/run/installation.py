"""The installed versions, found without importing the packages, and the environment on which answers depend."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from vinculum.kernels import backend
from vinculum.kernels.threads import get_threads, usable_processors
from vinculum.version import __version__

RUNTIMES = ("onnxruntime", "openvino", "torch", "jax")
"""The optional runtimes; each is also the name of the extra that installs it."""
FEATURES = ("x86_64", "aarch64", "avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16")
"""Features of processors on which runtimes' answers may depend, named as Linux names them."""
_CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Installation:
    """What quotients and their times may depend on, and the optional runtimes.

    - `backend`: The backend that divides: the compiled ``"core"``, or ``"portable"``.
    - `target`: The instruction set that the core uses on this processor; None for the portable backend.
    - `threads`: The most threads that a large division uses.
    - `processors`: The number of processors that the process may use.
    - `runtimes`: The version of each optional runtime; None if it is not installed.
    """

    version: str
    backend: str
    target: str | None
    threads: int
    processors: int
    python: str
    numpy: str
    onnx: str
    runtimes: Mapping[str, str | None]


def installation() -> Installation:
    """Return the versions installed here, within milliseconds."""
    dividing = backend().name
    portable = dividing == "portable"
    return Installation(
        version=__version__,
        backend="portable" if portable else "core",
        target=None if portable else dividing,
        threads=get_threads(),
        processors=usable_processors(),
        python=platform.python_version() + (", free-threaded" if "t" in getattr(sys, "abiflags", "") else ""),
        numpy=np.__version__,
        onnx=version("onnx"),
        runtimes={name: _version(name) for name in RUNTIMES},
    )


def _version(package: str) -> str | None:
    if find_spec(package) is None:
        return None
    try:
        return version(package)
    except PackageNotFoundError:  # Another distribution provides it, such as onnxruntime-gpu; finding that is slower.
        from vinculum.conformance.runtimes.protocol import versions_of

        return ", ".join(f"{found} ({name})" for name, found in versions_of(package).items())


def environment() -> dict[str, str]:
    """Return the versions of the software below every runtime, and the processor's model and features."""
    return {
        "vinculum": __version__,
        "numpy": np.__version__,
        "Python": platform.python_version(),
        "platform": platform.platform(),
        "processor": processor(),
        "processor features": " ".join(processor_features()),
    }


def processor() -> str:
    """Return the processor's model as reported by the system; else its architecture."""
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


def processor_features() -> tuple[str, ...]:
    """Return which of `FEATURES` the processor has; only its architecture if the system does not tell."""
    machine = platform.machine().lower()
    found = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine).split()
    with suppress(OSError):
        flags = re.search(r"^(?:flags|Features)\s*:(.*)", _CPUINFO.read_text(), re.MULTILINE)
        found += flags[1].split() if flags else []
    return tuple(name for name in FEATURES if name in found)
