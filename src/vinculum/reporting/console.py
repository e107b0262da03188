"""The console that every command prints to."""

from __future__ import annotations

import os

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output, or on standard error.

    It is as wide as the terminal, or as COLUMNS says; a COLUMNS of 0 or of no number says nothing.
    """
    columns = os.environ.get("COLUMNS", "")
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    known = os.environ if columns.isascii() and columns.isdigit() and int(columns) else environment
    return Console(highlight=False, stderr=stderr, _environ=known)
