"""What the tests of the command line share: the command as a user types it, and the demand on every refusal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import vinculum as package
from tests import fake_runtime, processes
from tests.warm_processes import Server

_SESSION = 7200.0  # Seconds that the server of commands may live.
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
def started_vinculum(environment: dict[str, str]) -> Vinculum:
    """Return a function that runs the command as a shell does: a new process, which imports all that it needs."""

    def run(*arguments: object, columns: int = 80, folder: Path | None = None, **variables: str) -> Completed:
        return processes.run(
            [sys.executable, "-m", "vinculum", *map(str, arguments)],
            encoding="utf-8",
            cwd=folder,
            env={**environment, "COLUMNS": str(columns), **variables},
        )

    return run


@pytest.fixture(scope="session")
def vinculum(
    started_vinculum: Vinculum,
    environment: dict[str, str],
    warm_processes: Server,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Vinculum]:
    """Return a function that runs the command in a process of its own, which need not import everything again."""
    if sys.platform != "linux":  # Elsewhere no process can be forked, or none that has imported NumPy.
        yield started_vinculum
        return
    streams = tmp_path_factory.mktemp("streams")
    with _server(environment, warm_processes.address()) as connection:

        def run(*arguments: object, columns: int = 80, folder: Path | None = None) -> Completed:
            words = [*map(str, arguments)]
            files = (streams / "output", streams / "errors")
            for file in files:
                file.write_bytes(b"")
            fakes = os.environ.get(fake_runtime.VARIABLE)
            connection.send((words, str(folder or Path.cwd()), columns, fakes, (str(files[0]), str(files[1]))))
            assert connection.poll(2 * processes.LIMIT), "the server of commands does not answer"
            code: int = connection.recv()
            return Completed(words, code, *(file.read_text("utf-8") for file in files))

        yield run


@contextmanager
def _server(environment: dict[str, str], address: str) -> Iterator[Connection]:
    ours, theirs = Pipe()
    command = [sys.executable, "-m", "tests.acceptance.command_server", str(theirs.fileno()), address]
    root = Path(__file__).parents[2]
    with processes.started(command, limit=_SESSION, cwd=root, env=environment, pass_fds=[theirs.fileno()]), ours:
        theirs.close()
        yield ours


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
