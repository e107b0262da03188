"""What ``vinculum check --accuracy`` tells: bounds of absolute errors, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vinculum.analysis.accuracy import Accuracy, Bound
from vinculum.reporting.check.data import number
from vinculum.reporting.escape import one_line
from vinculum.reporting.tables import cell, section, table


def page(accuracy: Accuracy) -> RenderableType:
    """Return bounds as a page."""
    parts: list[RenderableType] = []
    for heading, bounds in (("Errors of divisions", accuracy.divisions), ("Errors of outputs", accuracy.outputs)):
        if bounds:
            parts += section(heading, _table(bounds, heading.endswith("divisions")))
    reasons = dict.fromkeys(bound.reason for bound in (*accuracy.divisions, *accuracy.outputs) if bound.reason)
    parts += [Text(""), *(Text(f"No bound: {one_line(reason)}.", "yellow") for reason in reasons)] if reasons else []
    return Group(*parts)


def _table(bounds: Sequence[Bound], divisions: bool) -> Table:
    made = table("node" if divisions else "output", right=(*(("carried in", "own") if divisions else ()), "in all"))
    for bound in bounds:
        numbers = (bound.propagated, bound.introduced, bound.total) if divisions else (bound.total,)
        made.add_row(cell(bound.name), *("no bound" if bound.reason else f"{n:.3g}" for n in numbers))
    return made


def as_json(accuracy: Accuracy) -> dict[str, Any]:
    """Return the same as JSON knows it; null where there is no bound."""
    return {
        "divisions": [
            {
                "node": bound.name,
                "operator": bound.operator,
                "element_type": bound.element_type,
                "propagated": None if bound.reason else number(bound.propagated),
                "introduced": None if bound.reason else number(bound.introduced),
                "total": None if bound.reason else number(bound.total),
                "reason": bound.reason,
            }
            for bound in accuracy.divisions
        ],
        "outputs": [
            {
                "name": bound.name,
                "element_type": bound.element_type,
                "total": None if bound.reason else number(bound.total),
                "reason": bound.reason,
            }
            for bound in accuracy.outputs
        ],
    }
