"""Test on this machine's CUDA device, and write what passed and how fast it was: ``python -m building.gpu [RECORD]``.

The tests come in the order of their risk, then pairs drawn at random, and speed last. The record holds the versions,
the commit, and all that was printed, failures too.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "reference" / "cuda.txt"
PYTEST = ["pytest", "-v", "--tb=short", "--require-all", "-p", "no:cacheprovider", "tests/runtimes/device_arrays"]
STEPS = (
    [*PYTEST],
    [*PYTEST, "-m", "exhaustive", "-o", "timeout=14400", "-o", "faulthandler_timeout=14400"],
    ["benchmarks.cuda"],
)
_NAMED = ("cupy", "torch", "jax", "nvidia-cuda-nvrtc", "numpy", "vinculum")


def device() -> str | None:
    """Return the name of the device and of its driver; None without one that CuPy can use."""
    try:
        import cupy
    except ImportError:
        return None
    if not cupy.cuda.is_available():
        return None
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return f"{name}, driver for CUDA {cupy.cuda.runtime.driverGetVersion()}"


def recorded(steps: Iterable[list[str]], heading: str, record: Path) -> bool:
    """Run modules of Python, print and record what they print, and return whether all passed."""
    lines, passed = [heading], True
    for step in steps:
        command = [sys.executable, "-m", *step]
        lines += ["", f"$ python -m {' '.join(step)}"]
        with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
            for line in run.stdout or ():
                print(line, end="", flush=True)
                lines.append(line.rstrip())
        passed &= run.returncode == 0
        lines.append(f"exit code {run.returncode}")
        record.write_text("\n".join([*lines, ""]), encoding="utf-8")  # after each step, as the next may never end
    return passed


def main(record: Path = RECORD) -> int:
    """Return 0 if all passed, 1 if not, 2 if there is no device."""
    found = device()
    if found is None:
        print("CuPy finds no CUDA device here, so nothing was tested or recorded", file=sys.stderr)
        return 2
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    versions = sorted(f"{each.name} {each.version}" for each in distributions() if each.name.startswith(_NAMED))
    heading = f"{datetime.now(UTC):%Y-%m-%d}, commit {commit}, {found}; {', '.join(versions)}"
    return 0 if recorded(STEPS, heading, record) else 1


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
