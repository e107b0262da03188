"""What the tests of the command line share."""

from tests.acceptance.conftest import environment, examples, refused, started_vinculum, vinculum

__all__ = ["environment", "examples", "refused", "started_vinculum", "vinculum"]
