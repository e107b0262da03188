"""Runs as a JSON file, which any program can read, and from which every report can be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from vinculum.conformance.cases.case import CaseId
from vinculum.conformance.run.record import Run
from vinculum.errors import ModelError
from vinculum.files import read_bounded
from vinculum.text import one_line, quoted

_FORMAT: Literal["vinculum run 2"] = "vinculum run 2"
_OLDER = "vinculum run 1"
_LARGEST = 1 << 30  # Bytes; a run of the full level has some tens of MiB.


@dataclass(frozen=True)
class RunFile:
    """The content of a file.

    Attributes
    ----------
    format : str
        The name and the version of the format.
    runs : tuple of Run
        One for each runtime.
    """

    runs: tuple[Run, ...]
    format: Literal["vinculum run 2"] = _FORMAT


class _Head(msgspec.Struct):
    format: str = ""


def as_json(runs: Sequence[Run]) -> str:
    """Return runs as the text of a file; the same runs give the same text."""
    content = msgspec.json.encode(RunFile(tuple(runs)))
    return msgspec.json.format(content, indent=1).decode() + "\n"


def read_runs(file: Path) -> tuple[Run, ...]:
    """Return the runs of a file.

    Raises
    ------
    ModelError
        If it is not such a file; the message names it.
    OSError
        If it cannot be read.
    """
    content = read_bounded(file, _LARGEST, "a file written by --save")
    try:
        if msgspec.json.decode(content, type=_Head).format == _OLDER:
            raise ModelError(
                f"{str(file)!r} was written before runs kept their answers ({_OLDER!r}; this version reads "
                f"{_FORMAT!r}); run vinculum conform --save again"
            )
        runs = msgspec.json.decode(content, type=RunFile).runs
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            f"{str(file)!r} is not a run of the conformance suite ({one_line(error)}); give a file written by --save"
        ) from None
    if not runs:
        raise ModelError(f"{str(file)!r} holds no run; give a file written by --save")
    for run in runs:
        _check(run, file)
    return runs


def _check(run: Run, file: Path) -> None:
    """Refuse what no run is: its reports would count cases wrongly."""
    named = {result.cause for result in run.results} - {"", *(cause.name for cause in run.causes)}
    if named:
        raise ModelError(
            f"{str(file)!r} gives a case the cause {quoted(min(named))}, which its run does not list; give what "
            "--save has written"
        )
    seen: set[CaseId] = set()
    for result in run.results:
        if result.id in seen:
            raise ModelError(f"{str(file)!r} has the case {quoted(str(result.id))} twice; give what --save has written")
        seen.add(result.id)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of such a file."""
    return msgspec.json.schema(RunFile)
