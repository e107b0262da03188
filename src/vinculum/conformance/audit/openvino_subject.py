"""An OpenVINO IR of any layers, as OpenVINO itself reads it; it exposes operands and quotients of each Divide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vinculum.conformance.audit.openvino_audit import DivideFacts, ModelFacts, PortFacts
from vinculum.conformance.audit.points import Point, Source, Subject, distinct_name, inside_body
from vinculum.errors import ModelError, SpecLookupError
from vinculum.models.execution import Division
from vinculum.models.openvino_ir.layers import AXIS_OF_OPENVINO
from vinculum.models.values import UNKNOWN, ModelTensor
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ElementType, by_openvino_name
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.text import quoted

_NUMPY = "numpy"


def openvino_subject(file: Path, facts: ModelFacts) -> Subject:
    """Return the model in an IR file.

    Parameters
    ----------
    file : Path
        The XML.
    facts : ModelFacts
        What OpenVINO tells of it.

    Raises
    ------
    ModelError
        If two inputs have one name.
    AttributeValueError
        If an attribute of a Divide is not one of the document's.
    """
    _check_names([port.name for port in facts.inputs])
    inputs = tuple(ModelTensor(port.name, _element_type(port), port.shape) for port in facts.inputs)
    place = len(facts.outputs)
    points: list[Point] = []
    taken: set[tuple[str, str]] = set()
    for divide in facts.divides:
        points.append(_point(divide, place, taken))
        place += 0 if divide.path else len(divide.ports)
    return Subject(file, inputs, facts.outputs, tuple(points), None, facts.inner)


def _check_names(inputs: Sequence[str]) -> None:
    twice = next((name for place, name in enumerate(inputs) if name in inputs[:place]), None)
    if twice is not None:
        raise ModelError(f"two inputs of the model are called {quoted(twice)}; an audit needs names that differ")


def _point(divide: DivideFacts, place: int, taken: set[tuple[str, str]]) -> Point:
    element_type = _element_type(divide.ports[0])
    known = element_type if isinstance(element_type, ElementType) else None
    shapes = tuple(port.shape for port in divide.ports)
    name = distinct_name(divide.name, divide.path, taken)
    division = Division(name, divide.path, DIVIDE_1, known, shapes)
    if divide.path:
        return Point(division, {}, unobserved=inside_body(divide.path))
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
