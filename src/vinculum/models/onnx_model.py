"""ONNX files, of any operator set and IR version: read, checked, and made ready to run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from vinculum.errors import ModelError
from vinculum.models.declared_shapes import check_size
from vinculum.models.execution import Division
from vinculum.models.inputs import UNKNOWN, ModelTensor
from vinculum.models.messages import one_line, quoted
from vinculum.models.model import Model
from vinculum.models.onnx_divisions import (
    declared_element_type,
    declared_shape,
    division_nodes,
    division_of,
    mark,
)
from vinculum.models.onnx_functions import link_functions
from vinculum.models.onnx_runner import OnnxProgram
from vinculum.models.onnx_scopes import all_nodes, opset_imports, subgraphs, title
from vinculum.models.onnx_structure import check_structure
from vinculum.models.onnx_tensors import complete, decode
from vinculum.models.onnx_text import check_text
from vinculum.models.onnx_types import with_inferred_types
from vinculum.spec.element_types import ElementType


def read_onnx(content: bytes, file: Path) -> Model:
    """Return the model in the bytes of an ONNX file.

    Raises
    ------
    ModelError, ElementTypeError, AttributeValueError
        As `vinculum.load` says.
    """
    try:
        proto = ModelProto.FromString(content)
        check_text(proto)
        return _model(proto, file)
    except (DecodeError, UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise ModelError(f"model {str(file)!r} is not a readable ONNX file: {one_line(error)}") from None


def _model(proto: ModelProto, file: Path) -> Model:
    if not proto.HasField("graph") or not proto.HasField("ir_version"):
        raise ModelError(f"model {str(file)!r} holds no ONNX graph with an IR version")
    _normalise(proto)
    function_names = link_functions(proto)
    check_structure(proto)
    _complete_tensors(proto, file.parent)
    constants = _take_initializers(proto, file.parent)
    inputs = tuple(_declared_input(value, constants) for value in proto.graph.input)
    inferred = with_inferred_types(proto, constants)
    outputs = tuple(_declared(value) for value in inferred.graph.output)
    divisions = _divisions(inferred, function_names)
    for number, (_, node) in enumerate(division_nodes(proto, function_names)):
        mark(node, number)
    return Model(inputs, outputs, divisions, OnnxProgram(proto, divisions, constants))


def _normalise(proto: ModelProto) -> None:
    """Write an old or loosely written model as the newest IR version would."""
    if not proto.opset_import:
        if proto.ir_version >= 3:
            raise ModelError("the model imports no operator set; from IR version 3 on it must")
        proto.opset_import.add(domain="", version=1)  # What models before IR version 3 mean.
    for holder in (proto, *proto.functions):
        imports = opset_imports(holder)
        del holder.opset_import[:]
        for domain, version in imports.items():
            holder.opset_import.add(domain=domain, version=version)
    for function in proto.functions:
        function.domain = "" if function.domain == "ai.onnx" else function.domain
    for body in (proto.graph, *proto.functions):
        for node in all_nodes(body.node):
            node.domain = "" if node.domain == "ai.onnx" else node.domain
            for attribute in node.attribute:
                _give_type(attribute, node)


def _give_type(attribute: AttributeProto, node: NodeProto) -> None:
    """Write the type of an attribute, which IR version 1 leaves to the reader."""
    if attribute.type != AttributeProto.UNDEFINED:
        return
    values = [f.name for f, _ in attribute.ListFields() if f.name not in ("name", "doc_string", "type")]
    by_field = {"f": "FLOAT", "i": "INT", "s": "STRING", "t": "TENSOR", "g": "GRAPH"}
    kinds = [by_field.get(name, name.upper()) for name in values]
    if len(kinds) != 1 or kinds[0] not in AttributeProto.AttributeType.keys():  # noqa: SIM118  an enum, not a dict
        raise ModelError(f"{title(node)}: attribute {quoted(attribute.name)} has no type and not one value")
    attribute.type = AttributeProto.AttributeType.Value(kinds[0])


def _complete_tensors(proto: ModelProto, folder: Path) -> None:
    """Check every tensor but the top initializers, and fetch its data into the model."""
    for body in (proto.graph, *proto.functions):
        for node in all_nodes(body.node):
            for attribute in node.attribute:
                owner = f"attribute {quoted(attribute.name)} of {title(node)}"
                for tensor in _tensors(attribute):
                    tensor.CopyFrom(complete(tensor, folder, owner))
            for _, graph in subgraphs(node):
                for tensor in graph.initializer:
                    tensor.CopyFrom(complete(tensor, folder, f"initializer {quoted(tensor.name)}"))


def _tensors(attribute: AttributeProto) -> list[TensorProto]:
    sparse = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
    parts = [part for tensor in (*sparse, *attribute.sparse_tensors) for part in (tensor.values, tensor.indices)]
    return [*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors, *parts]


def _declared_input(value: ValueInfoProto, constants: Mapping[str, NDArray[Any]]) -> ModelTensor:
    tensor = _declared(value, value.name in constants)
    if tensor.element_type == UNKNOWN:
        raise ModelError(f"input {quoted(value.name)} declares no element type")
    return tensor


def _declared(value: ValueInfoProto, optional: bool = False) -> ModelTensor:
    kind = value.type.WhichOneof("value") or UNKNOWN
    if kind != "tensor_type":
        return ModelTensor(value.name, kind.removesuffix("_type"), None, optional)
    if value.type.tensor_type.elem_type == TensorProto.UNDEFINED:
        return ModelTensor(value.name, UNKNOWN, declared_shape(value.type), optional)
    element_type = declared_element_type(value.type.tensor_type.elem_type)
    shape = declared_shape(value.type)
    if shape is not None:
        bits = element_type.bits if isinstance(element_type, ElementType) else 8
        check_size(shape, bits, f"value {quoted(value.name)}")
    return ModelTensor(value.name, element_type, shape, optional)


def _take_initializers(proto: ModelProto, folder: Path) -> dict[str, NDArray[Any]]:
    """Return the top graph's initializers as arrays, and leave the graph without them."""
    constants = {t.name: decode(t, folder, f"initializer {quoted(t.name)}") for t in proto.graph.initializer}
    del proto.graph.initializer[:]
    return constants


def _divisions(inferred: ModelProto, function_names: dict[str, str]) -> tuple[Division, ...]:
    taken: set[tuple[str, str]] = set()
    return tuple(division_of(scope, node, taken) for scope, node in division_nodes(inferred, function_names))
