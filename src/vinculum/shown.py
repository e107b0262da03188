"""Records that `print` and notebooks show as the command line prints them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Shown:
    """A record with a page, which `print` and notebooks show."""

    def __str__(self) -> str:
        return str(_pages().text(self))

    def _repr_html_(self) -> str:
        return str(_pages().html(self))


def _pages() -> Any:
    """Return the module of all pages, which imports all records and so is imported only when one is printed."""
    return import_module("vinculum.reporting.shown")
