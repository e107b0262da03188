"""The console, and the parts of pages: sections with headings, and tables without frames."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vinculum.reporting.escape import short


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output, or on standard error.

    Its width is that of the terminal, or COLUMNS if that is a positive number.
    """
    columns = os.environ.get("COLUMNS", "")
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    known = os.environ if columns.isascii() and columns.isdigit() and int(columns) else environment
    return Console(highlight=False, stderr=stderr, _environ=known)


class WithoutTrailingBlanks:
    """A file or a pipe for whole lines, which drops the blanks with which rich fills them."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        """Write lines without the blanks at their ends."""
        return self._file.write(re.sub(r" +(?=\n)", "", text))


def section(heading: str, body: RenderableType) -> tuple[RenderableType, ...]:
    """Return a heading with a body below it."""
    return Text(""), Text(heading, "bold cyan"), Padding.indent(body, 2)


Rows = Iterable[Sequence[str | RenderableType]]


def table(headings: Sequence[str], rows: Rows = (), right: Sequence[str] = ()) -> Table:
    """Return a table; the headings in `right` are those of its last columns, numbers aligned on the right."""
    made = Table(box=box.SIMPLE, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    for heading in right:
        made.add_column(heading, justify="right", no_wrap=True)
    return _filled(made, rows)


def grid(rows: Rows) -> Table:
    """Return a table without headings: a name and its text in each row."""
    return _filled(Table.grid(padding=(0, 2, 0, 0)), rows)


def _filled(made: Table, rows: Rows) -> Table:
    for row in rows:
        made.add_row(*(Text(one, overflow="fold") if isinstance(one, str) else one for one in row))
    return made


def named(name: str, operator: str, path: str, *facts: str, above: Iterable[str] = ()) -> RenderableType:
    """Return the cell of a node in a table: its name, and lines below it, the last with its operator, path, facts."""
    lines = (*above, ", ".join((f"{operator} in {path}" if path else operator, *facts)))
    below = Text("\n").join(Text(short(line), "dim") for line in lines)
    return Group(Text(short(name), "bold"), Padding.indent(below, 2))


class ByWidth:
    """A page with a form for consoles of at least a width, and another for narrower ones."""

    def __init__(self, width: int, wide: RenderableType, narrow: RenderableType) -> None:
        self._width, self._wide, self._narrow = width, wide, narrow

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._wide if options.max_width >= self._width else self._narrow


def cell(text: str) -> Text:
    """Return the cell of a table for a text from a file."""
    return Text(short(text))


def cells(*texts: str) -> tuple[Text, ...]:
    """Return a row of such cells."""
    return tuple(map(cell, texts))


def counted(count: int, what: str) -> str:
    """Return a number with its noun: ``"1 node"``, ``"2,000 nodes"``."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def some(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
