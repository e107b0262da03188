"""The fixtures of tests/kernels."""

from __future__ import annotations

from tests.kernels.conftest import backend, eight_threads

__all__ = ["backend", "eight_threads"]
