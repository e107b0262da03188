"""The JSON of ``vinculum bench``: everything that a run has found, and back.

What can be computed from the samples is written for whoever reads it, and computed again when we read it.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from vinculum.benchmarking.cells import OPERATORS, SHAPES, TYPES, Cell
from vinculum.benchmarking.peers.registry import OURS, ROOFLINE
from vinculum.benchmarking.results import Measured, Missing, Outcome, Report, Row
from vinculum.errors import ModelError

_FORMAT = "vinculum bench 1"
_DIGITS = 6


def text(report: Report) -> str:
    """Return a report as JSON, a line for each cell."""
    lines = ",\n  ".join(json.dumps(_row(row), allow_nan=False) for row in report.rows)
    return f'{json.dumps(_head(report), indent=1, allow_nan=False)[:-2]},\n "cells": [\n  {lines}\n ]\n}}\n'


Count = Annotated[int, Meta(ge=1)]
Words = Annotated[str, Meta(min_length=1)]


class _Peer(Struct):
    title: Words
    single_threaded: bool


class _Outcome(Struct):
    exact: bool = False
    samples: tuple[Annotated[float, Meta(gt=0)], ...] = ()  # Nanoseconds an element.
    reason: Words | None = None
    ended: bool = False


class _Cell(Struct):
    operator: str
    element_type: str
    shape: str
    size: Count
    outcomes: dict[str, _Outcome]


class _File(Struct):
    format: Literal["vinculum bench 1"]
    date: Words
    threads: Count
    rounds: Count
    others: Annotated[float, Meta(ge=0, le=1)]  # The part of the processors that other processes took.
    machine: dict[Words, Words]  # Words by what they are about.
    peers: dict[Words, _Peer]  # Ours first, the roofline last.
    versions: dict[Words, Words]  # By the distributions' names.
    cells: Annotated[tuple[_Cell, ...], Meta(min_length=1)]


def report_of(content: str, source: str) -> Report:
    """Return the report that `text` has written.

    Parameters
    ----------
    content : str
        The JSON.
    source : str
        What a message calls it.

    Raises
    ------
    ModelError
        If it is not one of these.
    """
    try:
        return _report(msgspec.json.decode(content, type=_File))
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError):
        raise ModelError(f"{source} holds no run that vinculum bench --json has written; give such a file") from None


def _head(report: Report) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "date": report.date,
        "threads": report.threads,
        "rounds": report.rounds,
        "others": round(report.others, 3),
        "machine": dict(report.machine),
        "peers": {
            name: {"title": title, "single_threaded": name in report.single} for name, title in report.titles.items()
        },
        "versions": dict(report.versions),
    }


def _row(measured: Row) -> dict[str, Any]:
    # From what is written, not from what was measured: whoever reads it finds the same.
    row = Row(measured.cell, {name: _as_written(outcome) for name, outcome in measured.outcomes.items()})
    cell = row.cell
    return {
        "operator": cell.operator,
        "element_type": cell.element_type,
        "shape": cell.shape,
        "size": cell.size,
        "elements": cell.elements,
        "fastest": row.fastest,
        "ratio": _rounded(row.ratio),
        "of_limit": _rounded(row.of_roofline),
        "outcomes": {name: _outcome(outcome) for name, outcome in row.outcomes.items()},
    }


def _as_written(outcome: Outcome) -> Outcome:
    if isinstance(outcome, Missing):
        return outcome
    return Measured(outcome.exact, tuple(float(f"{sample:.{_DIGITS}g}") for sample in outcome.samples))


def _outcome(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Missing):
        return {"reason": outcome.reason, "ended": outcome.ended}
    return {
        "exact": outcome.exact,
        "median": _rounded(outcome.median),
        "quartiles": [_rounded(quartile) for quartile in outcome.quartiles],
        "samples": list(outcome.samples),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _report(file: _File) -> Report:
    names = tuple(file.peers)
    _check(len(names) >= 2 and (names[0], names[-1]) == (OURS, ROOFLINE))
    return Report(
        date=file.date,
        machine=file.machine,
        titles={name: one.title for name, one in file.peers.items()},
        versions=file.versions,
        threads=file.threads,
        single=tuple(name for name, one in file.peers.items() if one.single_threaded),
        rounds=file.rounds,
        others=file.others,
        rows=tuple(_row_of(cell, names) for cell in file.cells),
    )


def _row_of(one: _Cell, names: tuple[str, ...]) -> Row:
    _check(one.operator in OPERATORS and one.element_type in TYPES and one.shape in SHAPES)
    _check(tuple(one.outcomes) == names)
    cell = Cell(one.operator, one.element_type, one.shape, one.size)
    return Row(cell, {name: _outcome_of(outcome) for name, outcome in one.outcomes.items()})


def _outcome_of(one: _Outcome) -> Outcome:
    if one.reason is not None:
        return Missing(one.reason, one.ended)
    _check(len(one.samples) >= 2)
    return Measured(one.exact, one.samples)


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError
