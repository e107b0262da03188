"""Records that print and show themselves as the command line prints them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Shown:
    """A record with a page: `print` prints it, and a notebook shows it."""

    def __str__(self) -> str:
        return str(_pages().text(self))

    def _repr_html_(self) -> str:
        return str(_pages().html(self))


def _pages() -> Any:
    """Return the module that knows every page; it stands above all records, and is imported when one is printed."""
    return import_module("vinculum.reporting.shown")
