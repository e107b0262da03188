"""Conversion of a whole ONNX model to an OpenVINO IR in which every division gives the same bits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto, TensorProto, ValueInfoProto

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change
from vinculum.models.convert.to_openvino.layers import LAYERS, checked_type, converted
from vinculum.models.convert.to_openvino.nodes import PlainNode, plain_nodes
from vinculum.models.convert.to_openvino.writer import OpenvinoWriter, Value
from vinculum.models.onnx.divisions import declared_element_type, declared_shape
from vinculum.models.onnx.file import check_no_training
from vinculum.models.onnx.tensors import decode
from vinculum.models.openvino_ir.types import TensorType
from vinculum.text import listed, quoted


@dataclass(frozen=True, eq=False)
class OpenvinoFiles:
    """An IR: the contents of the ``.xml`` and of the ``.bin`` beside it."""

    xml: bytes
    data: bytes
    changes: tuple[Change, ...]  # Every node that was rewritten, and every input whose declaration changed.


def to_openvino(proto: ModelProto) -> OpenvinoFiles:
    """Return an ONNX model of Div, Reciprocal, Cast and reshaping operators as an IR with the same quotients.

    Integer Div becomes a Divide that truncates, ``m_pythondiv="false"``. Inputs and outputs keep their names and their
    order. Operands whose shapes do not fit are refused as before, with one exception: where the file leaves open the
    sizes of operands of Div-1 and Div-6, the IR divides all shapes that NumPy's rule broadcasts.

    - `proto`: as `vinculum.models.source.SourceFile.complete` returns it. It is not changed.

    A VinculumError if a node is invalid, or not representable in layers of operation set 1; the message names the node
    and the reason.
    """
    check_no_training(proto)
    writer = OpenvinoWriter()
    graph = proto.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in constants]
    writer.reserve([value.name for value in inputs])
    changes = [_fixed(value.name) for value in graph.input if value.name in constants]
    values = {name: _constant(tensor) for name, tensor in constants.items()}
    for declared in inputs:
        values[declared.name] = writer.parameter(declared.name, _declared(declared))
        changes += _dropped_names(declared)
    for node in plain_nodes(proto, values):
        changes += _convert(node, writer)
    _write_results([value.name for value in graph.output], values, writer)
    return OpenvinoFiles(writer.xml(graph.name), writer.data(), tuple(changes))


def _convert(node: PlainNode, writer: OpenvinoWriter) -> list[Change]:
    kind = node.node.op_type
    if node.node.domain or kind not in LAYERS:
        raise ModelError(f"{node.title} is not representable in an IR of operation set 1; allowed: {', '.join(LAYERS)}")
    if len(node.node.output) != 1:
        raise ModelError(f"{node.title} has {len(node.node.output)} outputs; allowed: 1")
    result, changes = LAYERS[kind](node, writer)
    node.values[node.node.output[0]] = result
    return changes


def _constant(tensor: TensorProto) -> Value:
    owner = f"initializer {quoted(tensor.name)}"
    element_type = checked_type(declared_element_type(tensor.data_type), owner)
    array = decode(tensor, Path(), owner)
    return Value(TensorType(element_type, array.shape), tensor.name, array)


def _declared(value: ValueInfoProto) -> TensorType:
    owner = f"input {quoted(value.name)}"
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type" or value.type.tensor_type.elem_type == TensorProto.UNDEFINED:
        raise ModelError(f"{owner} has no declared tensor type, which an IR requires")
    element_type = checked_type(declared_element_type(value.type.tensor_type.elem_type), owner)
    shape = declared_shape(value.type)
    sizes = None if shape is None else tuple(size if isinstance(size, int) else None for size in shape)
    return TensorType(element_type, sizes)


def _dropped_names(value: ValueInfoProto) -> list[Change]:
    names = [size for size in declared_shape(value.type) or () if isinstance(size, str)]
    if not names:
        return []
    what = f"{'dimension' if len(names) == 1 else 'dimensions'} {listed(names)} written '?'"
    return [Change(f"input {quoted(value.name)}", what, "an IR has no names for dimensions")]


def _fixed(name: str) -> Change:
    return Change(f"input {quoted(name)}", "no longer an input: always its initializer", "an IR has no optional inputs")


def _write_results(names: list[str], values: dict[str, Value], writer: OpenvinoWriter) -> None:
    if not names:
        raise ModelError("the model has no output; an IR has at least one")
    written: set[Value] = set()
    for place, name in enumerate(names):
        value = values[name]
        if name in names[:place]:
            raise ModelError(f"output {quoted(name)} is listed twice; the names of an IR's outputs are unique")
        if value in written:
            # Two names of one tensor become one when OpenVINO compiles the model.
            value = converted(value, Value(value.known, name), name, writer)
        written.add(value)
        writer.result(value, name)
