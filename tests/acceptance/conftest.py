"""What the tests of the command line share: the command as a user types it, and the demand on every refusal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import vinculum as package

Completed = subprocess.CompletedProcess[str]
Vinculum = Callable[..., Completed]

# What would change how a terminal is guessed.
_LEFT_OUT = ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH", "PYTHONWARNINGS")


@pytest.fixture(scope="session")
def examples() -> Path:
    """Return the folder of the examples."""
    return Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Return the variables of every process: the sources of the other tests, and 80 columns of UTF-8."""
    inherited = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    sources = str(Path(package.__file__).resolve().parents[1])
    return {**inherited, "PYTHONPATH": sources, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}


@pytest.fixture(scope="session")
def vinculum(environment: dict[str, str]) -> Vinculum:
    """Return a function that runs the command with its arguments, in a process of its own."""

    def run(*arguments: object, columns: int = 80, folder: Path | None = None, **variables: str) -> Completed:
        return subprocess.run(
            [sys.executable, "-m", "vinculum", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            timeout=300,  # The first run on a machine waits for the compiler.
            cwd=folder,
            env={**environment, "COLUMNS": str(columns), **variables},
            check=False,
        )

    return run


@pytest.fixture
def refused(vinculum: Vinculum, tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs a command in `tmp_path`, which must fail in one line, and returns the line.

    The exit code is 2 unless `code` is given; nothing is printed, nothing written, and no file changed.
    """

    def run(*arguments: object, code: int = 2) -> str:
        before = _content(tmp_path)
        done = vinculum(*arguments, folder=tmp_path)
        lines = done.stderr.splitlines()
        assert (done.returncode, done.stdout, len(lines)) == (code, "", 1), done.stderr
        assert lines[0].startswith("vinculum: error: ")
        assert lines[0].isprintable()
        assert len(lines[0]) < 700
        assert _content(tmp_path) == before
        return lines[0].removeprefix("vinculum: error: ")

    return run


def _content(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}
