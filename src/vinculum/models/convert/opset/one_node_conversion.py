"""One node handed to the onnx package's version converter, which knows whole models only.

What its inner representation loses (names of values, documentation, metadata) never goes in: operands and results have
names of ours there, and get their own back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from math import prod

from google.protobuf.message import DecodeError, EncodeError
from onnx import ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto, numpy_helper
from onnx.shape_inference import InferenceError
from onnx.version_converter import ConvertError, convert_version

from vinculum.models.onnx.constants import tensor_of
from vinculum.models.onnx.inference import LARGEST_KEPT, check_operand_types, infer_types
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.text import one_line

_IR_VERSION = 10


def converted_alone(
    node: NodeProto,
    opsets: tuple[int, int],
    types: MutableMapping[str, TypeProto],
    constants: Mapping[str, TensorProto],
    rewriter: Rewriter,
) -> list[NodeProto]:
    """Return what the version converter makes of a node; new constants go into the rewriter, new types to the types.

    - `node`: without subgraphs, and without attributes of a function around it.
    - `opsets`: from which operator set to which.
    - `types`: of the node's operands, as far as they are known; those of new values are added.
    - `constants`: what operands are the same in every run.

    ValueError if the converter cannot do it; the message gives its reason.
    """
    given = [name for name in dict.fromkeys(node.input) if name]
    made = [name for name in node.output if name]
    inside = {name: f"i{n}" for n, name in enumerate(given)} | {name: f"o{n}" for n, name in enumerate(made)}
    model = _model_of(node, opsets[0], inside, types, constants)
    try:
        check_operand_types(model)
        result = convert_version(model, opsets[1])
    except (RuntimeError, ConvertError, InferenceError, ValueError, TypeError, LookupError) as error:
        raise ValueError(f"onnx.version_converter says: {_reason(error)}") from None
    except (DecodeError, EncodeError, MemoryError) as error:
        raise ValueError(f"onnx.version_converter fails: {one_line(error)}") from None
    return _with_own_names(result, node, inside, types, rewriter)


def _model_of(
    node: NodeProto,
    opset: int,
    inside: Mapping[str, str],
    types: Mapping[str, TypeProto],
    constants: Mapping[str, TensorProto],
) -> ModelProto:
    model = ModelProto(ir_version=_IR_VERSION)
    model.opset_import.add(domain="", version=opset)
    model.graph.name = "node"
    alone = model.graph.node.add(op_type=node.op_type, attribute=node.attribute)
    alone.input.extend(inside.get(name, "") for name in node.input)
    alone.output.extend(inside.get(name, f"unused{place}") for place, name in enumerate(node.output))
    for name in dict.fromkeys(node.input):
        constant = constants.get(name)
        if constant is not None and prod(constant.dims) <= LARGEST_KEPT:
            tensor = numpy_helper.from_array(numpy_helper.to_array(constant), inside[name])
            model.graph.initializer.append(tensor)
        elif name:
            model.graph.input.append(ValueInfoProto(name=inside[name], type=types.get(name)))
    model.graph.output.extend(ValueInfoProto(name=inside[name], type=types.get(name)) for name in node.output if name)
    return model


def _with_own_names(
    result: ModelProto,
    node: NodeProto,
    inside: Mapping[str, str],
    types: MutableMapping[str, TypeProto],
    rewriter: Rewriter,
) -> list[NodeProto]:
    names = {"": ""} | {inner: outer for outer, inner in inside.items()}
    names |= {f"unused{place}": "" for place in range(len(node.output))}
    nodes = [new for new in result.graph.node if new.op_type != "Constant" or node.op_type == "Constant"]
    used = {name for new in nodes for name in new.input}
    for name, tensor in _constants(result):
        if name in used and name not in names:
            names[name] = rewriter.constant(numpy_helper.to_array(tensor), "constant")
    for new in nodes:
        for name in new.output:
            if name not in names:
                names[name] = rewriter.fresh(new.op_type)
    _learn_types(result, names, types)
    keeper = _keeper(nodes, node, inside)
    return [_spliced(new, names, node, rewriter, place == keeper) for place, new in enumerate(nodes)]


def _constants(result: ModelProto) -> Iterator[tuple[str, TensorProto]]:
    """Yield the converter's new constants: its nodes are not legal in every operator set that it writes them in."""
    for tensor in result.graph.initializer:
        yield tensor.name, tensor
    for new in result.graph.node:
        value = tensor_of(new) if new.op_type == "Constant" else None
        if value is not None:
            yield new.output[0], value


def _spliced(new: NodeProto, names: Mapping[str, str], node: NodeProto, rewriter: Rewriter, keeps: bool) -> NodeProto:
    name = node.name if keeps else rewriter.fresh(f"{new.op_type}_node")
    spliced = NodeProto(op_type=new.op_type, name=name, attribute=new.attribute)
    spliced.input.extend(names[value] for value in new.input)
    spliced.output.extend(names[value] for value in new.output)
    if keeps:
        spliced.metadata_props.extend(node.metadata_props)
        if node.HasField("doc_string"):
            spliced.doc_string = node.doc_string
    return spliced


def _keeper(nodes: Sequence[NodeProto], node: NodeProto, inside: Mapping[str, str]) -> int | None:
    """Return the place of the node that keeps the old one's name: the same operator, or else what makes its result."""
    made = {inside[name] for name in node.output if name}
    same = [place for place, new in enumerate(nodes) if new.op_type == node.op_type]
    return next(iter(same or [place for place, new in enumerate(nodes) if made & set(new.output)]), None)


def _learn_types(result: ModelProto, names: Mapping[str, str], types: MutableMapping[str, TypeProto]) -> None:
    inferred = infer_types(result)
    for info in (*inferred.graph.value_info, *inferred.graph.output):
        if names.get(info.name) and info.type.WhichOneof("value") is not None:
            types.setdefault(names[info.name], info.type)


def _reason(error: Exception) -> str:
    """Return what the converter says, without the place in its source."""
    words = re.sub(r"^.*?Assertion .*? failed: ", "", one_line(error))
    return re.sub(r"^\S+:\d+: \w+: ", "", words)
