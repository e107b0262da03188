"""The audit as the tests of fakes have it."""

from tests.conformance.audit.conftest import audited, examples, kept_processes

__all__ = ["audited", "examples", "kept_processes"]
