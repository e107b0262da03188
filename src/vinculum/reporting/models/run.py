"""The report of a run of a model, as a page and as JSON: inputs, outputs, and the operands of each division."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.text import Text

from vinculum.models.execution import Division, DivisionRecord
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.model import Model
from vinculum.models.observation import DivisionSummary, summarise
from vinculum.models.values import ModelTensor
from vinculum.reporting.escape import one_line, short
from vinculum.reporting.plain import part, plain
from vinculum.reporting.terminal import ByWidth, cell, cells, counted, named, section, some, table
from vinculum.spec.element_types import ElementType, by_numpy_name
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.storage import element_type_of_dtype
from vinculum.text import shape_text

_VALUES_SHOWN = 6
_SHAPES_KEPT = 8
_COUNTED = ("By zero", "Inf", "NaN", "Subnormal", "Time")
_ROOM_FOR_COUNTS = 60  # Columns; the counts take about forty.
_SHAPES_SHOWN = 2
_NAMES_SHOWN = 3


@dataclass(frozen=True)
class InputReport:
    """An input and its source.

    - `name`, `element_type`: As in the model.
    - `source`: ``"file"`` or ``"seed"``.
    - `assumed`: The sizes of symbolic dimensions that were not given, by name.
    """

    name: str
    element_type: str
    shape: tuple[int, ...]
    source: str
    file: str | None = None
    assumed: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OutputReport:
    """An output and its file.

    - `element_type`, `numpy_type`: The element type as ONNX, and as NumPy or ml_dtypes name it.
    - `values`: The first of its elements, as NumPy scalars or strings.
    - `stored_as`: The element type in the file if it differs.
    """

    name: str
    element_type: str
    numpy_type: str
    shape: tuple[int, ...]
    values: tuple[Any, ...]
    file: str | None = None
    stored_as: str | None = None


@dataclass(frozen=True)
class Operands:
    """The shapes of one division; Reciprocal has no dividend."""

    dividend: SymbolicShape | None
    divisor: SymbolicShape | None
    quotient: SymbolicShape | None


@dataclass(frozen=True)
class DivisionReport:
    """The operands of a division node in all its executions.

    - `element_type`: None if it is not known.
    - `shapes`: The first few different ones; those that the model declares if the node was not executed.
    - `more_shapes`: Whether there were more.
    """

    division: Division
    element_type: ElementType | None
    shapes: tuple[Operands, ...] = ()
    more_shapes: bool = False
    summary: DivisionSummary = field(default_factory=DivisionSummary)

    @classmethod
    def of(cls, division: Division) -> DivisionReport:
        """Return the report on a division that has not been executed."""
        shapes = () if division.shapes is None else (Operands(*(None, *division.shapes)[-3:]),)
        return cls(division, division.element_type, shapes)

    def after(self, record: DivisionRecord) -> DivisionReport:
        """Return the report after one more execution."""
        dividend = None if record.dividend is None else record.dividend.shape
        new = Operands(dividend, record.divisor.shape, record.quotient.shape)
        shapes = self.shapes if self.summary.executions else ()
        added = () if new in shapes else (new,)
        return replace(
            self,
            element_type=by_numpy_name(record.quotient.dtype.name),
            shapes=(*shapes, *added)[:_SHAPES_KEPT],
            more_shapes=self.more_shapes or len(shapes) + len(added) > _SHAPES_KEPT,
            summary=self.summary + summarise(record),
        )


@dataclass(frozen=True)
class RunReport:
    """The report of a run.

    - `seconds`: The duration of the run, with the loading of libraries and kernels.
    - `engine`: The engine that ran all nodes but the divisions.
    - `inner_divisions`: The nodes that divide inside, such as Softmax, which the engine ran.
    """

    model: str
    seed: int | None
    zero_divisor: str
    overflow: str
    seconds: float
    inputs: tuple[InputReport, ...]
    outputs: tuple[OutputReport, ...]
    divisions: tuple[DivisionReport, ...]
    engine: str = "reference"
    inner_divisions: tuple[InnerDivision, ...] = ()


class Observations:
    """An observer of `Model.run` that counts for every division node."""

    def __init__(self, divisions: Iterable[Division]) -> None:
        self._nodes = {(division.path, division.name): DivisionReport.of(division) for division in divisions}
        self.nodes_executed = 0
        self.executions = 0

    def __call__(self, record: DivisionRecord) -> None:
        """Add one execution of a division."""
        division = record.division
        place = division.path, division.name
        # Functions that define operators have divisions that are not nodes of the model.
        before = self._nodes.get(place) or DivisionReport.of(division)
        self._nodes[place] = before.after(record)
        self.nodes_executed += before.summary.executions == 0
        self.executions += 1

    def reports(self) -> tuple[DivisionReport, ...]:
        """Return the reports on all divisions, in the model's order."""
        return tuple(self._nodes.values())


