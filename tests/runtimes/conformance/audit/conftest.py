"""The fixtures of tests/conformance/audit."""

from tests.conformance.audit.conftest import audited, examples, kept_processes

__all__ = ["audited", "examples", "kept_processes"]
