"""The version of this package, defined in this place only."""

from __future__ import annotations

__version__ = "0.3.0"
