"""The fixtures of tests/kernels."""

from __future__ import annotations

from tests.kernels.conftest import backend, twelve_threads

__all__ = ["backend", "twelve_threads"]
