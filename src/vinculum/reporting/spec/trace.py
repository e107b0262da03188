"""What the clauses of a row rest on, for readers and for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vinculum.spec.model import Clause, OperatorSpec
from vinculum.spec.traceability import ClauseTrace, Theorem, trace


def trace_page(row: OperatorSpec) -> RenderableType:
    """Return a page: where the row stands, and each clause with its theorems, functions and tests."""
    traced = trace(row)
    heading = Text(f"{row.title}\n{'=' * len(row.title)}", "bold")
    place = Text(f"{row.source.document}\n{traced.constant} in {traced.file}", overflow="fold")
    blocks = [
        block
        for clause, found in zip(row.clauses, traced.clauses, strict=True)
        for block in (Text(""), Text(clause.tag, "bold"), Padding.indent(_clause(clause, found), 4))
    ]
    return Group(heading, Padding.indent(place, 2), *blocks)


def trace_as_json(row: OperatorSpec) -> dict[str, Any]:
    """Return the same as one JSON object, with the statement and the basis of each clause."""
    traced = trace(row)
    clauses = [{**asdict(c), **asdict(t)} for c, t in zip(row.clauses, traced.clauses, strict=True)]
    return {**asdict(traced), "source": asdict(row.source), "clauses": clauses}


def _clause(clause: Clause, found: ClauseTrace) -> RenderableType:
    """Return the statement and below it what it rests on, one name a line: of 80 columns a name may take 73."""
    sections: dict[str, list[RenderableType]] = {
        "theorems": list(_theorems(found)),
        "functions": [_lines(found.functions)],
        "tests": list(_tests(found.tests)),
        "tests of this clause, in no row in particular": list(_tests(found.shared_tests)),
    }
    blocks = [(Text(title, "cyan"), Padding.indent(Group(*lines), 2)) for title, lines in sections.items() if lines]
    return Group(Text(clause.statement), *(part for block in blocks for part in block))


def _theorems(found: ClauseTrace) -> Iterator[RenderableType]:
    if found.no_theorem_because is not None:
        yield Text(f"none: {found.no_theorem_because}")
    for theorem in found.theorems:
        yield Text(theorem.name, overflow="fold")
        yield Padding.indent(Text(_proof(theorem), "dim"), 2)


def _proof(theorem: Theorem) -> str:
    provers = ", ".join(theorem.provers)
    return provers if theorem.seconds is None else f"{provers}; {theorem.seconds} s"


def _tests(tests: Sequence[str]) -> Iterator[RenderableType]:
    """Yield each file, below it its tests: pytest takes file::test."""
    for file, named in groupby(tests, lambda test: test.partition("::")[0]):
        yield Text(file, overflow="fold")
        yield Padding.indent(_lines([test.partition("::")[2] for test in named]), 2)


def _lines(lines: Sequence[str]) -> Text:
    return Text("\n".join(lines), overflow="fold")
