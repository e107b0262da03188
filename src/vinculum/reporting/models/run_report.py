"""What a run of a model has to tell: its inputs, its outputs, and what each division met."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vinculum.models.execution import Division, DivisionRecord, Shape
from vinculum.models.inner_divisions import InnerDivision
from vinculum.models.observation import DivisionSummary, summarise
from vinculum.reporting.plain import part, plain
from vinculum.spec.element_types import ElementType, by_numpy_name
from vinculum.tensors.storage import element_type_of_dtype

VALUES_SHOWN = 6
_SHAPES_KEPT = 8


@dataclass(frozen=True)
class InputReport:
    """An input, and where it came from.

    - `name`, `element_type`: As the model says.
    - `source`: ``"file"`` or ``"seed"``.
    - `assumed`: The sizes that nobody gave, by symbolic dimension.
    """

    name: str
    element_type: str
    shape: tuple[int, ...]
    source: str
    file: str | None = None
    assumed: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OutputReport:
    """An output, and where it went.

    - `element_type`, `numpy_type`: The array's, as ONNX and as NumPy or ml_dtypes call it.
    - `values`: The first of its elements, as NumPy scalars or strings.
    - `stored_as`: The type of the elements in the file where it is not their own.
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
    """The shapes of one division: of Reciprocal, which has none, the dividend's is None."""

    dividend: Shape | None
    divisor: Shape | None
    quotient: Shape | None


@dataclass(frozen=True)
class DivisionReport:
    """What a division node met in all its executions.

    - `element_type`: None if it was not executed and is not known without.
    - `shapes`: The first few that differ; those known without running if it was not executed.
    - `more_shapes`: Whether there were others.
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
    """What a run has to tell.

    - `seconds`: How long the run took, the loading of libraries and kernels included.
    - `engine`: What ran all nodes but the divisions.
    - `inner_divisions`: The nodes that divide inside, which the engine ran.
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
    """An observer of `Model.run` that adds up what every division node meets."""

    def __init__(self, divisions: Iterable[Division]) -> None:
        self._nodes = {(division.path, division.name): DivisionReport.of(division) for division in divisions}
        self.nodes_executed = 0
        self.executions = 0

    def __call__(self, record: DivisionRecord) -> None:
        """Add one execution of a division."""
        division = record.division
        place = division.path, division.name
        # Functions that define an operator hold divisions that no node of the model is.
        before = self._nodes.get(place) or DivisionReport.of(division)
        self._nodes[place] = before.after(record)
        self.nodes_executed += before.summary.executions == 0
        self.executions += 1

    def reports(self) -> tuple[DivisionReport, ...]:
        """Return what has been added up, in the model's order."""
        return tuple(self._nodes.values())


def output_report(
    name: str, array: NDArray[Any], file: Path | str | None = None, stored_as: str | None = None
) -> OutputReport:
    """Return what is to be told of an output: its first few elements stand for all."""
    values = tuple(array.flat[index] for index in range(min(array.size, VALUES_SHOWN)))
    # Of the model's outputs only strings are objects.
    known = "string" if array.dtype == object else element_type_of_dtype(array.dtype) or array.dtype.name
    return OutputReport(
        name, str(known), array.dtype.name, array.shape, values, None if file is None else str(file), stored_as
    )


def as_json(report: RunReport) -> dict[str, Any]:
    """Return a report as one object of plain JSON: not finite numbers are strings."""
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
