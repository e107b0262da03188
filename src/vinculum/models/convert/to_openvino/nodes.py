"""The nodes of an ONNX model in order, with calls of functions expanded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass

from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto

from vinculum.errors import ModelError
from vinculum.models.convert.to_openvino.writer import Value
from vinculum.models.onnx.functions import DEEPEST_CALL, key_of
from vinculum.models.onnx.scopes import name_of, opset_imports, title


@dataclass(frozen=True)
class PlainNode:
    """A node that is not a function call, in the context of its callers."""

    node: NodeProto  # As in the file.
    path: str  # The enclosing function calls, joined by ``/``; ``""`` at the top.
    opset: int  # The version of ONNX's own operator set that applies to the node.
    attributes: dict[str, AttributeProto]  # References to a function's attributes are replaced by the caller's values.
    values: MutableMapping[str, Value]  # The values in scope by name; the node's result is added to them.

    @property
    def title(self) -> str:
        """The node's title in messages."""
        return title(self.node, self.path)

    @property
    def layer_name(self) -> str:
        """The name of the layer that replaces the node."""
        return f"{self.path}/{name_of(self.node)}" if self.path else name_of(self.node)

    @property
    def tensor_name(self) -> str:
        """The name of the node's result; ``""`` in a function, where each call would use the same names."""
        return "" if self.path else self.node.output[0]

    def operand(self, place: int) -> Value | None:
        """Return an operand, None if it is omitted."""
        names = self.node.input
        return self.values.get(names[place]) if place < len(names) else None


def plain_nodes(model: ModelProto, values: MutableMapping[str, Value]) -> Iterator[PlainNode]:
    """Yield the nodes of a model; each function call has values of its own.

    The caller adds each node's result to the node's `values` before it requests the next node.

    - `model`: as `vinculum.models.source.SourceFile.complete` returns it.
    """
    functions = {key_of(function): function for function in model.functions}

    def walk(
        holder: ModelProto | FunctionProto,
        path: str,
        values: MutableMapping[str, Value],
        given: Mapping[str, AttributeProto],
        depth: int,
    ) -> Iterator[PlainNode]:
        opset = opset_imports(holder).get("", 0)
        for node in holder.graph.node if isinstance(holder, ModelProto) else holder.node:
            attributes = dict(_resolved(node, given))
            function = functions.get((node.domain, node.op_type, node.overload))
            if function is None:
                yield PlainNode(node, path, opset, attributes, values)
                continue
            if depth == DEEPEST_CALL:
                raise ModelError(f"{title(node)} calls functions more than {DEEPEST_CALL} deep, or in a circle")
            operands = zip(function.input, node.input, strict=False)
            inner = {formal: values[actual] for formal, actual in operands if actual}
            defaults = {attribute.name: attribute for attribute in function.attribute_proto}
            inner_path = f"{path}/{function.name}" if path else function.name
            yield from walk(function, inner_path, inner, defaults | attributes, depth + 1)
            results = zip(function.output, node.output, strict=False)
            values.update((actual, inner[formal]) for formal, actual in results if actual)

    yield from walk(model, "", values, {}, 0)


def _resolved(node: NodeProto, given: Mapping[str, AttributeProto]) -> Iterator[tuple[str, AttributeProto]]:
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            yield attribute.name, attribute
        elif attribute.ref_attr_name in given:
            yield attribute.name, given[attribute.ref_attr_name]
