"""Known deviations of a runtime in a strict file: all listed deviations must occur, and no others."""

from __future__ import annotations

from vinculum.conformance.expect.compare import Disagreement, Mismatch, mismatches
from vinculum.conformance.expect.file import read_known_deviations
from vinculum.conformance.expect.known import KnownCases, KnownCause, KnownDeviations
from vinculum.conformance.expect.record import as_toml

__all__ = [
    "Disagreement",
    "KnownCases",
    "KnownCause",
    "KnownDeviations",
    "Mismatch",
    "as_toml",
    "mismatches",
    "read_known_deviations",
]
