"""Models that OpenVINO reads: their inputs, outputs and divisions; and writing them as IR.

This code runs in OpenVINO's process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vinculum.errors import ElementTypeError, ModelError, SpecLookupError
from vinculum.models.engines.openvino.tensors import reason_of
from vinculum.models.execution import Division, labelled
from vinculum.models.inner_divisions import InnerDivision, what_openvino_divides
from vinculum.models.values import UNKNOWN, ModelTensor
from vinculum.spec.attributes import checked_attributes
from vinculum.spec.element_types import ElementType, by_openvino_name
from vinculum.spec.model import AttributeValue
from vinculum.spec.openvino_divide import DIVIDE_1
from vinculum.tensors.shapes import SymbolicShape
from vinculum.tensors.type_checking import check_element_types
from vinculum.text import quoted

NAME = "vinculum:"
"""The prefix of the numbered names of Divides."""
AXIS = "auto_broadcast.auto_broadcast_axis"
"""The name under which OpenVINO reads and writes the attribute axis."""

Names = Sequence[tuple[str, str]]
"""Names of divisions and of their quotients."""


@dataclass(frozen=True)
class Described:
    """A model that OpenVINO read."""

    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    divisions: tuple[Division, ...]  # Those of bodies too, in OpenVINO's order.
    attributes: tuple[dict[str, AttributeValue], ...]  # Of the divisions.
    inner_divisions: tuple[InnerDivision, ...]


def described(model: Any) -> Described:
    """Return what is in a model.

    A VinculumError if Divide-1 does not allow a division's operands or attributes, or a name is given twice.
    """
    inputs = [(str(node.get_friendly_name()), node.output(0)) for node in model.get_parameters()]
    divisions, attributes, inner = [], [], []
    for path, node in nodes_of(model):
        kind = node.get_type_name()
        if kind == "Divide":
            divisions.append(division_of(node, str(node.get_friendly_name()), path))
            attributes.append(attributes_of(node))
        elif (inside := what_openvino_divides(kind)) is not None:
            inner.append(InnerDivision(node.get_friendly_name(), path, kind, inside))
    return Described(
        tuple(_declared("Parameter", inputs)),
        tuple(_declared("Result", _outputs(model))),
        tuple(divisions),
        tuple(attributes),
        tuple(inner),
    )


def division_of(divide: Any, name: str, path: str) -> Division:
    """Return the division of a Divide; a VinculumError if Divide-1 does not allow its operands."""
    ports = [divide.input_value(0), divide.input_value(1), divide.output(0)]
    shapes = tuple(map(shape_of, ports))
    known = shapes if any(shape is not None for shape in shapes) else None
    element_type = element_type_of(ports[0])
    bare = Division(name, path, DIVIDE_1, None, known)
    if element_type == UNKNOWN:
        return bare
    with labelled(bare):
        if isinstance(element_type, str):
            raise ElementTypeError(f"a has element type {element_type}, which cannot be divided")
        check_element_types(DIVIDE_1, (element_type, element_type))
    return Division(name, path, DIVIDE_1, element_type, known)


def attributes_of(divide: Any) -> dict[str, AttributeValue]:
    """Return the attributes of a Divide, by the specification's names; AttributeValueError if one is not allowed."""
    values = {"axis" if name == AXIS else name: value for name, value in divide.get_attributes().items()}
    if values.get("auto_broadcast", "numpy") == "numpy":
        values.pop("axis", None)
    return checked_attributes(DIVIDE_1, values)


def element_type_of(port: Any) -> ElementType | str:
    """Return the element type of a port, ``"bool"`` or ``"string"``, or `UNKNOWN`."""
    name = port.get_element_type().get_type_name()
    try:
        return by_openvino_name(name)
    except SpecLookupError:
        return {"boolean": "bool", "string": "string"}.get(name, UNKNOWN)


def shape_of(port: Any) -> SymbolicShape | None:
    """Return the shape of a port as far as it is known."""
    shape = port.get_partial_shape()
    if shape.rank.is_dynamic:
        return None
    return tuple(None if size.is_dynamic else int(size.get_length()) for size in shape)


def divides_of(model: Any) -> Iterator[Any]:
    """Yield the Divides of a model and its bodies."""
    return (node for _, node in nodes_of(model) if node.get_type_name() == "Divide")


def numbered(model: Any, names: Names) -> dict[int, Any]:
    """Return the Divides that OpenVINO read from the numbered divisions of an ONNX model.

    OpenVINO names a layer after its quotient if that is an output of a graph, and expands other operators to Divides.
    """
    called: dict[str, list[int]] = {f"{NAME}{number}": [number] for number in range(len(names))}
    for number, (_, quotient) in enumerate(names):
        called.setdefault(quotient, []).append(number)
    found: dict[int, Any] = {}
    for node in divides_of(model):
        numbers = [number for number in called.get(node.get_friendly_name(), ()) if number not in found]
        if numbers:
            found[numbers[0]] = node
    return found


def bodies_of(node: Any) -> list[Any]:
    """Return the bodies of a layer."""
    if node.get_type_name() == "If":
        return [node.get_then_body(), node.get_else_body()]
    return [node.get_function()] if hasattr(node, "get_function") else []


def nodes_of(model: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every node of a model and its bodies, with its path, as in `vinculum.models.Division`."""
    seen: Counter[str] = Counter()
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        seen[kind] += 1
        yield path, node
        for body, branch in zip(bodies_of(node), ("then_branch", "else_branch"), strict=False):
            number = f"#{seen[kind]}" if seen[kind] > 1 else ""
            step = f"{kind}{number}:{branch if kind == 'If' else 'body'}"
            yield from nodes_of(body, f"{path}/{step}" if path else step)


def _outputs(model: Any) -> list[tuple[str, Any]]:
    """Return the outputs, each with its tensor's name, or its layer's if the tensor has no name of its own."""
    nodes = model.get_results()
    if not nodes:
        raise ModelError("the IR has no Result layer, so it has no outputs")
    names = [min(node.output(0).get_names(), default="") for node in nodes]
    shared = Counter(names)
    own = [
        name if name and shared[name] == 1 else node.get_friendly_name()
        for name, node in zip(names, nodes, strict=True)
    ]
    return [(str(name), node.output(0)) for name, node in zip(own, nodes, strict=True)]


def _declared(kind: str, ports: list[tuple[str, Any]]) -> Iterator[ModelTensor]:
    ((name, times),) = Counter(name for name, _ in ports).most_common(1) or [("", 1)]
    if times > 1:
        raise ModelError(f"two {kind} layers are called {quoted(name)}; give each a name of its own")
    for name, port in ports:
        yield ModelTensor(name, element_type_of(port), shape_of(port))


class Writer:
    """Reads and writes models; this object lives in OpenVINO's process."""

    def write(self, source: Path, target: Path, names: Names) -> dict[int, bool] | str:
        """Write a model with numbered divisions; return the numbers found, each with whether it divides integers.

        The result is a text, the reason, if OpenVINO refuses the model. The names are those that the divisions get.
        """
        import openvino

        try:
            model = openvino.Core().read_model(source)
            found = numbered(model, names)
            integers = {number: node.get_output_element_type(0).is_integral() for number, node in found.items()}
            for number, node in found.items():
                node.set_friendly_name(names[number][0])
                if integers[number]:
                    node.set_attribute("m_pythondiv", False)
            openvino.save_model(model, target, compress_to_fp16=False)
        except RuntimeError as error:  # The only exception that OpenVINO raises.
            return reason_of(error)
        return integers