def output_report(
    name: str, array: NDArray[Any], file: Path | str | None = None, stored_as: str | None = None
) -> OutputReport:
    """Return the report on an output, with its first few elements."""
    values = tuple(array.flat[index] for index in range(min(array.size, _VALUES_SHOWN)))
    # Outputs of objects are strings.
    known = "string" if array.dtype == object else element_type_of_dtype(array.dtype) or array.dtype.name
    return OutputReport(
        name, str(known), array.dtype.name, array.shape, values, None if file is None else str(file), stored_as
    )


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
    """Return the table of a model's inputs."""
    rows = (cells(one.name, one.element_type, shape_text(one.shape), _source(one, seed)) for one in inputs)
    return table(("Name", "Type", "Shape", "From"), rows)


def inner_divisions(nodes: Sequence[InnerDivision]) -> RenderableType:
    """Return a line for each operator that divides inside: the divisor, and the names of its nodes."""
    groups: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        groups.setdefault((node.operator, node.divides), []).append(node.name)
    return Text("\n").join(
        Text(one_line(f"{operator}, {divides}: {some(names, _NAMES_SHOWN)}"))
        for (operator, divides), names in groups.items()
    )


def _source(given: InputReport, seed: int | None) -> str:
    if given.file is not None:
        return given.file
    assumed = ", ".join(f"{name} = {size}" for name, size in given.assumed.items())
    return f"drawn from seed {seed}" + (f"; assumed {assumed}" if assumed else "")


def _outputs(outputs: Sequence[OutputReport]) -> RenderableType:
    rows = [(*cells(one.name, one.element_type, shape_text(one.shape), _values(one)), _file(one)) for one in outputs]
    shown = 5 if any(one.file for one in outputs) else 4
    return table(("Name", "Type", "Shape", "Values", "File")[:shown], (row[:shown] for row in rows))


def _file(output: OutputReport) -> RenderableType:
    if output.stored_as is None:
        return cell(output.file or "")
    view = f"as {output.stored_as}: read it with .view(ml_dtypes.{output.numpy_type})"
    return Group(cell(output.file or ""), Text(view, "dim"))


def _values(output: OutputReport) -> str:
    shown = "  ".join(repr(v) if isinstance(v, str | bytes) else str(v) for v in output.values)
    left_out = prod(output.shape) > _VALUES_SHOWN
    return f"{shown}  ..." if left_out else shown or "empty"


def _divisions(divisions: Sequence[DivisionReport]) -> RenderableType:
    if not divisions:
        return Text("none in this model")
    rows = table(("Node",), ((_node(one), *_counts(one.summary)) for one in divisions), right=_COUNTED)
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
    """Return the name of a division, and below it its operands, operator and number of quotients."""
    division = report.division
    count = len(division.spec.inputs)
    lines = [operands_text((one.dividend, one.divisor)[-count:]) for one in report.shapes[:_SHAPES_SHOWN]]
    if report.more_shapes or len(report.shapes) > _SHAPES_SHOWN:
        lines.append("and other shapes")
    facts = (*([str(report.element_type)] if report.element_type else ()), _runs(report.summary))
    return named(division.name, division.operator, division.path, *facts, above=lines)


def _runs(summary: DivisionSummary) -> str:
    if summary.executions == 0:
        return "not executed"
    quotients = counted(summary.elements, "quotient")
    return quotients if summary.executions == 1 else f"{quotients} in {summary.executions:,} runs"


def operands_text(shapes: Sequence[SymbolicShape | None]) -> str:
    """Return the shapes of the operands of a division: ``"(2, 3) / (3,)"``, or ``"1 / (3,)"`` of a reciprocal."""
    return " / ".join([*(["1"] if len(shapes) == 1 else []), *map(shape_text, shapes)])


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
    return Text(" ".join(sentences))


def seconds_text(seconds: float) -> str:
    """Return a time in milliseconds, or in seconds from ten on, to three digits or so."""
    if seconds >= 10:
        return f"{seconds:.1f} s"
    milliseconds = 1000 * seconds
    digits = 3 if milliseconds < 1 else 2 if milliseconds < 10 else 1 if milliseconds < 100 else 0
    return f"{milliseconds:.{digits}f} ms"


def as_json(report: RunReport) -> dict[str, Any]:
    """Return a report as an object for JSON, in which infinities and NaN are strings."""
    outputs = [{**plain(one), "values": [_plain(value) for value in one.values]} for one in report.outputs]
    divisions = [
        {
            **part(one.division, "name", "path", "operator"),
            **part(one, "element_type", "shapes", "more_shapes"),
            **plain(one.summary),
        }
        for one in report.divisions
    ]
    return {
        **part(report, "model", "seed", "zero_divisor", "overflow", "seconds", "inputs"),
        "outputs": outputs,
        "divisions": divisions,
        **part(report, "engine", "inner_divisions"),
    }


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, complex):
        return [_plain(plain.real), _plain(plain.imag)]
    if isinstance(plain, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(plain), plain)
    return plain if isinstance(plain, int | str) else str(plain)


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
    rows = (cells(one.name, str(one.element_type), shape_text(one.shape)) for one in tensors)
    return table(("Name", "Type", "Shape"), rows)


def _known_divisions(divisions: Sequence[Division]) -> RenderableType:
    rows = (
        cells(
            f"{one.name} in {one.path}" if one.path else one.name,
            one.operator,
            str(one.element_type or "unknown"),
            "unknown" if one.shapes is None else operands_text(one.shapes[:-1]),
        )
        for one in divisions
    )
    return table(("Node", "Operator", "Type", "Operands"), rows)
