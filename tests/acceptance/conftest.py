"""Fixtures for the command line: commands as a user types them, and the checks of every refusal."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from warnings import catch_warnings, simplefilter

import pytest

import vinculum as package
from tests import processes
from tests.analysis import hazardous
from vinculum.cli.main import main

Completed = subprocess.CompletedProcess[str]
Vinculum = Callable[..., Completed]
Refused = Callable[..., str]

# Variables that would change how rich and Typer see the terminal.
_LEFT_OUT = ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH", "PYTHONWARNINGS")


@pytest.fixture(scope="session")
def examples() -> Path:
    return Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Return the environment of every process: the sources under test, and 80 columns of UTF-8."""
    inherited = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    sources = str(Path(package.__file__).resolve().parents[1])
    return {**inherited, "PYTHONPATH": sources, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}


@pytest.fixture(scope="session")
def started_vinculum(environment: dict[str, str]) -> Vinculum:
    """Return a function that runs the command in a new process.

    After ``--python`` it runs a program in Python. With `code` it must end with that exit code, and print no errors.
    """

    def run(
        *arguments: object, columns: int = 80, folder: Path | None = None, code: int | None = None, **variables: str
    ) -> Completed:
        words = [*map(str, arguments)]
        done = processes.run(
            [sys.executable, *(words[1:] if words[:1] == ["--python"] else ("-m", "vinculum", *words))],
            encoding="utf-8",
            cwd=folder,
            env={**environment, "COLUMNS": str(columns), **variables},
        )
        return _ended(done, code)

    return run


@pytest.fixture
def vinculum(monkeypatch: pytest.MonkeyPatch) -> Vinculum:
    """Return a function that runs the command in this process, which has imported everything."""

    def run(*arguments: object, columns: int = 80, folder: Path | None = None, code: int | None = None) -> Completed:
        words, place = [*map(str, arguments)], str(folder or Path.cwd())
        output, errors = StringIO(), StringIO()
        with monkeypatch.context() as patch, redirect_stdout(output), redirect_stderr(errors), catch_warnings():
            simplefilter("ignore")
            patch.setattr("vinculum.cli.main._prepare", lambda: None)  # Signals and streams are pytest's own.
            for name in _LEFT_OUT:
                patch.delenv(name, raising=False)
            patch.setenv("COLUMNS", str(columns))
            patch.chdir(place)
            patch.setattr(sys, "path", [place, *sys.path])  # where `python -m vinculum` looks first
            ended = _program(words[1:], patch) if words[:1] == ["--python"] else _command(words, patch)
        for name in [name for name, module in sys.modules.items() if _lies_in(module, place)]:
            del sys.modules[name]  # Another page may have a different file of that name.
        return _ended(Completed(words, ended, output.getvalue(), errors.getvalue()), code)

    return run


def _ended(done: Completed, code: int | None) -> Completed:
    assert code is None or (done.returncode, done.stderr) == (code, "")
    return done


def _command(words: list[str], patch: pytest.MonkeyPatch) -> int:
    patch.setattr(sys, "argv", ["vinculum", *words])
    return main()


def _program(words: list[str], patch: pytest.MonkeyPatch) -> int:
    patch.setattr(sys, "argv", words)
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def _lies_in(module: object, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and str(Path(file).parent) == folder


@pytest.fixture
def mean(tmp_path: Path) -> Path:
    """Return the file of a mean over a mask that may be empty."""
    path = tmp_path / "mean.onnx"
    path.write_bytes(hazardous.masked_mean().SerializeToString())
    return path


@pytest.fixture
def guarded(tmp_path: Path) -> Path:
    path = tmp_path / "guarded.onnx"
    path.write_bytes(hazardous.guarded_mean().SerializeToString())
    return path


@pytest.fixture
def refused(vinculum: Vinculum, tmp_path: Path) -> Refused:
    """Return a function that runs a command in `tmp_path`, which must fail with one line, and returns the line.

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
