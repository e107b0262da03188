"""OpenVINO IR files, versions 10 and 11, of the layer types that run: Parameter, Const, Convert, Divide, Result."""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vinculum.errors import ModelError
from vinculum.models.inputs import ModelTensor
from vinculum.models.messages import listed, one_line, quoted
from vinculum.models.model import Model
from vinculum.models.openvino_constants import constant
from vinculum.models.openvino_layers import divide, parameter
from vinculum.models.openvino_runner import ConvertStep, DivideStep, OpenvinoProgram, ParameterStep, Step
from vinculum.models.openvino_types import Known, declared_type
from vinculum.models.openvino_xml import Layer, Net, Port, read_net

_PORTS = {"Parameter": (0, 1), "Const": (0, 1), "Convert": (1, 1), "Divide": (2, 1), "Result": (1, 0)}


def read_openvino_ir(content: bytes, file: Path) -> Model:
    """Return the model in the XML of an IR file, whose data stand beside it in a ``.bin`` of the same name.

    Raises
    ------
    ModelError, ElementTypeError, AttributeValueError, BroadcastError
        As `vinculum.load` says.
    """
    try:
        net = read_net(content)
        for layer in net.layers.values():
            _check_ports(layer, net)
        return _model(net, file.with_suffix(".bin"))
    except MemoryError as error:
        raise ModelError(f"model {str(file)!r} cannot be read: {one_line(error)}") from None


def _check_ports(layer: Layer, net: Net) -> None:
    if layer.type not in _PORTS:
        raise ModelError(f"{layer.title} cannot be run; layer types that run: {', '.join(_PORTS)}")
    if layer.version not in ("", "opset1"):
        raise ModelError(f"{layer.title} is of {quoted(layer.version)}; the layers that run are those of opset1")
    ports = (len(layer.inputs), len(layer.outputs))
    if ports != _PORTS[layer.type]:
        wanted = " inputs and ".join(map(str, _PORTS[layer.type]))
        raise ModelError(f"{layer.title} has {ports[0]} input ports and {ports[1]} output ports; it takes {wanted}")
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


def _model(net: Net, data: Path) -> Model:
    known: dict[Port, Known] = {}
    parameters: dict[str, ParameterStep] = {}
    constants: dict[Port, NDArray[Any]] = {}
    steps: list[Step] = []
    for layer in _in_order(net):
        operands = tuple(net.sources[port] for port in layer.inputs)
        port = layer.outputs[0] if layer.outputs else (layer.id, "")
        if layer.type == "Parameter":
            known[port], bounds = parameter(layer)
            if layer.name in parameters:
                raise ModelError(f"two Parameter layers are called {quoted(layer.name)}; give each a name of its own")
            parameters[layer.name] = ParameterStep(layer.name, bounds, port)
        elif layer.type == "Const":
            constants[port] = constant(layer, data)
            known[port] = Known(declared_type(layer, "element_type"), constants[port].shape)
        elif layer.type == "Convert":
            known[port] = Known(declared_type(layer, "destination_type"), known[operands[0]].shape)
            steps.append(ConvertStep(known[port].element_type, (operands[0],), port))
        elif layer.type == "Divide":
            division, attributes, known[port] = divide(layer, (known[operands[0]], known[operands[1]]))
            steps.append(DivideStep(division, attributes, (operands[0], operands[1]), port))
    results = _results(net)
    return Model(
        tuple(_tensor(layer.name, known[layer.outputs[0]]) for layer in _of_type(net, "Parameter")),
        tuple(_tensor(name, known[port]) for name, port in results.items()),
        tuple(step.division for step in steps if isinstance(step, DivideStep)),
        OpenvinoProgram(tuple(parameters.values()), constants, tuple(steps), results),
    )


def _of_type(net: Net, kind: str) -> list[Layer]:
    return [layer for layer in net.layers.values() if layer.type == kind]


def _results(net: Net) -> dict[str, Port]:
    """Return what each Result hands out, by its tensor's name, or its own where the tensor has none to itself."""
    layers = _of_type(net, "Result")
    if not layers:
        raise ModelError("the IR file has no Result layer, so nothing comes out of it")
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


def _tensor(name: str, known: Known) -> ModelTensor:
    return ModelTensor(name, known.element_type, known.shape)
