"""An OpenVINO IR of any layers, as OpenVINO itself reads it; it exposes operands and quotients of each Divide."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path

from vinculum.conformance.audit.openvino_audit import DivideFacts, ModelFacts, PortFacts
from vinculum.conformance.audit.points import Point, Source, Subject, inside
from vinculum.errors import SpecLookupError, VinculumError
from vinculum.models.execution import Division
from vinculum.models.inputs import UNKNOWN, ModelTensor
from vinculum.models.model import Model
from vinculum.models.openvino_layers import AXIS_OF_OPENVINO
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ElementType, by_openvino_name
from vinculum.spec.openvino_divide import DIVIDE_1

_NUMPY = "numpy"


def openvino_subject(file: Path, facts: ModelFacts) -> Subject:
    """Return the model in an IR file.

    Parameters
    ----------
    file : Path
        The XML.
    facts : ModelFacts
        What OpenVINO tells of it.
    """
    inputs = tuple(ModelTensor(port.name, _element_type(port), port.shape) for port in facts.inputs)
    place = len(facts.outputs)
    points: list[Point] = []
    taken: set[tuple[str, str]] = set()
    for divide in facts.divides:
        points.append(_point(divide, place, taken))
        place += 0 if divide.path else len(divide.ports)
    return Subject(file, inputs, facts.outputs, tuple(points), None, partial(_our_model, file))


def _point(divide: DivideFacts, place: int, taken: set[tuple[str, str]]) -> Point:
    name, number = divide.name, 1
    while (divide.path, name) in taken:
        number += 1
        name = f"{divide.name} ({number})"
    taken.add((divide.path, name))
    element_type = _element_type(divide.ports[0])
    known = element_type if isinstance(element_type, ElementType) else None
    shapes = tuple(port.shape for port in divide.ports)
    division = Division(name, divide.path, DIVIDE_1, known, shapes)
    if divide.path:
        return Point(division, {}, unobserved=inside(divide.path))
    attributes = {"axis" if given == AXIS_OF_OPENVINO else given: value for given, value in divide.attributes.items()}
    if attributes.get("auto_broadcast", _NUMPY) == _NUMPY:
        attributes.pop("axis", None)
    sources = [
        Source(parameter, constant, None if parameter or constant is not None else place + offset)
        for offset, (parameter, constant) in enumerate(zip(divide.parameters, divide.constants, strict=True))
    ]
    quotient = Source(place=place + len(sources))
    return Point(division, checked_attributes(DIVIDE_1, attributes), (*sources, quotient))


def _element_type(port: PortFacts) -> ElementType | str:
    try:
        return by_openvino_name(port.element_type)
    except SpecLookupError:
        return "bool" if port.element_type == "boolean" else UNKNOWN


def _our_model(file: Path) -> Model | None:
    """Return the model as our engine reads it, None if it holds layers that it does not run."""
    from vinculum.models import load

    with contextlib.suppress(VinculumError):
        return load(file)
    return None
