"""An OpenVINO IR with any layers, read by OpenVINO itself, with operands and quotient of each Divide exposed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vinculum.conformance.audit.taps import AuditedModel, Source, Tap, distinct_name, inside_body
from vinculum.conformance.runtimes.openvino import OpenVino, places
from vinculum.errors import ModelError
from vinculum.models.engines.openvino.reading import attributes_of, element_type_of, nodes_of, shape_of
from vinculum.models.engines.openvino.tensors import to_array
from vinculum.models.execution import Division
from vinculum.models.inner_divisions import InnerDivision, what_openvino_divides
from vinculum.models.values import ModelTensor
from vinculum.spec.element_types import ElementType
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.text import quoted


class OpenVinoAudit(OpenVino):
    """Finds the divisions of an IR model and runs it with them exposed; used in a subprocess only."""

    def subject(self, file: Path) -> AuditedModel:
        """Return the model in an IR file.

        ModelError if two inputs have the same name. AttributeValueError if an attribute of a Divide is not in the
        document.
        """
        model = self.read(str(file))
        names = [port.get_node().get_friendly_name() for port in model.inputs]
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise ModelError(f"two inputs of the model are called {quoted(twice)}; an audit needs names that differ")
        types = map(element_type_of, model.inputs)
        inputs = tuple(map(ModelTensor, names, types, map(shape_of, model.inputs)))
        outputs = tuple(_output_name(port) for port in model.outputs)
        place, taken = len(outputs), set[tuple[str, str]]()
        taps: list[Tap] = []
        inner: list[InnerDivision] = []
        for path, node in nodes_of(model):
            kind = node.get_type_name()
            divides = what_openvino_divides(kind)
            if kind == "Divide":
                taps.append(_tap(node, path, place, taken))
                place += len(taps[-1].sources)
            elif divides is not None:
                inner.append(InnerDivision(node.get_friendly_name(), path, kind, divides))
        return AuditedModel(file, inputs, outputs, tuple(taps), None, tuple(inner))

    def run_exposed(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of a model, followed by operands and quotient of each Divide outside bodies."""
        from openvino import opset1

        model = self.read(str(file))
        given = places(model, inputs)
        for node in model.get_ordered_ops():
            if node.get_type_name() == "Divide":
                model.add_results([opset1.result(port) for port in _ports(node)])
        return self.run(model, given)


def _ports(divide: Any) -> list[Any]:
    return [*(divide.input_value(place) for place in range(2)), divide.output(0)]


def _tap(divide: Any, path: str, place: int, taken: set[tuple[str, str]]) -> Tap:
    ports = _ports(divide)
    element_type = element_type_of(ports[0])
    known = element_type if isinstance(element_type, ElementType) else None
    name = distinct_name(divide.get_friendly_name(), path, taken)
    division = Division(name, path, DIVIDE_1, known, tuple(map(shape_of, ports)))
    if path:
        return Tap(division, {}, unobserved=inside_body(path))
    sources = tuple(_source(port.get_node(), place + offset) for offset, port in enumerate(ports[:2]))
    quotient = Source(place=place + len(sources))
    return Tap(division, attributes_of(divide), (*sources, quotient), sources[1].input)


def _source(producer: Any, place: int) -> Source:
    kind = producer.get_type_name()
    if kind == "Constant":
        return Source(constant=to_array(producer))
    return Source(producer.get_friendly_name()) if kind == "Parameter" else Source(place=place)


def _output_name(port: Any) -> str:
    return min(port.get_names(), default="") or str(port.get_node().input_value(0).get_node().get_friendly_name())
