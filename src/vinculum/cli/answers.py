"""The output of a command, a page or one JSON object, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import typer
from rich.console import RenderableType

from vinculum.reporting.terminal import console

FINE, FINDING, UNUSABLE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130


def tell(
    in_json: bool, as_json: Callable[..., dict[str, Any]], page: Callable[..., RenderableType], *results: object
) -> None:
    """Print a result as one JSON object, or as a page."""
    if in_json:
        print(json.dumps(as_json(*results), indent=2, allow_nan=False))
    else:
        console().print(page(*results), crop=False)  # commands are on one line each


def end(*, finds: bool) -> None:
    """End the command, with the exit code of a finding if there is one."""
    if finds:
        raise typer.Exit(FINDING)
