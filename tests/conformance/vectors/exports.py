"""Exports that tests share: each format is written once in a process; tests must not change it."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from vinculum.conformance.cases.case import Level
from vinculum.conformance.vectors.export import export
from vinculum.conformance.vectors.records import CaseLine


@cache
def exported(form: str) -> Path:
    """Return a folder with the quick cases in a format."""
    temporary = TemporaryDirectory(prefix="vinculum-vectors-")
    atexit.register(temporary.cleanup)
    folder = Path(temporary.name, form)
    export(folder, form, Level.QUICK)
    return folder


def lines(folder: Path) -> Iterator[CaseLine]:
    """Yield the cases of an export."""
    for line in (folder / "cases.jsonl").read_bytes().splitlines():
        yield msgspec.json.decode(line, type=CaseLine)
