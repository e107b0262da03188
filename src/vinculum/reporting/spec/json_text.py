"""The specification for machines: a row, or the difference of two, as a JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from vinculum.spec.diff import SpecDiff
from vinculum.spec.element_types import ElementType
from vinculum.spec.model import Broadcasting, Dialect, IntegerRounding, OperatorSpec


def as_json(row: OperatorSpec) -> dict[str, Any]:
    """Return a row as one JSON object: every field under its own name."""
    return {"title": row.title, **_fields(row)}


def difference_as_json(diff: SpecDiff) -> dict[str, Any]:
    """Return a difference as one JSON object: the header of the page, then every field under its own name."""
    changes = {name: value for name, value in _fields(diff).items() if name not in ("old", "new")}
    return {
        "dialect": diff.new.dialect.value,
        "domain": diff.new.domain,
        "name": diff.new.name,
        "old_version": diff.old.since_version,
        "new_version": diff.new.since_version,
        "breaking": diff.breaking,
        **changes,
    }


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, ElementType):
        return value.name
    if isinstance(value, Dialect):
        return value.value
    if isinstance(value, Broadcasting | IntegerRounding):
        return value.name.lower()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return [{"value": key, "rule": _plain(rule)} for key, rule in value.items()]
    return _fields(value) if is_dataclass(value) else value
