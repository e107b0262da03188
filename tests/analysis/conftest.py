"""Checks search for no inputs that show a finding, unless a test says how many runs are allowed."""

from __future__ import annotations

import pytest

from vinculum.analysis import checker


@pytest.fixture(autouse=True)
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a check make no runs by default; that users get 100 is tested in tests/cli."""
    defaults = checker.check.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "runs", 0)
