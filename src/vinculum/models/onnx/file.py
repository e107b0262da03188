"""ONNX files as protobuf messages: parsed, normalised to the newest IR version, and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from vinculum.errors import ModelError
from vinculum.models.onnx.inference import LARGEST_KEPT
from vinculum.models.onnx.scopes import give_own_names, model_graphs, model_nodes, opset_imports, subgraphs, title
from vinculum.models.onnx.tensors import anchor, anchored_place, complete, dense_tensor, is_external, refer
from vinculum.text import one_line, quoted

_LARGEST_MESSAGE = 2**31 - 2**20  # Protobuf's own limit, less a margin.
_SMALLEST_APART = 1024  # Bytes; smaller tensors are stored in the message.
_PAGE = 4096
_PIECE = 1 << 22


def check_no_training(model: ModelProto) -> None:
    """Refuse a model with graphs for training: changes of the model would have to be made in them too."""
    if model.training_info:
        raise ModelError("the model holds graphs for training (training_info), which cannot be kept; drop them first")


def write_model(proto: ModelProto, path: Path) -> None:
    """Write a model whose tensors are complete or anchored.

    Large tensors are written to a data file beside it if some of them come from a file, or one message cannot hold all
    of them.

    - `proto`: it may be changed: its tensors then refer to the data file.
    - `path`: where to write; the data file has the same name with ``.data`` appended.
    """
    large = [tensor for tensor in all_tensors(proto) if is_external(tensor) or len(tensor.raw_data) >= _SMALLEST_APART]
    # Protobuf cannot compute the size of a message above its limit.
    inside = sum(len(tensor.raw_data) for tensor in large)
    apart = any(map(is_external, large)) or inside > _LARGEST_MESSAGE or proto.ByteSize() > _LARGEST_MESSAGE
    if apart and large:
        _write_data(large, path.with_name(f"{path.name}.data"))
    path.write_bytes(proto.SerializeToString())


def _write_data(tensors: Sequence[TensorProto], path: Path) -> None:
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise ModelError(f"{path.name!r} is not UTF-8, and the model has to name it; give another name") from None
    with path.open("wb") as file:
        for tensor in tensors:
            file.seek(-(-file.tell() // _PAGE) * _PAGE)  # ONNX recommends page alignment, for memory mapping.
            start = file.tell()
            if is_external(tensor):
                source, offset, size = anchored_place(tensor)
                _copy(source, offset, size, file)
            else:
                size = file.write(tensor.raw_data)
                tensor.ClearField("raw_data")
            refer(tensor, path.name, start, size)


def _copy(source: Path, offset: int, size: int, target: BinaryIO) -> None:
    with source.open("rb") as file:
        file.seek(offset)
        while size:
            piece = file.read(min(size, _PIECE))
            if not piece:
                raise ModelError(f"the data file {str(source)!r} became shorter while it was copied")
            target.write(piece)
            size -= len(piece)


def all_tensors(proto: ModelProto) -> Iterator[TensorProto]:
    """Yield the initializers of a model and the dense tensors in its attributes, at any depth."""
    yield from proto.graph.initializer
    for node in model_nodes(proto):
        for attribute in node.attribute:
            yield from _dense_tensors(attribute)
        for _, graph in subgraphs(node):
            yield from graph.initializer


def parse(content: bytes, file: Path) -> ModelProto:
    """Return the message in the bytes of an ONNX file, normalised.

    ModelError if the bytes are not an ONNX message, or it has no graph.
    """
    with readable(file):
        proto: ModelProto = ModelProto.FromString(content)
        check_text(proto)
        normalise(proto, file)
        return proto


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Turn errors from a malformed or too deeply nested message, or from lack of memory, into a ModelError."""
    try:
        yield
    except (DecodeError, UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise ModelError(f"model {str(file)!r} is not a readable ONNX file: {one_line(error)}") from None


def normalise(proto: ModelProto, file: Path) -> None:
    """Bring an old or loosely written model to the form of the newest IR version.

    ModelError if it has no graph, or imports no operator set.
    """
    if not proto.HasField("graph") or not proto.HasField("ir_version"):
        raise ModelError(f"model {str(file)!r} holds no ONNX graph with an IR version")
    if not proto.opset_import:
        if proto.ir_version >= 3:
            raise ModelError("the model imports no operator set; from IR version 3 on it must")
        proto.opset_import.add(domain="", version=1)  # The implicit import before IR version 3.
        proto.ir_version = 3
    for holder in (proto, *proto.functions):
        imports = opset_imports(holder)
        del holder.opset_import[:]
        for domain, version in imports.items():
            holder.opset_import.add(domain=domain, version=version)
    for function in proto.functions:
        function.domain = "" if function.domain == "ai.onnx" else function.domain
    for holder in (*model_graphs(proto), *proto.functions):
        give_own_names(holder.node)
    for node in model_nodes(proto):
        node.domain = "" if node.domain == "ai.onnx" else node.domain
        for attribute in node.attribute:
            _give_type(attribute, node)


def anchor_tensors(proto: ModelProto, folder: Path) -> None:
    """Check every tensor, and read its data into the model; large initializers of the main graph are only anchored.

    ModelError if shape, element type and data of one do not agree.
    """
    for tensor, owner in _initializers(proto.graph):
        if _stays_outside(tensor):
            anchor(tensor, folder, owner)
        else:
            tensor.CopyFrom(complete(tensor, folder, owner))
    for tensor, owner in _inner_tensors(proto):
        tensor.CopyFrom(complete(tensor, folder, owner))
    for node in model_nodes(proto):
        _make_dense(node)


def stored_tensors(proto: ModelProto) -> Iterator[tuple[TensorProto, str]]:
    """Yield every tensor of a model, the parts of sparse ones too, each with its title in messages."""
    yield from _initializers(proto.graph)
    yield from _inner_tensors(proto)


def _inner_tensors(proto: ModelProto) -> Iterator[tuple[TensorProto, str]]:
    """Yield the tensors that are not initializers of the main graph, each with its title in messages."""
    for function in proto.functions:
        yield from _in_attributes(function.attribute_proto, f"function {quoted(function.name)}")
    for node in model_nodes(proto):
        yield from _in_attributes(node.attribute, title(node))
        for _, graph in subgraphs(node):
            yield from _initializers(graph)


def without_weights(proto: ModelProto, folder: Path) -> tuple[str, ...]:
    """Replace initializers of the main graph that are stored in other files by inputs, and return their names.

    A small one is read instead, if its file is there.
    """
    graph, unknown = proto.graph, []
    inputs = {value.name for value in graph.input}
    for tensor, owner in list(_initializers(graph)):
        if not is_external(tensor):
            continue
        if not _stays_outside(tensor):
            with suppress(ModelError):
                tensor.CopyFrom(complete(tensor, folder, owner))
                continue
        unknown.append(tensor.name)
        if tensor.name not in inputs:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        graph.initializer.remove(tensor)
    return tuple(unknown)


def _stays_outside(tensor: TensorProto) -> bool:
    """Return whether an initializer of the main graph is left in its file until the model is run or written."""
    return is_external(tensor) and prod(tensor.dims) > LARGEST_KEPT


def _make_dense(node: NodeProto) -> None:
    """Replace the sparse tensor of a Constant by a dense one, which every operator takes."""
    for attribute in node.attribute if (node.domain, node.op_type) == ("", "Constant") else ():
        if attribute.name == "sparse_value" and attribute.HasField("sparse_tensor"):
            dense = dense_tensor(attribute.sparse_tensor, title(node))
            attribute.CopyFrom(helper.make_attribute("value", dense))


def _initializers(graph: GraphProto) -> Iterator[tuple[TensorProto, str]]:
    for tensor in graph.initializer:
        yield tensor, f"initializer {quoted(tensor.name)}"


def _in_attributes(attributes: Iterable[AttributeProto], owner: str) -> Iterator[tuple[TensorProto, str]]:
    for attribute in attributes:
        for tensor in _tensors(attribute):
            yield tensor, f"attribute {quoted(attribute.name)} of {owner}"


def _give_type(attribute: AttributeProto, node: NodeProto) -> None:
    """Write the type of an attribute, which IR version 1 leaves out."""
    if attribute.type != AttributeProto.UNDEFINED:
        return
    by_field = {"f": "FLOAT", "i": "INT", "s": "STRING", "t": "TENSOR", "g": "GRAPH"}
    values = [f.name for f, _ in attribute.ListFields() if f.name not in ("name", "doc_string", "type")]
    kinds = [by_field.get(name, name.upper()) for name in values]
    if len(kinds) != 1 or kinds[0] not in AttributeProto.AttributeType.keys():  # noqa: SIM118  an enum, not a dict
        raise ModelError(f"{title(node)}: attribute {quoted(attribute.name)} has no type and not one value")
    attribute.type = AttributeProto.AttributeType.Value(kinds[0])


def _dense_tensors(attribute: AttributeProto) -> list[TensorProto]:
    return [*([attribute.t] if attribute.HasField("t") else []), *attribute.tensors]


def _tensors(attribute: AttributeProto) -> list[TensorProto]:
    sparse = [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
    parts = [part for tensor in (*sparse, *attribute.sparse_tensors) for part in (tensor.values, tensor.indices)]
    return [*_dense_tensors(attribute), *parts]


def check_text(message: Any) -> None:
    """Refuse a message in which a text field, at any depth, holds bytes, protobuf's result for invalid UTF-8."""
    if isinstance(message, TensorProto):
        # The data of a tensor may be large; listing its fields would copy them.
        _check_string("name of a tensor", message.name)
        _check_string("doc_string of a tensor", message.doc_string)
        for entry in message.external_data:
            check_text(entry)
        return
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in (value,) if hasattr(value, "ListFields") else value:
                check_text(item)
        elif field.type == field.TYPE_STRING:
            for item in (value,) if isinstance(value, str | bytes) else value:
                _check_string(f"{field.name} in {message.DESCRIPTOR.name}", item)


def _check_string(field: str, value: str | bytes) -> None:
    if isinstance(value, bytes):
        raise ModelError(f"the ONNX file has a {field} that is not UTF-8 text; the file is damaged")
