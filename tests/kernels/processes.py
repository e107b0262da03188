"""Other Python processes, with a cache of compiled kernels and a processor of the test's choice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import vinculum

SOURCES = Path(vinculum.__file__).parent
_ROOT = Path(__file__).parents[2]


def environment(cache: Path, sources: Path = SOURCES, **variables: str) -> dict[str, str]:
    """Return environment variables: compiled kernels are kept in `cache`, the package is imported from `sources`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return {
        **inherited,
        "PYTHONPATH": os.pathsep.join([str(sources.parent), str(_ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(cache),
        **variables,
    }


def start(arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start Python with its standard streams connected."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def run(arguments: list[str], environment: dict[str, str]) -> str:
    """Run Python to its end and return what it printed; fail with its last error lines unless it exits with 0."""
    process = start(arguments, environment)
    output, errors = process.communicate()
    assert process.returncode == 0, f"exit code {process.returncode}: {errors[-2000:]}"
    return output


def same_cache(**variables: str) -> dict[str, str]:
    """Return environment variables by which another process finds the kernels that this one has compiled."""
    path = {"PYTHONPATH": os.pathsep.join([str(SOURCES.parent), str(_ROOT)])}
    return {**os.environ, **path, "PYTHONDONTWRITEBYTECODE": "1", **variables}
