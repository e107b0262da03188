"""OpenVINO, telling where an IR divides, and running it exposed; this object lives in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vinculum.conformance.runtimes.openvino import OpenVino, places
from vinculum.models.engines.openvino.tensors import to_array
from vinculum.models.inner_divisions import InnerDivision, what_openvino_divides


@dataclass(frozen=True)
class PortFacts:
    """What OpenVINO tells of a value: the node that makes it, and the value's element type and shape."""

    name: str
    element_type: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True, eq=False)
class DivideFacts:
    """What OpenVINO tells of a Divide.

    Attributes
    ----------
    name, path : str
        The layer's, and where it stands, as in `Division`.
    attributes : Mapping
        As the layer has them.
    ports : tuple of PortFacts
        Both operands and the quotient.
    constants : tuple
        Each operand's value if it is a constant of the model, else None.
    parameters : tuple of (str or None)
        Each operand's input of the model, if it is one.
    """

    name: str
    path: str
    attributes: Mapping[str, Any]
    ports: tuple[PortFacts, ...]
    constants: tuple[Any, ...]
    parameters: tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """What OpenVINO tells of a model."""

    inputs: tuple[PortFacts, ...]
    outputs: tuple[str, ...]
    divides: tuple[DivideFacts, ...]
    inner: tuple[InnerDivision, ...]


class OpenVinoAudit(OpenVino):
    """Runs IR files."""

    def facts(self, file: Path) -> ModelFacts:
        """Return what a model holds, by OpenVINO's own reading of the file."""
        model = self.read(str(file))
        inputs = tuple(_facts(port) for port in model.inputs)
        outputs = tuple(_output_name(port) for port in model.outputs)
        found = list(_divides(model, ""))
        divides = tuple(each for each in found if isinstance(each, DivideFacts))
        return ModelFacts(inputs, outputs, divides, tuple(each for each in found if isinstance(each, InnerDivision)))

    def run_exposed(self, file: Path, inputs: Mapping[str, Any]) -> list[Any]:
        """Return all outputs of a model, and behind them operands and quotient of each Divide, in the order of facts.

        Those in bodies are left out.
        """
        model = self.read(str(file))
        given = places(model, inputs)
        _expose(model)
        return self.run(model, given)


def _expose(model: Any) -> None:
    from openvino import opset1

    for node in model.get_ordered_ops():
        if node.get_type_name() == "Divide":
            ports = [*(node.input_value(place) for place in range(2)), node.output(0)]
            model.add_results([opset1.result(port) for port in ports])


def _divides(model: Any, path: str) -> Iterator[DivideFacts | InnerDivision]:
    seen: dict[str, int] = {}
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        if kind == "Divide":
            yield _divide(node, path)
        elif (inside := what_openvino_divides(kind)) is not None:
            yield InnerDivision(node.get_friendly_name(), path, kind, inside)
        bodies = list(_bodies(node, kind))
        seen[kind] = seen.get(kind, 0) + 1
        for name, body in bodies:
            step = f"{kind}{f'#{seen[kind]}' if seen[kind] > 1 else ''}:{name}"
            yield from _divides(body, f"{path}/{step}" if path else step)


def _bodies(node: Any, kind: str) -> Sequence[tuple[str, Any]]:
    if kind == "If":
        return [("then_branch", node.get_then_body()), ("else_branch", node.get_else_body())]
    return [("body", node.get_function())] if hasattr(node, "get_function") else []


def _divide(node: Any, path: str) -> DivideFacts:
    makers = [node.input_value(place).get_node() for place in range(2)]
    return DivideFacts(
        node.get_friendly_name(),
        path,
        dict(node.get_attributes()),
        tuple(_facts(port) for port in (*(node.input_value(place) for place in range(2)), node.output(0))),
        tuple(to_array(maker) if maker.get_type_name() == "Constant" else None for maker in makers),
        tuple(maker.get_friendly_name() if _is_input(maker, path) else None for maker in makers),
    )


def _is_input(node: Any, path: str) -> bool:
    return not path and node.get_type_name() == "Parameter"  # Another layer may have its name.


def _facts(port: Any) -> PortFacts:
    shape = port.get_partial_shape()
    sizes = None if shape.rank.is_dynamic else tuple(_size(dimension) for dimension in shape)
    return PortFacts(port.get_node().get_friendly_name(), port.get_element_type().get_type_name(), sizes)


def _size(dimension: Any) -> int | None:
    return None if dimension.is_dynamic else int(dimension.get_length())


def _output_name(port: Any) -> str:
    return min(port.get_names(), default="") or str(port.get_node().input_value(0).get_node().get_friendly_name())
