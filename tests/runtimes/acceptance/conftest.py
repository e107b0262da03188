"""The fixtures of tests/acceptance; each command runs in a process of its own, which a runtime may end."""

from __future__ import annotations

from tests.acceptance.conftest import environment, examples, refused, started_vinculum

__all__ = ["environment", "examples", "refused", "started_vinculum"]
vinculum = started_vinculum
