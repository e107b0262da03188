"""A run for people: three tables, and a line of what to look at; and a model before any run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.text import Text

from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.model import Model
from vinculum.models.observation import DivisionSummary
from vinculum.models.values import ModelTensor
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.models.run_report import (
    VALUES_SHOWN,
    DivisionReport,
    InputReport,
    Operands,
    OutputReport,
    RunReport,
)
from vinculum.reporting.terminal import ByWidth, Sentences, cell, counted, named, section, table
from vinculum.text import shape_text

_COUNTED = ("By zero", "Inf", "NaN", "Subnormal", "Time")
_ROOM_FOR_COUNTS = 60  # columns, of which the counts take some forty
_SHAPES_SHOWN = 2
_NAMES_SHOWN = 3


@group()
def page(report: RunReport) -> Iterator[RenderableType]:
    """Return a report as a page: inputs, outputs, divisions."""
    yield Text(short(report.model), "bold")
    if report.inputs:
        yield from section("Inputs", inputs_table(report.inputs, report.seed))
    yield from section("Outputs", _outputs(report.outputs))
    yield from section("Divisions", _divisions(report.divisions))
    if report.inner_divisions:
        yield from section("Not exact: divisions inside other operators", inner_divisions(report.inner_divisions))
    yield Text("")
    yield _verdict(report)


def inputs_table(inputs: Sequence[InputReport], seed: int | None) -> RenderableType:
    """Return the table of what a model was given."""
    rows = table("Name", "Type", "Shape", "From")
    for given in inputs:
        rows.add_row(*map(cell, (given.name, given.element_type, shape_text(given.shape), _source(given, seed))))
    return rows


def inner_divisions(nodes: Sequence[InnerDivision]) -> RenderableType:
    """Return a line for each operator that divides inside: how many nodes, what they divide, and which they are."""
    groups: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        groups.setdefault((node.operator, node.divides), []).append(node.name)
    lines = Text("\n")
    return lines.join(
        Text(one_line(f"{operator}, {divides}: {_some(names)}")) for (operator, divides), names in groups.items()
    )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return f"{shown} and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else shown


def _source(given: InputReport, seed: int | None) -> str:
    if given.file is not None:
        return given.file
    assumed = ", ".join(f"{name} = {size}" for name, size in given.assumed.items())
    return f"drawn from seed {seed}" + (f"; assumed {assumed}" if assumed else "")


def _outputs(outputs: Sequence[OutputReport]) -> RenderableType:
    written = any(output.file for output in outputs)
    rows = table("Name", "Type", "Shape", "Values", *(["File"] if written else []))
    for output in outputs:
        cells = [output.name, output.element_type, shape_text(output.shape), _values(output)]
        rows.add_row(*map(cell, cells), *([_file(output)] if written else []))
    return rows


def _file(output: OutputReport) -> RenderableType:
    if output.stored_as is None:
        return cell(output.file or "")
    view = f"as {output.stored_as}: read it with .view(ml_dtypes.{output.numpy_type})"
    return Group(cell(output.file or ""), Text(view, "dim"))


def _values(output: OutputReport) -> str:
    shown = "  ".join(repr(v) if isinstance(v, str | bytes) else str(v) for v in output.values)
    left_out = prod(output.shape) > VALUES_SHOWN
    return f"{shown}  ..." if left_out else shown or "empty"


def _divisions(divisions: Sequence[DivisionReport]) -> RenderableType:
    if not divisions:
        return Text("none in this model")
    rows = table("Node", right=_COUNTED)
    for division in divisions:
        rows.add_row(_node(division), *_counts(division.summary))
    if len(divisions) > 1:
        rows.show_footer = True
        totals = (Text("Total"), *_counts(_total(divisions)))
        for column, sum_of_column in zip(rows.columns, totals, strict=True):
            column.footer = sum_of_column
    return ByWidth(_ROOM_FOR_COUNTS, rows, Group(*map(_beneath_each_other, divisions)))


def _total(divisions: Sequence[DivisionReport]) -> DivisionSummary:
    return sum((division.summary for division in divisions), start=DivisionSummary())


def _beneath_each_other(division: DivisionReport) -> RenderableType:
    counts = Text(", ").join(
        Text.assemble((f"{heading} ", "dim"), count)
        for heading, count in zip(_COUNTED, _counts(division.summary), strict=True)
    )
    return Group(_node(division), Padding.indent(counts, 2))


def _node(report: DivisionReport) -> RenderableType:
    """Return a division's name, and below it what was divided, how and how often."""
    division = report.division
    lines = [_operands(operands, len(division.spec.inputs) == 1) for operands in report.shapes[:_SHAPES_SHOWN]]
    if report.more_shapes or len(report.shapes) > _SHAPES_SHOWN:
        lines.append("and other shapes")
    facts = [f"{division.operator} in {division.path}" if division.path else division.operator]
    facts += [] if report.element_type is None else [str(report.element_type)]
    lines.append(", ".join((*facts, _runs(report.summary))))
    return named(division.name, lines)


