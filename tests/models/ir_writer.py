"""Writing layers and edges as an OpenVINO IR: version 11, layers of operation set 1, as OpenVINO itself writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from numpy.typing import NDArray

from vinculum.models.engines.openvino.tensors import openvino_name, packed
from vinculum.models.execution import Shape
from vinculum.models.onnx.rewriter import unique_name
from vinculum.spec.element_types import ElementType

_ALIGNMENT = 64


Port = tuple[str, str]
"""A layer's id and a port's id in it."""


@dataclass(frozen=True)
class TensorType:
    """A value's element type, and its shape as far as it is known."""

    element_type: ElementType | str
    shape: Shape | None


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor: the result of a layer, or a constant."""

    known: TensorType  # Its element type and shape.
    name: str = ""  # Its name; ``""`` for none.
    # Its elements, if they are the same in every run. The layer of a constant is written at its first use.
    array: NDArray[Any] | None = None


@dataclass(eq=False)
class OpenvinoWriter:
    """Collects the layers of an IR file in execution order."""

    _layers: Element = field(default_factory=lambda: Element("layers"))
    _edges: Element = field(default_factory=lambda: Element("edges"))
    _ports: dict[Value, Port] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _data: bytearray = field(default_factory=bytearray)

    def reserve(self, names: Sequence[str]) -> None:
        """Reserve names for layers that are added later."""
        self._names.update(names)

    def parameter(self, name: str, known: TensorType) -> Value:
        """Add an input, whose layer and tensor both have its reserved name, and return it."""
        value = Value(known, name)
        data = {"shape": _declared(known), "element_type": openvino_name(known.element_type)}
        self._layer("Parameter", name, data, (), value)
        return value

    def layer(self, kind: str, name: str, data: Mapping[str, str], inputs: Sequence[Value], result: Value) -> Value:
        """Add a layer and return its result."""
        self._layer(kind, unique_name(name, self._names), data, inputs, result)
        return result

    def result(self, value: Value, name: str) -> None:
        """Make a value an output of the model, with a name."""
        layer = self._layer("Result", unique_name(f"{name}/sink_port_0", self._names), {}, (value,), None)
        layer.set("output_names", _tensor_names(name))

    def xml(self, name: str) -> bytes:
        """Return the content of the ``.xml``, which refers to the bytes of `data`."""
        net = Element("net", name=name, version="11")
        net.extend((self._layers, self._edges))
        indent(net, "\t")
        return bytes(tostring(net, encoding="utf-8", xml_declaration=True)) + b"\n"

    def data(self) -> bytes:
        """Return the content of the ``.bin``."""
        return bytes(self._data)

    def _layer(
        self, kind: str, name: str, data: Mapping[str, str], inputs: Sequence[Value], result: Value | None
    ) -> Element:
        sources = [self._port(value) for value in inputs]
        identity = str(len(self._layers))
        layer = SubElement(self._layers, "layer", id=identity, name=name, type=kind, version="opset1")
        if data:
            SubElement(layer, "data", dict(data))
        if inputs:
            ports = SubElement(layer, "input")
            for number, (value, source) in enumerate(zip(inputs, sources, strict=True)):
                _write_port(ports, number, value.known)
                ends = ("from-layer", "from-port", "to-layer", "to-port")
                numbers = (*source, identity, str(number))
                SubElement(self._edges, "edge", dict(zip(ends, numbers, strict=True)))
        if result is not None:
            port = _write_port(SubElement(layer, "output"), len(inputs), result.known)
            if result.name:
                port.set("names", _tensor_names(result.name))
            self._ports[result] = (identity, str(len(inputs)))
        return layer

    def _port(self, value: Value) -> Port:
        if value not in self._ports and value.array is not None:
            offset, size = self._stored(value.array, value.known.element_type)
            data = {
                "element_type": openvino_name(value.known.element_type),
                "shape": ", ".join(map(str, value.array.shape)),
                "offset": str(offset),
                "size": str(size),
            }
            self._layer("Const", unique_name(value.name or "constant", self._names), data, (), value)
        return self._ports[value]

    def _stored(self, array: NDArray[Any], element_type: ElementType | str) -> tuple[int, int]:
        """Return the offset and the length of the elements in the data."""
        # OpenVINO writes one byte for a constant without elements, and cannot read a file that has none.
        raw = packed(array, element_type) or b"\0"
        self._data.extend(bytes(-len(self._data) % _ALIGNMENT))
        self._data.extend(raw)
        return len(self._data) - len(raw), len(raw)


def _precision(element_type: ElementType | str) -> str:
    name = openvino_name(element_type).upper()
    return {"F16": "FP16", "F32": "FP32", "F64": "FP64", "BOOLEAN": "BOOL"}.get(name, name)


def _declared(known: TensorType) -> str:
    if known.shape is None:
        return "..."
    return ",".join(str(size) if isinstance(size, int) else "?" for size in known.shape)


def _write_port(ports: Element, number: int, known: TensorType) -> Element:
    port = SubElement(ports, "port", id=str(number), precision=_precision(known.element_type))
    for size in known.shape or ():
        SubElement(port, "dim").text = str(size) if isinstance(size, int) else "-1"
    return port


def _tensor_names(name: str) -> str:
    # A comma separates the names of one tensor; a comma inside a name is escaped with a backslash.
    return name.replace(",", "\\,")
