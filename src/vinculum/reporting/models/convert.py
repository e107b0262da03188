"""What ``vinculum convert`` tells of a conversion, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from vinculum.models.convert import FileConversion
from vinculum.reporting.escape import short
from vinculum.reporting.plain import part
from vinculum.reporting.terminal import cell, counted, section, table


def page(conversion: FileConversion, source: Path, target: Path) -> RenderableType:
    """Return a page: what became of which node and why, and what was compared."""
    return Group(*_sections(conversion, source, target))


def as_json(conversion: FileConversion, source: Path, target: Path) -> dict[str, Any]:
    """Return the same as JSON knows it."""
    return {
        "source": {"file": str(source), "format": conversion.source},
        "target": {"file": str(target), "format": conversion.target},
        **part(conversion, "changes", "verification"),
    }


def _sections(conversion: FileConversion, source: Path, target: Path) -> Iterator[RenderableType]:
    yield Text(short(f"{source}, {conversion.source}"), "bold")
    yield Text(short(f"{target}, {conversion.target}"), "bold")
    if conversion.changes:
        rows = table("Node", "Now", "Because")
        for change in conversion.changes:
            rows.add_row(*map(cell, (change.node, change.what, change.why)))
        yield from section("Changes", rows)
    yield Text("")
    yield Text(_verdict(conversion))


def _verdict(conversion: FileConversion) -> str:
    changed = counted(len(conversion.changes), "change") if conversion.changes else "No node changed"
    checked = conversion.verification
    if checked is None:
        return f"{changed}. Not verified."
    compared = f"{counted(checked.elements, 'element')} of the outputs for {counted(checked.compared, 'set')} of inputs"
    sentences = [f"{changed}. The models agree in every bit of {compared}."]
    if checked.skipped:
        was = "was" if checked.skipped == 1 else "were"
        reason = f": {short(checked.reason)}" if checked.reason else ""
        sentences.append(f"{counted(checked.skipped, 'set')} of inputs {was} left out{reason}.")
    return " ".join(sentences)
