"""OpenVINO IR files, versions 10 and 11: as a model, and as a graph of supported layers.

Layers that are supported without OpenVINO are checked and sorted into execution order. For other layers only the
declarations of their ports are known; OpenVINO runs a graph that holds some, except its divisions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.engines.openvino.process import CutProgram
from vinculum.models.inner_divisions import InnerDivision, what_openvino_divides
from vinculum.models.model import Model
from vinculum.models.openvino_ir.layers import RESHAPES, Bounds, divide, parameter, reshaping
from vinculum.models.openvino_ir.program import (
    ConvertStep,
    DivideStep,
    OpenvinoProgram,
    ParameterStep,
    ReshapeStep,
    Step,
)
from vinculum.models.openvino_ir.types import TensorType, constant, declared_type, declared_value
from vinculum.models.openvino_ir.xml import Layer, Net, Port, all_layers, read_net
from vinculum.models.values import ModelTensor
from vinculum.text import listed, one_line, quoted

# The supported layers, with their possible numbers of inputs and their number of outputs.
_PORTS = {
    "Parameter": ((0,), 1),
    "Const": ((0,), 1),
    "Convert": ((1,), 1),
    "Divide": ((2,), 1),
    "Unsqueeze": ((2,), 1),
    "Squeeze": ((1, 2), 1),
    "Reshape": ((2,), 1),
    "Result": ((1,), 0),
}


@dataclass(frozen=True, eq=False)
class OpenvinoGraph:
    """A graph of supported layers, read from an IR file."""

    # In the file's order.
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    program: OpenvinoProgram
    known: Mapping[Port, TensorType]  # The type of each value, as far as it is known before a run.


def read_openvino_ir(content: bytes, file: Path) -> Model:
    """Return the model of an IR file, given its XML; its data is beside it, in a ``.bin`` of the same name.

    Errors are as in `vinculum.load`.
    """
    with _readable(file):
        net = read_net(content)
        foreign = _foreign(net)
        if foreign is not None:
            return _foreign_model(net, foreign, content, file.with_suffix(".bin"))
        graph = _graph(net, content, file.with_suffix(".bin"))
    divisions = tuple(step.division for step in graph.program.steps if isinstance(step, DivideStep))
    return Model(graph.inputs, graph.outputs, divisions, graph.program)


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise ModelError(f"model {str(file)!r} cannot be read: {one_line(error)}") from None


def _foreign(net: Net) -> Layer | None:
    """Return the first layer that only OpenVINO can run, None if there is none."""
    known = (layer.type in _PORTS and layer.version in ("", "opset1") for layer in net.layers.values())
    return next((layer for layer, ours in zip(net.layers.values(), known, strict=True) if not ours), None)


def _foreign_model(net: Net, foreign: Layer, content: bytes, data: Path) -> Model:
    """Return a model with layers that only OpenVINO can run, from the declarations of its ports."""
    divides: dict[int, DivideStep] = {}
    parameters: dict[str, ParameterStep] = {}
    inputs: list[ModelTensor] = []
    for number, (path, layer) in enumerate(all_layers(net)):
        if layer.type == "Divide" and layer.version in ("", "opset1"):
            _check_ports(layer)
            first, second = (declared_value(layer.declared[port]) for port in layer.inputs)
            division, attributes, _ = divide(layer, (first, second), path)
            divides[number] = DivideStep(division, attributes, (layer.inputs[0], layer.inputs[1]), layer.outputs[0])
        elif layer.type == "Parameter" and not path:
            _check_ports(layer)
            known, bounds = parameter(layer)
            _add_parameter(parameters, layer, bounds)
            inputs.append(_tensor(layer.name, known))
    for layer in net.layers.values():
        _check_edges(layer, net)
    results = _results(net)
    outputs = tuple(_tensor(name, _declared(net, port)) for name, port in results.items())
    program = CutProgram(
        content, data, tuple(parameters.values()), divides, _numbered(net, results), f"to run {foreign.title}"
    )
    inner = tuple(
        InnerDivision(layer.name, path, layer.type, inside)
        for path, layer in all_layers(net)
        if (inside := what_openvino_divides(layer.type)) is not None
    )
    return Model(tuple(inputs), outputs, tuple(step.division for step in divides.values()), program, inner)


def _declared(net: Net, port: Port) -> TensorType:
    layer = net.layers[port[0]]
    return parameter(layer)[0] if layer.type == "Parameter" else declared_value(layer.declared[port])


def _numbered(net: Net, results: Iterable[str]) -> dict[int, str]:
    """Return the names of the outputs by the numbers of their Result layers."""
    layers = enumerate(all_layers(net))
    numbers = [number for number, (path, layer) in layers if layer.type == "Result" and not path]
    return dict(zip(numbers, results, strict=True))


def _add_parameter(parameters: dict[str, ParameterStep], layer: Layer, bounds: tuple[Bounds, ...] | None) -> None:
    if layer.name in parameters:
        raise ModelError(f"two Parameter layers are called {quoted(layer.name)}; give each a name of its own")
    parameters[layer.name] = ParameterStep(layer.name, bounds, layer.outputs[0])


def _check_ports(layer: Layer) -> None:
    inputs, outputs = _PORTS[layer.type]
    if len(layer.inputs) not in inputs or len(layer.outputs) != outputs:
        ports = f"{len(layer.inputs)} input ports and {len(layer.outputs)} output ports"
        wanted = f"{' or '.join(map(str, inputs))} inputs and {outputs}"
        raise ModelError(f"{layer.title} has {ports}; it takes {wanted}")


def _check_edges(layer: Layer, net: Net) -> None:
    for port in layer.inputs:
        if port not in net.sources:
            raise ModelError(f"no edge leads to input port {quoted(port[1])} of {layer.title}")


def _in_order(net: Net) -> list[Layer]:
    before = {layer.id: [net.sources[port][0] for port in layer.inputs] for layer in net.layers.values()}
    try:
        return [net.layers[identity] for identity in TopologicalSorter(before).static_order()]
    except CycleError as error:
        circle = [net.layers[identity].name for identity in error.args[1]]
        raise ModelError(f"the layers {listed(circle)} form a cycle") from None


def _graph(net: Net, content: bytes, data: Path) -> OpenvinoGraph:
    for layer in net.layers.values():
        _check_ports(layer)
        _check_edges(layer, net)
    known: dict[Port, TensorType] = {}
    parameters: dict[str, ParameterStep] = {}
    constants: dict[Port, NDArray[Any]] = {}
    steps: list[Step] = []
    for layer in _in_order(net):
        operands = tuple(net.sources[port] for port in layer.inputs)
        port = layer.outputs[0] if layer.outputs else (layer.id, "")
        if layer.type == "Parameter":
            known[port], bounds = parameter(layer)
            _add_parameter(parameters, layer, bounds)
        elif layer.type == "Const":
            constants[port] = constant(layer, data)
            known[port] = TensorType(declared_type(layer, "element_type"), constants[port].shape)
        elif layer.type == "Convert":
            known[port] = TensorType(declared_type(layer, "destination_type"), known[operands[0]].shape)
            steps.append(ConvertStep(layer.name, known[port].element_type, (operands[0],), port))
        elif layer.type == "Divide":
            division, attributes, known[port] = divide(layer, (known[operands[0]], known[operands[1]]))
            steps.append(DivideStep(division, attributes, (operands[0], operands[1]), port))
        elif layer.type in RESHAPES:
            pattern = constants.get(operands[1]) if len(operands) > 1 else None
            found, known[port] = reshaping(layer, [known[operand] for operand in operands], pattern)
            shape = known[port].shape
            steps.append(ReshapeStep(layer.name, found, None if shape is None else len(shape), operands, port))
    results = _results(net)
    divides = {step.result[0]: step for step in steps if isinstance(step, DivideStep)}
    numbers = {number: divides[identity] for number, identity in enumerate(net.layers) if identity in divides}
    inputs = tuple(parameters.values())
    in_openvino = CutProgram(content, data, inputs, numbers, _numbered(net, results))
    return OpenvinoGraph(
        tuple(_tensor(layer.name, known[layer.outputs[0]]) for layer in _of_type(net, "Parameter")),
        tuple(_tensor(name, known[port]) for name, port in results.items()),
        OpenvinoProgram(inputs, constants, tuple(steps), results, in_openvino),
        known,
    )


def _of_type(net: Net, kind: str) -> list[Layer]:
    return [layer for layer in net.layers.values() if layer.type == kind]


def _results(net: Net) -> dict[str, Port]:
    """Return the port of each Result, by its tensor's name, or the layer's if the tensor has no name of its own."""
    layers = _of_type(net, "Result")
    if not layers:
        raise ModelError("the IR file has no Result layer, so it has no outputs")
    ports = [net.sources[layer.inputs[0]] for layer in layers]
    names = [
        next(iter((*layer.tensor_names, *net.layers[port[0]].tensor_names)), "")
        for layer, port in zip(layers, ports, strict=True)
    ]
    shared = Counter(names)
    results: dict[str, Port] = {}
    for layer, port, name in zip(layers, ports, names, strict=True):
        own = layer.name if not name or shared[name] > 1 else name
        if own in results:
            raise ModelError(f"two Result layers are called {quoted(own)}; give each a name of its own")
        results[own] = port
    return results


def _tensor(name: str, known: TensorType) -> ModelTensor:
    return ModelTensor(name, known.element_type, known.shape)
