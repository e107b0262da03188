"""What ``vinculum fingerprint`` tells: how each element type is divided, what differs from the specification first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vinculum.conformance.fingerprint import Fingerprint, Line
from vinculum.reporting.conformance.words import example_sentence
from vinculum.reporting.escape import escaped, short
from vinculum.reporting.terminal import counted

_MARK = "!"
_NAMED = 8


def page(fingerprint: Fingerprint, *, verbose: bool = False) -> RenderableType:
    """Return a fingerprint as a page; a verbose one has an example of each deviation."""
    return Group(*_parts(fingerprint, verbose), Text(""))


def as_json(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return the same as JSON knows it."""
    return {**asdict(fingerprint), "seconds": round(fingerprint.seconds, 3)}


def _parts(fingerprint: Fingerprint, verbose: bool) -> Iterator[RenderableType]:
    versions = ", ".join(f"{package} {version}" for package, version in fingerprint.versions.items())
    yield Text(escaped(f"{fingerprint.title} ({versions})" if versions else fingerprint.title), "bold")
    yield Text("")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(max_width=26)
    table.add_column(overflow="fold")
    for line in fingerprint.lines:
        table.add_row(
            Text(_MARK if line.deviates else "", "bold red"), Text(_about(line), "bold"), _told(line, verbose)
        )
    yield table
    yield Text("")
    deviating = sum(line.deviates for line in fingerprint.lines)
    result = f"{counted(deviating, 'line')} marked {_MARK}: not as specified." if deviating else "Nothing deviates."
    yield Text(f"{result} By {counted(fingerprint.cases, 'case')} of conform, in {fingerprint.seconds:.1f} seconds.")


def _about(line: Line) -> str:
    types = line.element_types
    return short(", ".join(types)) if len(types) <= _NAMED else f"{len(types)} element types"


def _told(line: Line, verbose: bool) -> RenderableType:
    words = Text(escaped(line.statement), "yellow" if line.deviates else "")
    if not (verbose and line.example):
        return words
    return Group(words, Text(short(example_sentence(line.example)), "dim"))
