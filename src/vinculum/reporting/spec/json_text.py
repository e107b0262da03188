"""The specification for machines: a row, or the difference of two, as a JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vinculum.reporting.plain import part, plain
from vinculum.spec.diff import SpecDiff
from vinculum.spec.model import Broadcasting, IntegerRounding, OperatorSpec


def as_json(row: OperatorSpec) -> dict[str, Any]:
    """Return a row as one JSON object: every field under its own name."""
    rules = {"broadcasting": _rules(row.broadcasting), "integer_rounding": _rules(row.integer_rounding)}
    return {"title": row.title, **plain(row), **rules}


def difference_as_json(diff: SpecDiff) -> dict[str, Any]:
    """Return a difference as one JSON object: the header of the page, then every field under its own name."""
    changes = {name: value for name, value in plain(diff).items() if name not in ("old", "new")}
    return {
        **part(diff.new, "dialect", "domain", "name"),
        "old_version": diff.old.since_version,
        "new_version": diff.new.since_version,
        "breaking": diff.breaking,
        **changes,
    }


def _rules(rules: Mapping[Any, Broadcasting | IntegerRounding]) -> list[dict[str, Any]]:
    return [{"value": value, "rule": rule.name.lower()} for value, rule in rules.items()]
