"""One ONNX node as a model of its own, its inputs declared by the values that it is given."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from onnx import IR_VERSION, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto, helper
from onnx.defs import get_all_schemas, onnx_opset_version

from vinculum.errors import ElementTypeError, ModelError
from vinculum.models.onnx.scopes import all_nodes, title
from vinculum.tensors.storage import as_operand
from vinculum.text import quoted


def model_of_node(node: NodeProto, inputs: Any, opset: int | None) -> tuple[ModelProto, dict[str, Any]]:
    """Return a model that holds one node, and its inputs by name.

    - `inputs`: by name; or by place, as many as the node names; or the only one. None for one that is left out.
    - `opset`: of ONNX's own domain, None for the newest; of others the newest is taken.

    ModelError or ElementTypeError if it is no node, an input is missing or surplus, or one has no type.
    """
    if not isinstance(node, NodeProto):
        raise ModelError(f"the node is a {type(node).__name__}, not an onnx.NodeProto")
    newest = onnx_opset_version()
    version = newest if opset is None else opset
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= newest:
        raise ModelError(f"opset_version is {opset!r}; allowed: 1 to {newest}")
    named = {name: value for name, value in _by_name(node, inputs).items() if value is not None}
    alone = deepcopy(node)
    for place, name in enumerate(node.input):
        alone.input[place] = name if name in named else ""
    model = ModelProto(ir_version=IR_VERSION)
    model.graph.name = "node"
    model.graph.node.append(alone)
    for name, value in named.items():
        model.graph.input.append(ValueInfoProto(name=name, type=_type_of(value, f"input {quoted(name)}")))
    model.graph.output.extend(ValueInfoProto(name=name) for name in node.output if name)
    domains = {"ai.onnx" if n.domain == "" else n.domain for n in all_nodes([node])} | {"ai.onnx"}
    for domain in sorted(domains):
        model.opset_import.add(domain=domain, version=version if domain == "ai.onnx" else _newest(domain))
    return model, named


def _by_name(node: NodeProto, inputs: Any) -> Mapping[str, Any]:
    if isinstance(inputs, Mapping):
        for name in inputs:
            if not isinstance(name, str):
                raise ModelError(f"{title(node)}: inputs are given by name; {name!r} is not a string")
        return inputs
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    distinct = list(dict.fromkeys(name for name in node.input if name))
    if len(values) == len(distinct):
        return dict(zip(distinct, values, strict=True))
    if len(values) != len(node.input):
        raise ModelError(f"{title(node)} has {len(distinct)} inputs; {len(values)} values are given")
    named: dict[str, Any] = {}
    for name, value in zip(node.input, values, strict=True):
        if not name and value is None:
            continue
        if not name or named.setdefault(name, value) is not value:
            raise ModelError(f"{title(node)}: input {quoted(name)} is given a value that it cannot take")
    return named


def _type_of(value: Any, owner: str, *, sized: bool = True) -> TypeProto:
    if isinstance(value, list | tuple):
        # An empty list is a sequence of anything.
        item = (
            _type_of(value[0], owner, sized=False) if value else helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        )
        return helper.make_sequence_type_proto(item)
    array = as_operand(value, owner)
    code: int = TensorProto.STRING
    if array.dtype.kind not in "OUST":
        try:
            code = helper.np_dtype_to_tensor_dtype(array.dtype.newbyteorder("="))
        except (KeyError, ValueError):
            raise ElementTypeError(f"{owner} has NumPy type {array.dtype}, not an element type of ONNX") from None
    return helper.make_tensor_type_proto(code, array.shape if sized else None)


def _newest(domain: str) -> int:
    return max((schema.since_version for schema in get_all_schemas() if schema.domain == domain), default=1)
