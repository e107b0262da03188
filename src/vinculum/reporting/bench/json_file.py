"""The JSON of ``vinculum bench``: everything that a run has found, and back.

One object::

    {"format": "vinculum bench 1",
     "date": "2026-01-31", "threads": 2, "rounds": 5,       # how it was measured
     "others": 0.01,                                        # the part of the processors that other processes took
     "machine": {"processor": "...", ...},                  # words by what they are about
     "peers": {"vinculum": {"title": "Vinculum", "single_threaded": false}, ..., "limit": {...}},
     "versions": {"numpy": "2.4.6", ...},                   # by the distributions' names
     "cells": [{"operator": "Div", "element_type": "int8", "shape": "equal", "size": 16, "elements": 16,
                "fastest": "numpy",                         # the fastest exact peer, or null
                "ratio": 1.2, "of_limit": 1.1,              # as the tables have them, or null
                "outcomes": {"vinculum": {"exact": true, "median": 0.4, "quartiles": [0.39, 0.42],
                                          "samples": [...]},   # nanoseconds an element
                             "openvino": {"reason": "died of SIGFPE", "ended": true}, ...}},
               ...]}

What can be computed from the samples is written for whoever reads it, and computed again when we read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

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
        return _report(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
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


def _report(data: Mapping[str, Any]) -> Report:
    _check(data["format"] == _FORMAT)
    peers: dict[str, Any] = data["peers"]
    names = tuple(peers)
    _check(len(names) >= 2 and (names[0], names[-1]) == (OURS, ROOFLINE))
    rows = tuple(_row_of(row, names) for row in data["cells"])
    _check(bool(rows))
    return Report(
        date=_text(data["date"]),
        machine=_texts(data["machine"]),
        titles={name: _text(one["title"]) for name, one in peers.items()},
        versions=_texts(data["versions"]),
        threads=_count(data["threads"]),
        single=tuple(name for name, one in peers.items() if one["single_threaded"] is True),
        rounds=_count(data["rounds"]),
        others=_part(data["others"]),
        rows=rows,
    )


def _row_of(data: Mapping[str, Any], names: tuple[str, ...]) -> Row:
    cell = Cell(data["operator"], data["element_type"], data["shape"], _count(data["size"]))
    _check(cell.operator in OPERATORS and cell.element_type in TYPES and cell.shape in SHAPES)
    _check(tuple(data["outcomes"]) == names)
    return Row(cell, {name: _outcome_of(outcome) for name, outcome in data["outcomes"].items()})


def _outcome_of(data: Mapping[str, Any]) -> Outcome:
    if "reason" in data:
        return Missing(_text(data["reason"]), data["ended"] is True)
    samples = tuple(map(float, data["samples"]))
    _check(len(samples) >= 2 and all(isfinite(sample) and sample > 0 for sample in samples))
    return Measured(data["exact"] is True, samples)


def _texts(data: Mapping[str, Any]) -> dict[str, str]:
    return {_text(name): _text(words) for name, words in data.items()}


def _text(value: object) -> str:
    _check(isinstance(value, str) and bool(value))
    return str(value)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(value)
    return value


def _part(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise ValueError(value)
    return float(value)


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError
