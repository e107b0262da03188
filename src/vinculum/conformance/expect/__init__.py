"""Known deviations of a runtime in a strict file: all listed deviations must occur, and no others."""

from __future__ import annotations

from vinculum.conformance.expect.file import as_toml, read_known_deviations
from vinculum.conformance.expect.known import Disagreement, KnownCause, KnownDeviations, Mismatch, mismatches

__all__ = [
    "Disagreement",
    "KnownCause",
    "KnownDeviations",
    "Mismatch",
    "as_toml",
    "mismatches",
    "read_known_deviations",
]
