"""ONNX files as protobuf messages: parsed, written as the newest IR version would, their tensors complete."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, save_model
from onnx.external_data_helper import set_external_data

from vinculum.errors import ModelError
from vinculum.models.model_file import content_of
from vinculum.models.onnx.scopes import all_nodes, opset_imports, subgraphs, title
from vinculum.models.onnx.structure import check_structure
from vinculum.models.onnx.tensors import complete
from vinculum.models.onnx.utf8 import check_text
from vinculum.text import one_line, quoted

_LARGEST_MESSAGE = 2**31 - 2**20  # Protobuf's own limit, and some room.
_SMALLEST_APART = 1024  # Bytes; what is smaller stays in the message.


def read_whole(path: Path) -> ModelProto:
    """Return the model in an ONNX file, data of other files in it, so that it means the same in any folder.

    Raises
    ------
    ModelError
        If the file cannot be read or is malformed.
    """
    proto = parse(content_of(path), path)
    try:
        check_structure(proto)
        complete_tensors(proto, path.parent)
        for tensor in proto.graph.initializer:
            tensor.CopyFrom(complete(tensor, path.parent, f"initializer {quoted(tensor.name)}"))
    except (RecursionError, MemoryError) as error:
        raise _unreadable(path, error) from None
    return proto


def write_whole(proto: ModelProto, path: Path) -> None:
    """Write a model, its large tensors into a file beside it where one message cannot hold all of them.

    The message may be changed: its tensors then tell where their data are.
    """
    large = [tensor for tensor in all_tensors(proto) if len(tensor.raw_data) >= _SMALLEST_APART]
    # Protobuf does not tell the size of what is larger than its limit.
    if sum(len(tensor.raw_data) for tensor in large) > _LARGEST_MESSAGE or proto.ByteSize() > _LARGEST_MESSAGE:
        # The onnx package's own loop refuses if there is a file of that name in the working directory.
        for tensor in large:
            set_external_data(tensor, f"{path.name}.data")
    save_model(proto, str(path))


def all_tensors(proto: ModelProto) -> Iterator[TensorProto]:
    """Yield the initializers of a model and the dense tensors in its attributes, at any depth."""
    yield from proto.graph.initializer
    for body in (proto.graph, *proto.functions):
        for node in all_nodes(body.node):
            for attribute in node.attribute:
                yield from ([attribute.t] if attribute.HasField("t") else attribute.tensors)
            for _, graph in subgraphs(node):
                yield from graph.initializer


def parse(content: bytes, file: Path) -> ModelProto:
    """Return the message in the bytes of an ONNX file, normalised.

    Raises
    ------
    ModelError
        If it is none, or what it holds is no graph.
    """
    try:
        proto: ModelProto = ModelProto.FromString(content)
        check_text(proto)
        normalise(proto, file)
    except (DecodeError, UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise _unreadable(file, error) from None
    return proto


def normalise(proto: ModelProto, file: Path) -> None:
    """Write an old or loosely written model as the newest IR version would.

    Raises
    ------
    ModelError
        If it has no graph, or does not say which operators it means.
    """
    if not proto.HasField("graph") or not proto.HasField("ir_version"):
        raise ModelError(f"model {str(file)!r} holds no ONNX graph with an IR version")
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


def complete_tensors(proto: ModelProto, folder: Path) -> None:
    """Check every tensor but the top initializers, and fetch its data into the model.

    Raises
    ------
    ModelError
        If shape, element type and data of one do not agree.
    """
    for body in (proto.graph, *proto.functions):
        for node in all_nodes(body.node):
            for attribute in node.attribute:
                owner = f"attribute {quoted(attribute.name)} of {title(node)}"
                for tensor in _tensors(attribute):
                    tensor.CopyFrom(complete(tensor, folder, owner))
            for _, graph in subgraphs(node):
                for tensor in graph.initializer:
                    tensor.CopyFrom(complete(tensor, folder, f"initializer {quoted(tensor.name)}"))


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


def _tensors(attribute: AttributeProto) -> list[TensorProto]:
    sparse = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
    parts = [part for tensor in (*sparse, *attribute.sparse_tensors) for part in (tensor.values, tensor.indices)]
    return [*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors, *parts]


def _unreadable(file: Path, error: BaseException) -> ModelError:
    return ModelError(f"model {str(file)!r} is not a readable ONNX file: {one_line(error)}")
