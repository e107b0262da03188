"""Commands run in the process of the tests, where functions can be replaced."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from vinculum.cli.main import main


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a function that runs a command in this process, on 80 columns, and returns its exit code."""
    monkeypatch.setattr("vinculum.cli.main._prepare", lambda: None)  # Signals and streams are pytest's own.
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> int:
        monkeypatch.setattr(sys, "argv", ["vinculum", *map(str, arguments)])
        return main()

    return run
