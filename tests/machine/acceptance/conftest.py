"""The fixtures of tests/acceptance."""

from __future__ import annotations

from tests.acceptance.conftest import environment, examples, refused, started_vinculum, vinculum

__all__ = ["environment", "examples", "refused", "started_vinculum", "vinculum"]
