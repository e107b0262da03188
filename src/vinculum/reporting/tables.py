"""How our pages look: sections with a heading, and tables without frames."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vinculum.reporting.escape import short


def section(heading: str, body: RenderableType) -> tuple[RenderableType, ...]:
    """Return a heading with what stands below it."""
    return Text(""), Text(heading, "bold cyan"), Padding(body, (0, 0, 0, 2), expand=False)


def table(*headings: str, right: Sequence[str] = ()) -> Table:
    """Return a table without rows; columns of numbers, flush right, come last."""
    made = Table(box=box.SIMPLE, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold", vertical="top")
    for heading in right:
        made.add_column(heading, justify="right", no_wrap=True, vertical="top")
    return made


def cell(text: str) -> Text:
    """Return a text from a file as it can stand in a table."""
    return Text(short(text))


def counted(count: int, what: str) -> str:
    """Return how many there are of something: ``"1 node"``, ``"2,000 nodes"``."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")
