"""The XML of an OpenVINO IR file: its layers, ports and edges, validated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from vinculum.errors import ModelError
from vinculum.models.declared_data import check_size
from vinculum.text import listed, one_line, quoted

_VERSIONS = ("10", "11")
_NUMBER = re.compile(r"-?[0-9]{1,19}")

# The elements of a layer that hold graphs, and their names in paths.
_BODIES = {"body": "body", "then_body": "then_branch", "else_body": "else_branch"}

Port = tuple[str, str]
"""A layer's id and a port's id in it."""


@dataclass(frozen=True)
class Declared:
    """What a port declares: the element type, ``""`` if it is missing, and the sizes, -1 for unknown ones."""

    precision: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """A layer as in the file."""

    # Its attributes, ``""`` for missing ones.
    id: str
    name: str
    type: str
    version: str
    data: Mapping[str, str]  # The attributes of its ``data`` element.
    # In the file's order.
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    tensor_names: tuple[str, ...]  # Of its output ports, or of a Result the names of the output.
    declared: Mapping[Port, Declared] = field(default_factory=dict)  # The declarations of its ports.
    bodies: tuple[tuple[str, Net], ...] = ()  # The graphs in it, with their names in paths.

    @property
    def title(self) -> str:
        """The layer's title in messages."""
        return f"layer {quoted(self.name)} ({quoted(self.type)[1:-1]})"

    def number(self, name: str) -> int:
        """Return an attribute that must be a whole number from 0 on; ModelError if it is not one."""
        given = self.data.get(name)
        if given is None:
            raise ModelError(f"{self.title} has no attribute {name}")
        value = whole_number(given, f"attribute {name} of {self.title}")
        if value < 0:
            raise ModelError(f"attribute {name} of {self.title} is {value}; it may not be negative")
        return value


@dataclass(frozen=True)
class Net:
    """The layers of an IR file by their ids, and for each input port the output port that feeds it."""

    layers: Mapping[str, Layer]
    sources: Mapping[Port, Port]


def read_net(content: bytes) -> Net:
    """Return the layers and edges in the XML of an IR file.

    ModelError if it is not XML, declares entities or a document type, or is not an IR of version 10 or 11.
    """
    try:
        root = fromstring(content, forbid_dtd=True)
    except DefusedXmlException as error:
        kind = type(error).__name__.removesuffix("Forbidden")
        raise ModelError(f"the IR file has a DOCTYPE ({kind}), which no IR needs; remove it") from None
    except (ParseError, ValueError, LookupError, RecursionError) as error:
        raise ModelError(f"the IR file is not well-formed XML: {one_line(error)}") from None
    if root.tag != "net":
        raise ModelError(f"the XML file is not an OpenVINO IR: its root is {quoted(root.tag)}, not 'net'")
    version = root.get("version", "")
    if version not in _VERSIONS:
        raise ModelError(f"the IR file has version {quoted(version)}; allowed: {listed(_VERSIONS)}")
    try:
        return _net(root)
    except RecursionError:
        raise ModelError("the bodies of the IR file are nested too deeply") from None


def whole_number(text: str, owner: str) -> int:
    """Return a text as a whole number; ModelError if it is not one, or has more than 19 digits."""
    if _NUMBER.fullmatch(text.strip()) is None:
        raise ModelError(f"{owner} is {quoted(text)}; it must be a whole number")
    return int(text)


def all_layers(net: Net, path: str = "") -> Iterator[tuple[str, Layer]]:
    """Yield every layer, including those of bodies, with the path of its graph, as in `Division`."""
    seen: Counter[str] = Counter()
    for layer in net.layers.values():
        yield path, layer
        seen[layer.type] += 1
        number = f"#{seen[layer.type]}" if seen[layer.type] > 1 else ""
        for name, body in layer.bodies:
            step = f"{layer.type}{number}:{name}"
            yield from all_layers(body, f"{path}/{step}" if path else step)


