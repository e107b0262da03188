"""What ``vinculum info`` prints: what divides here, and which runtimes can be asked."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vinculum.conformance.execute.installation import Installation
from vinculum.reporting.escape import escaped
from vinculum.reporting.tables import counted, section

_PORTABLE = "portable, NumPy alone: slower than the compiled core, which an installation with a C++20 compiler has"


def page(found: Installation) -> RenderableType:
    """Return an installation as a page."""
    ours = {
        "Backend": f"compiled core, {found.target}" if found.target else _PORTABLE,
        "Threads": f"{found.threads} of {counted(found.processors, 'usable processor')}",
        "Python": found.python,
        "NumPy": found.numpy,
        "ONNX": found.onnx,
    }
    runtimes = {
        name: version or f"not installed: pip install 'vinculum-div[{name}]'"
        for name, version in found.runtimes.items()
    }
    width = max(map(len, [*ours, *runtimes]))
    return Group(
        Text(f"vinculum {found.version}", "bold"),
        *section("Here", _table(ours, width)),
        *section("Runtimes", _table(runtimes, width)),
    )


def as_json(found: Installation) -> dict[str, Any]:
    """Return the same as JSON knows it."""
    return asdict(found)


def _table(rows: dict[str, str], width: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=width)
    table.add_column(overflow="fold")
    for name, words in rows.items():
        table.add_row(name, Text(escaped(words)))
    return table
