"""What `print` shows of a model: its inputs, its outputs and its divisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from vinculum.models.execution import Division
from vinculum.models.model import Model
from vinculum.models.values import ModelTensor
from vinculum.reporting.models.run import inner_divisions
from vinculum.reporting.terminal import cell, counted, section, table
from vinculum.text import shape_text


def page(model: Model) -> RenderableType:
    """Return a model as a page."""
    return Group(*_sections(model))


def _sections(model: Model) -> Iterator[RenderableType]:
    yield Text(f"A model with {counted(len(model.divisions), 'division')}", "bold")
    yield from section("Inputs", _tensors(model.inputs))
    yield from section("Outputs", _tensors(model.outputs))
    if model.divisions:
        yield from section("Divisions", _divisions(model.divisions))
    if model.inner_divisions:
        yield from section("Not exact: divisions inside other operators", inner_divisions(model.inner_divisions))


def _tensors(tensors: Sequence[ModelTensor]) -> RenderableType:
    rows = table("Name", "Type", "Shape")
    for one in tensors:
        rows.add_row(*map(cell, (one.name, str(one.element_type), shape_text(one.shape))))
    return rows


def _divisions(divisions: Sequence[Division]) -> RenderableType:
    rows = table("Node", "Operator", "Type", "Operands")
    for one in divisions:
        name = f"{one.name} in {one.path}" if one.path else one.name
        *operands, _ = one.shapes or (None, None)
        known = " / ".join(shape_text(shape) for shape in operands if shape is not None)
        rows.add_row(*map(cell, (name, one.operator, str(one.element_type or "unknown"), known or "unknown")))
    return rows