def renamed(content: bytes, kinds: Collection[str], prefix: str) -> bytes:
    """Return a valid IR with the layers of some types renamed to a prefix and their position in `all_layers`."""
    root = fromstring(content, forbid_dtd=True)
    for number, element in enumerate(_elements(root)):
        if element.get("type") in kinds:
            element.set("name", f"{prefix}{number}")
    return bytes(tostring(root))


def _elements(graph: Element) -> Iterator[Element]:
    for element in graph.iterfind("layers/layer"):
        yield element
        for part in _bodies(element):
            yield from _elements(part)


def _bodies(element: Element) -> list[Element]:
    return [part for part in element if part.tag in _BODIES]


def _net(root: Element) -> Net:
    layers: dict[str, Layer] = {}
    for element in root.iterfind("layers/layer"):
        layer = _layer(element)
        if layers.setdefault(layer.id, layer) is not layer:
            raise ModelError(f"{layer.title} has the id {quoted(layer.id)}, which {layers[layer.id].title} has too")
    return Net(layers, _sources(root, layers))


def _layer(element: Element) -> Layer:
    name, kind, identity = (element.get(key, "") for key in ("name", "type", "id"))
    title = f"layer {quoted(name)} ({quoted(kind)[1:-1]})"
    if not identity or not kind:
        raise ModelError(f"{title} has no {'type' if identity else 'id'}")
    data = element.find("data")
    inputs = dict(_ports(element, "input", identity, title))
    outputs = dict(_ports(element, "output", identity, title))
    if len({*inputs, *outputs}) < len(element.findall("input/port")) + len(element.findall("output/port")):
        raise ModelError(f"{title} has two ports of one id")
    names = [element.get("output_names"), *(port.get("names") for port in element.iterfind("output/port"))]
    tensor_names = tuple(name for text in names if text for name in _split_names(text))
    attributes = {} if data is None else dict(data.attrib)
    bodies = tuple((_BODIES[part.tag], _net(part)) for part in _bodies(element))
    version, declared = element.get("version", ""), {**inputs, **outputs}
    ports = tuple(inputs), tuple(outputs)
    return Layer(identity, name, kind, version, attributes, *ports, tensor_names, declared, bodies)


def _ports(element: Element, side: str, identity: str, title: str) -> Iterator[tuple[Port, Declared]]:
    for port in element.iterfind(f"{side}/port"):
        number = port.get("id")
        if number is None:
            raise ModelError(f"{title} has an {side} port without an id")
        owner = f"a dimension of {side} port {quoted(number)} of {title}"
        sizes = [whole_number(dim.text or "", owner) for dim in port.iterfind("dim")]
        if any(size < -1 for size in sizes):
            raise ModelError(f"{owner} is {min(sizes)}; allowed: -1 (unknown) and up")
        check_size([None if size < 0 else size for size in sizes], 8, f"{side} port {quoted(number)} of {title}")
        yield (identity, number), Declared(port.get("precision", ""), tuple(sizes))


def _sources(root: Element, layers: Mapping[str, Layer]) -> dict[Port, Port]:
    outputs = {port for layer in layers.values() for port in layer.outputs}
    inputs = {port for layer in layers.values() for port in layer.inputs}
    sources: dict[Port, Port] = {}
    for edge in root.iterfind("edges/edge"):
        ends = [edge.get(key) for key in ("from-layer", "from-port", "to-layer", "to-port")]
        if None in ends:
            raise ModelError("an edge of the IR file lacks one of from-layer, from-port, to-layer and to-port")
        start, end = (ends[0] or "", ends[1] or ""), (ends[2] or "", ends[3] or "")
        for port, known, side in ((start, outputs, "output"), (end, inputs, "input")):
            if port not in known:
                where = layers[port[0]].title if port[0] in layers else f"layer of id {quoted(port[0])}"
                raise ModelError(f"an edge names {side} port {quoted(port[1])} of {where}, which does not exist")
        if end in sources:
            raise ModelError(f"input port {quoted(end[1])} of {layers[end[0]].title} has two edges")
        sources[end] = start
    return sources


def _split_names(text: str) -> list[str]:
    # A comma inside a name is escaped with a backslash.
    return [name.replace("\\,", ",") for name in re.split(r"(?<!\\),", text) if name]
