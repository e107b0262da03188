"""What the tests of the command line share; in a process of its own, as a runtime may end it."""

from __future__ import annotations

from tests.acceptance.conftest import environment, examples, refused, started_vinculum

__all__ = ["environment", "examples", "refused", "started_vinculum"]
vinculum = started_vinculum
