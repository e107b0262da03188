"""The page of ``vinculum fingerprint``: a run by element types, deviations first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.console import Group, RenderableType, group
from rich.table import Table
from rich.text import Text

from vinculum.conformance.run.record import Example, Kind, Run
from vinculum.reporting.conformance.view import Finding, View, example_sentence, in_order, view
from vinculum.reporting.escape import escaped, short
from vinculum.reporting.plain import part
from vinculum.reporting.terminal import counted
from vinculum.spec.element_types import by_name

_MARK = "!"
_NAMED = 8
_RUN_TIME = "run-time operand"


@dataclass(frozen=True)
class Line:
    """A statement about some element types.

    - `deviates`: Whether it is a deviation from the specification.
    - `example`: A wrong quotient, if it deviates.
    """

    element_types: tuple[str, ...]
    statement: str
    deviates: bool = False
    example: Example | None = None


def lines(one: View) -> Iterator[Line]:
    """Yield the findings of a run, then the element types that are divided as specified."""
    for finding in one.findings:
        types = in_order(result.id.element_type for result in finding.results)
        yield Line(types, finding.statement + _where(finding, one), True, finding.shown.verdict.example)
    yield from _as_specified(one)


def _where(finding: Finding, one: View) -> str:
    """Return which operands are constants, if an arithmetic explains only cases with such operands."""
    types = {result.id.element_type for result in finding.results}
    own = dict.fromkeys(result.id.placement for result in finding.results)
    there = {result.id.placement for result in one.results if result.id.element_type in types}
    at_run_time = any(placement.startswith(_RUN_TIME) for placement in own)
    tells = finding.name.startswith("arithmetic: ") and len(own) < len(there) and (not at_run_time or len(own) == 1)
    return f" (with {', '.join(own)})" if tells else ""


def _as_specified(one: View) -> Iterator[Line]:
    """Yield the element types without wrong quotients, and the quotients that are unspecified."""
    found: dict[str, Line] = {}
    for name in one.element_types:
        own = [result.verdict for result in one.results if result.id.element_type == name]
        kinds, told = {verdict.kind for verdict in own} - {Kind.REFUSED_AS_REQUIRED}, list[str]()
        if kinds == {Kind.UNSUPPORTED}:
            told.append("not supported")
        elif kinds and not any(kind.deviates for kind in kinds):
            told.append("correctly rounded" if by_name(name).binary_format else "exact")
        for gave in (gave for verdict in own for gave in verdict.unspecified if gave.dividend in ("x", "MIN")):
            told.append(f"{gave.quotients} gives {gave.quotient}" + (f" for {gave.where}" if gave.where else ""))
        for statement in dict.fromkeys(told):
            earlier = found.get(statement, Line((), statement))
            found[statement] = replace(earlier, element_types=(*earlier.element_types, name))
    yield from found.values()


@group()
def page(run: Run, *, verbose: bool = False) -> Iterator[RenderableType]:
    """Return the page of a run; a verbose one has an example of each deviation."""
    one = view(run)
    yield Text(escaped(f"{one.run.title} ({one.version})" if one.version else one.run.title), "bold")
    yield Text("")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(max_width=26)
    table.add_column(overflow="fold")
    told = list(lines(one))
    for line in told:
        mark = Text(_MARK if line.deviates else "", "bold red")
        types = line.element_types
        about = short(", ".join(types)) if len(types) <= _NAMED else f"{len(types)} element types"
        table.add_row(mark, Text(about, "bold"), _told(line, verbose))
    yield table
    yield Text("")
    deviating = sum(line.deviates for line in told)
    result = f"{counted(deviating, 'line')} marked {_MARK}: not as specified." if deviating else "Nothing deviates."
    yield Text(f"{result} By {counted(one.total, 'case')} of conform, in {one.run.seconds:.1f} seconds.")
    yield Text("")


def as_json(run: Run) -> dict[str, Any]:
    """Return the same for JSON."""
    told = {"lines": [asdict(line) for line in lines(view(run))], "cases": len(run.results)}
    return {**part(run, "backend", "title", "versions"), **told, "seconds": round(run.seconds, 3)}


def _told(line: Line, verbose: bool) -> RenderableType:
    words = Text(escaped(line.statement), "yellow" if line.deviates else "")
    if not (verbose and line.example):
        return words
    return Group(words, Text(short(example_sentence(line.example)), "dim"))
