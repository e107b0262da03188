"""The fixtures of tests/acceptance; here each command runs in a process of its own."""

from __future__ import annotations

from tests.acceptance.conftest import environment, examples, guarded, mean, refused, started_vinculum

__all__ = ["environment", "examples", "guarded", "mean", "refused", "started_vinculum"]
vinculum = started_vinculum
