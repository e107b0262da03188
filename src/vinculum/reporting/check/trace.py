"""Page and JSON of ``vinculum trace``: in each engine the first nodes that go wrong, with operands, and the outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import RenderableType, group
from rich.padding import Padding
from rich.text import Text

from vinculum.analysis.domain.formats import FORMATS
from vinculum.analysis.places import alert_frame
from vinculum.analysis.tracing.record import EngineTrace, Event, Kind, Operand, Summary, TraceReport
from vinculum.reporting.check.words import shortened, way
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.models.run import InputReport
from vinculum.reporting.plain import part, plain
from vinculum.reporting.terminal import counted

_INFIX = {"Div": "/", "Mul": "*", "Add": "+", "Sub": "-", "Pow": "**", "Mod": "mod"}
_MADE = {Kind.ZERO_DIVISOR: "divides by zero", Kind.INFINITY: "makes an infinity", Kind.NAN: "makes NaN"}


@group()
def page(report: TraceReport, inputs: Sequence[InputReport] = (), seed: int | None = None) -> Iterator[RenderableType]:
    """Return a trace as a page; the seed is given if inputs were drawn from it."""
    drawn = "" if seed is None else f", inputs drawn from seed {seed}"
    yield Text(f"{short(report.model)}: {counted(report.nodes, 'node')}{drawn}", "bold")
    for one in report.inputs:
        yield Text(f"Input {one_line(repr(one.name))} itself holds {_not_finite(one)}.", "yellow")
    before: EngineTrace | None = None
    for trace in report.traces:
        yield Text("")
        yield Text(f"In {one_line(trace.engine)}", "bold cyan")
        for line in _trace(trace, before):
            yield Padding.indent(line, 2)
        before = trace if not trace.refused else before


def _trace(trace: EngineTrace, before: EngineTrace | None) -> Iterator[RenderableType]:
    if trace.refused:
        how, style = ("It crashed", "red") if trace.died else ("Not run", "")
        yield Text(f"{how}: {one_line(trace.refused)}.", style)
        return
    if before is not None and trace.events and _key(trace) == _key(before):
        yield Text("The same nodes go wrong, at the same elements.")
    else:
        for _, events in groupby(trace.events, key=lambda event: (event.place, event.scope, event.index)):
            yield from _event(list(events))
    if not trace.events:
        yield Text("No node makes NaN or an infinity, and none divides by zero.")
    for effect in trace.effects:
        yield Text(f"Output {one_line(repr(effect.output))}: {effect.value} in {counted(effect.count, 'place')}.")


def _key(trace: EngineTrace) -> list[tuple[object, ...]]:
    return [(event.kind, event.node, event.scope, event.index, event.count) for event in trace.events]


def _not_finite(one: Summary) -> str:
    told = [f"NaN in {counted(one.nan, 'place')}"] if one.nan else []
    return " and ".join(told + ([f"infinities in {counted(one.infinite, 'place')}"] if one.infinite else []))


def _event(events: Sequence[Event]) -> Iterator[RenderableType]:
    """Yield the lines on events of one node at one element."""
    event = events[0]
    line = Text(f"first {' and '.join(one.kind.value for one in events)}", "bold red")
    where = f" in {one_line(event.scope)}" if event.scope else ""
    line.append(f"  {one_line(event.node)} ({one_line(event.operator)}{where})", "bold")
    frame = alert_frame(event.frames)
    yield line if frame is None else line.append(f"  {one_line(frame.file)}:{frame.line}", "cyan")
    operands = [f"{one_line(o.summary.name)}: {_operand(o)}" for o in dict.fromkeys(event.operands)]
    for told in (one_line(frame.code) if frame is not None else "", why(event), *operands):
        if told:
            yield Padding.indent(Text(told), 2)
    if len(event.path) > 1:
        yield Padding.indent(Text(f"Path: {way(shortened(event.path))}"), 2)


def why(event: Event) -> str:
    """Return a sentence on what the node computed at the first element that went wrong."""
    place = "" if event.index is None else f" at {event.index}"
    many = f", in {event.count:,} of {counted(event.size, 'place')}" if event.count else ""
    formula = _formula(event)
    said = f"{formula}{place}" if formula else f"it {_MADE[event.kind]}{place}"
    form = FORMATS.get(event.element_type)
    beyond = ""
    finite = all(operand.value is not None and abs(operand.value) < float("inf") for operand in event.operands)
    by_zero = event.operator in ("Div", "Reciprocal") and event.operands[-1].value == 0
    if event.kind is Kind.INFINITY and formula and finite and form is not None and not by_zero:
        beyond = f"; the largest {event.element_type} is {form.max:.6g}"
    return f"{said}{many}{beyond}."


def _formula(event: Event) -> str:
    values = [operand.value for operand in event.operands]
    if not values or event.result is None or any(value is None for value in values):
        return ""
    texts = [_value(value) for value in values if value is not None]
    if event.operator == "Reciprocal":
        texts = ["1", *texts]
    sign = _INFIX.get("Div" if event.operator == "Reciprocal" else event.operator)
    left = f" {sign} ".join(texts) if sign else f"{one_line(event.operator)}({', '.join(texts)})"
    is_float = event.element_type in FORMATS
    return f"{left} = {_value(event.result)}" if is_float or event.kind is not Kind.ZERO_DIVISOR else left


def _value(value: float) -> str:
    return f"{value:.9g}"


def _operand(operand: Operand) -> str:
    one = operand.summary
    at = "" if operand.index is None or operand.value is None else f"{_value(operand.value)} at {operand.index}; "
    rest = [f"in [{_value(one.low)}, {_value(one.high)}]"] if one.low == one.low else []
    rest += [f"{counted(one.zeros, 'zero')}"] if one.zeros else []
    rest += [f"{one.nan:,} NaN"] if one.nan else []
    rest += [f"{one.infinite:,} infinite"] if one.infinite else []
    return f"{at}{one.element_type} {one.shape} {', '.join(rest)}".rstrip()


def as_json(report: TraceReport, inputs: Sequence[InputReport], seed: int | None) -> dict[str, Any]:
    """Return the same as an object for JSON."""
    return {
        "model": report.model,
        "seed": seed,
        "inputs": [part(one, "name", "element_type", "shape", "source", "file") for one in inputs],
        "inputs_not_finite": [_summary(one) for one in report.inputs],
        "nodes": report.nodes,
        "engines": [
            {
                **part(trace, "engine", "refused", "died"),
                "events": [_event_data(event) for event in trace.events],
                "effects": plain(trace.effects),
            }
            for trace in report.traces
        ],
    }


def _event_data(event: Event) -> dict[str, Any]:
    return {
        **part(event, "kind", "node", "operator", "scope", "value", "index", "result", "count", "size", "element_type"),
        "why": why(event),
        "operands": [{**_summary(one.summary), **part(one, "index", "value")} for one in event.operands],
        **part(event, "path", "frames"),
    }


def _summary(one: Summary) -> dict[str, Any]:
    return part(one, "name", "element_type", "shape", "zeros", "nan", "infinite", "low", "high")
