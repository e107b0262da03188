"""A foreign runtime that does not end is ended."""

from __future__ import annotations

import pytest

from vinculum.models.engines import model_runner
from vinculum.models.engines.model_runner import Case, run_cases


def test_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_runner, "_CHILD", "tests.sandbox.isolated_objects:Runner")
    (outcome,) = run_cases("sleeps", [Case(b"", None)] * 2, seconds=2.0)
    assert (outcome.problem, outcome.died) == ("did not end within 2 seconds", True)
