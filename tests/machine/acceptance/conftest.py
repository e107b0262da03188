"""The fixtures of tests/acceptance; the machine is asked about processes."""

from __future__ import annotations

from tests.acceptance.conftest import environment, examples, guarded, mean, refused, started_vinculum

__all__ = ["environment", "examples", "guarded", "mean", "refused", "started_vinculum"]
vinculum = started_vinculum
