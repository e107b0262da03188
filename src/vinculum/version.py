"""The version of this package, in the one place where it stands."""

from __future__ import annotations

__version__ = "0.2.0"