def _runs(summary: DivisionSummary) -> str:
    if summary.executions == 0:
        return "not executed"
    quotients = counted(summary.elements, "quotient")
    return quotients if summary.executions == 1 else f"{quotients} in {summary.executions:,} runs"


def _operands(operands: Operands, unary: bool) -> str:
    dividend = "1" if unary else shape_text(operands.dividend)
    return f"{dividend} / {shape_text(operands.divisor)}"


def _counts(summary: DivisionSummary) -> Iterator[Text]:
    if summary.executions == 0:
        yield from (Text("-", "dim") for _ in range(5))
        return
    for count in (summary.zero_divisors, summary.infinite, summary.nan, summary.subnormal):
        yield Text(f"{count:,}", "bold yellow" if count else "dim")
    yield Text(seconds_text(summary.seconds))


def _verdict(report: RunReport) -> RenderableType:
    quotients = _total(report.divisions).elements
    sentences = ["Nothing was divided."]
    if quotients:
        sentences = [f"{counted(quotients, 'quotient')}, {'each ' * (quotients > 1)}right to the last bit."]
    replaced = sum(d.summary.zero_divisors for d in report.divisions if d.element_type and d.element_type.is_integer)
    if replaced:
        sentences.append(f"{counted(replaced, 'integer quotient')} x/0 by --zero-divisor {report.zero_divisor}.")
    if report.engine == "onnxruntime":
        sentences.append("ONNX Runtime ran the other operators.")
    sentences.append(f"The run took {seconds_text(report.seconds)}, loading included.")
    return Sentences(" ".join(sentences))


def seconds_text(seconds: float) -> str:
    """Return a time in milliseconds, or in seconds from ten on, to three digits or so."""
    if seconds >= 10:
        return f"{seconds:.1f} s"
    milliseconds = 1000 * seconds
    digits = 3 if milliseconds < 1 else 2 if milliseconds < 10 else 1 if milliseconds < 100 else 0
    return f"{milliseconds:.{digits}f} ms"


@group()
def model_page(model: Model) -> Iterator[RenderableType]:
    """Return a model as a page: its inputs, its outputs and its divisions, as `print` shows it."""
    yield Text(f"A model with {counted(len(model.divisions), 'division')}", "bold")
    yield from section("Inputs", _tensors(model.inputs))
    yield from section("Outputs", _tensors(model.outputs))
    if model.divisions:
        yield from section("Divisions", _known_divisions(model.divisions))
    if model.inner_divisions:
        yield from section("Not exact: divisions inside other operators", inner_divisions(model.inner_divisions))


def _tensors(tensors: Sequence[ModelTensor]) -> RenderableType:
    rows = table("Name", "Type", "Shape")
    for one in tensors:
        rows.add_row(*map(cell, (one.name, str(one.element_type), shape_text(one.shape))))
    return rows


def _known_divisions(divisions: Sequence[Division]) -> RenderableType:
    rows = table("Node", "Operator", "Type", "Operands")
    for one in divisions:
        name = f"{one.name} in {one.path}" if one.path else one.name
        *operands, _ = one.shapes or (None, None)
        known = " / ".join(shape_text(shape) for shape in operands if shape is not None)
        rows.add_row(*map(cell, (name, one.operator, str(one.element_type or "unknown"), known or "unknown")))
    return rows
