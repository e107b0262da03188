"""The type checkers mypy and pyright accept the tests of types with the real libraries."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.optional import package_or_skip
from tests.processes import run

ROOT = Path(__file__).parents[3]
READ = ["tests/typing/test_numpy.py", "tests/runtimes/typing/test_libraries.py"]


def checker(request: pytest.FixtureRequest, name: str) -> list[str]:
    """Return the beginning of a command; skip the test where there is no such checker."""
    package_or_skip(request, name)
    return [sys.executable, "-m", name]


def test_mypy(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    settings = tmp_path / "mypy.ini"
    strict = "strict = true\nmypy_path = src\nexplicit_package_bases = true\nfollow_imports = silent\n"
    settings.write_text(f"[mypy]\n{strict}untyped_calls_exclude = dask\n")
    command = [*checker(request, "mypy"), "--config-file", str(settings), "--cache-dir", str(tmp_path / "cache")]
    done = run([*command, *READ], cwd=ROOT, limit=280.0)  # it reads PyTorch
    assert done.returncode == 0, done.stdout


def test_pyright(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    settings = tmp_path / "pyrightconfig.json"
    told = {"include": [str(ROOT / path) for path in READ], "extraPaths": [str(ROOT / "src"), str(ROOT)]}
    settings.write_text(json.dumps({**told, "reportUnnecessaryTypeIgnoreComment": "error"}))
    command = [*checker(request, "pyright"), "--project", str(settings), "--pythonpath", sys.executable]
    done = run(command, cwd=ROOT)
    assert done.returncode == 0, done.stdout
