"""The scopes of an ONNX model, its graph, its functions, and the subgraphs in their nodes, and the values in them."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, helper
from onnx.defs import onnx_opset_version

from vinculum.errors import ModelError, SpecLookupError
from vinculum.models.onnx.tensors import array_of, tensor_of
from vinculum.spec.element_types import ElementType, by_onnx_code
from vinculum.tensors.shapes import SymbolicShape
from vinculum.text import quoted

Types = ChainMap[str, TypeProto]
Key = tuple[str, str, str]
"""Domain, name and overload of a function."""


@dataclass(frozen=True)
class Scope:
    """A graph or a function body, and the values and operator sets visible in it."""

    path: str  # As in `Division.path`.
    holder: GraphProto | FunctionProto  # The graph or function that holds the nodes.
    opsets: Mapping[str, int]  # The imported operator sets, by domain.
    types: Types  # The types that the file declares, by value name, including those of the enclosing scopes.
    around: Scope | None = None  # The enclosing scope, if this is a subgraph.

    @cached_property
    def producers(self) -> Mapping[str, NodeProto | None]:
        """The node that makes each value, None for an input; values of the enclosing scopes are included."""
        inputs = (value if isinstance(value, str) else value.name for value in self.holder.input)
        own: dict[str, NodeProto | None] = dict.fromkeys(inputs)
        own.update((name, node) for node in self.holder.node for name in node.output)
        return own if self.around is None else {**self.around.producers, **own}

    @cached_property
    def constants(self) -> Mapping[str, TensorProto]:
        """The values that are the same in every run: initializers that no input overrides, and those of Constant nodes.

        Those of the enclosing scopes are included.
        """
        made = {name for node in self.holder.node for name in node.output}
        own: dict[str, TensorProto] = {}
        if isinstance(self.holder, GraphProto):
            overridable = {value.name for value in self.holder.input}
            made |= overridable
            own = {tensor.name: tensor for tensor in self.holder.initializer if tensor.name not in overridable}
        for node in self.holder.node:
            tensor = tensor_of(node) if node.domain == "" and node.op_type == "Constant" else None
            if tensor is not None:
                own[node.output[0]] = tensor
        outer = {} if self.around is None else self.around.constants
        return {name: tensor for name, tensor in outer.items() if name not in made} | own

    def constant(self, name: str) -> NDArray[Any] | None:
        """Return the elements of a value that is the same in every run, else None."""
        return array_of(self.constants[name]) if name in self.constants else None

    def code_of(self, name: str) -> int:
        """Return the TensorProto number of a value's element type, 0 if it is not known."""
        declared = self.types[name].tensor_type.elem_type if name in self.types else TensorProto.UNDEFINED
        constant = None if declared else self.constants.get(name)
        return int(declared if constant is None else constant.data_type)

    def shape_of(self, name: str) -> SymbolicShape | None:
        """Return a value's shape as far as it is known, None if not even its rank is."""
        declared = declared_shape(self.types[name]) if name in self.types else None
        constant = None if declared is not None else self.constants.get(name)
        return declared if constant is None else tuple(constant.dims)


def scopes(model: ModelProto, function_names: Mapping[str, str] | None = None) -> Iterator[Scope]:
    """Yield every scope of a model, those of functions last.

    - `function_names`: the paths of functions, by their names: the original ones, if they were given others.
    """
    yield from graph_scopes(model)
    paths = function_paths(model) if function_names is None else {}
    for function in model.functions:
        path = paths[key_of(function)] if function_names is None else function_names[function.name]
        yield from _nested(Scope(path, function, opset_imports(function), ChainMap()))


def function_paths(model: ModelProto) -> dict[Key, str]:
    """Return the paths of a model's functions: their names, with domain and overload where several have one name."""
    keys = [key_of(function) for function in model.functions]
    same_name = Counter(name for _, name, _ in keys)
    return {key: _joined(key) if same_name[key[1]] > 1 else key[1] for key in keys}


def function_title(key: Key) -> str:
    """Return a function's title in messages."""
    return quoted(_joined(key))


def _joined(key: Key) -> str:
    return ":".join(part for part in key if part)


def key_of(function: FunctionProto) -> Key:
    """Return the key of a function."""
    return function.domain, function.name, function.overload


def graph_scopes(model: ModelProto) -> Iterator[Scope]:
    """Yield the scopes of a model outside of functions."""
    yield from _nested(Scope("", model.graph, opset_imports(model), _declared_types(model.graph, ChainMap())))


def opset_imports(holder: ModelProto | FunctionProto) -> dict[str, int]:
    """Return the operator sets that a model or function imports, with ``""`` for ``"ai.onnx"``.

    ModelError if a domain is imported in two versions, in a version below 1, or in one that onnx does not support yet.
    """
    opsets: dict[str, int] = {}
    for entry in holder.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        name = quoted(domain or "ai.onnx")
        if entry.version < 1:
            raise ModelError(f"the model imports operator set {entry.version} of {name}; allowed: from 1 on")
        if not domain and entry.version > onnx_opset_version():
            raise ModelError(
                f"the model imports operator set {entry.version} of {name}; the installed onnx package supports those "
                f"up to {onnx_opset_version()}: install a newer one"
            )
        if opsets.setdefault(domain, entry.version) != entry.version:
            versions = f"{opsets[domain]} and {entry.version}"
            raise ModelError(f"the model imports operator sets {versions} of {name}; allowed: one")
    return opsets


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yield nodes and the nodes of their subgraphs, at any depth, in the file's order."""
    for node in nodes:
        yield node
        for _, graph in subgraphs(node):
            yield from all_nodes(graph.node)


def model_nodes(model: ModelProto) -> Iterator[NodeProto]:
    """Yield every node of a model: of its graph, then of its functions, subgraphs included."""
    for holder in (model.graph, *model.functions):
        yield from all_nodes(holder.node)


def model_graphs(model: ModelProto) -> Iterator[GraphProto]:
    """Yield the graph of a model and every subgraph in it and in its functions."""
    yield model.graph
    for node in model_nodes(model):
        yield from (graph for _, graph in subgraphs(node))


def all_graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """Yield a graph and its subgraphs at any depth, outer graphs first."""
    yield graph
    for node in graph.node:
        for _, inner in subgraphs(node):
            yield from all_graphs(inner)


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Yield the subgraphs in a node's attributes, each with the attribute's name."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        for graph in attribute.graphs:
            yield attribute.name, graph


def inputs_of(node: NodeProto) -> tuple[str, ...]:
    """Return the values that a node uses, each once: its inputs, and values that its subgraphs take from outside."""
    seen = [name for _, graph in subgraphs(node) for name in _implicit_inputs(graph)]
    return tuple(dict.fromkeys(name for name in (*node.input, *seen) if name))


def _implicit_inputs(graph: GraphProto) -> Iterator[str]:
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        yield from (name for name in inputs_of(node) if name not in own)
        own.update(node.output)
    yield from (value.name for value in graph.output if value.name not in own)


def name_of(node: NodeProto) -> str:
    """Return a node's name, or its first output's if it has none."""
    return node.name or next(iter(node.output), "")


def give_own_names(nodes: Iterable[NodeProto]) -> None:
    """Make the names of a scope's nodes unique, by adding a node's first result to a name that another node has.

    Nodes that the file names keep their names before those that are named after their results.
    """
    taken = set[str]()
    for node in sorted(nodes, key=lambda node: not node.name):
        while name_of(node) in taken:
            node.name = f"{name_of(node)} ({next(iter(node.output), '')})"
        taken.add(name_of(node))


def title(node: NodeProto, path: str = "") -> str:
    """Return a node's title in messages: its name, its operator, and its path unless it is in the main graph."""
    domain = f"{node.domain}." if node.domain else ""
    where = f" in {quoted(path)[1:-1]}" if path else ""
    return f"node {quoted(name_of(node))} ({quoted(domain + node.op_type)[1:-1]}){where}"


def steps(nodes: Iterable[NodeProto]) -> Iterator[tuple[NodeProto, str]]:
    """Yield the nodes of a scope that hold subgraphs, each with its name in paths: ``"If"``, ``"If#2"``."""
    seen: Counter[str] = Counter()
    for node in nodes:
        if any(subgraphs(node)):
            seen[node.op_type] += 1
            number = f"#{seen[node.op_type]}" if seen[node.op_type] > 1 else ""
            yield node, f"{node.op_type}{number}"


def inner_path(path: str, step: str, attribute: str) -> str:
    """Return the path of a subgraph in a node's attribute."""
    return f"{path}/{step}:{attribute}" if path else f"{step}:{attribute}"


def _nested(scope: Scope) -> Iterator[Scope]:
    yield scope
    for node, step in steps(scope.holder.node):
        for attribute, graph in subgraphs(node):
            path = inner_path(scope.path, step, attribute)
            yield from _nested(Scope(path, graph, scope.opsets, _declared_types(graph, scope.types), scope))


def _declared_types(graph: GraphProto, outer: Types) -> Types:
    declared = {info.name: info.type for group in (graph.value_info, graph.output, graph.input) for info in group}
    for tensor in graph.initializer:
        declared[tensor.name] = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    return outer.new_child(declared)


def declared_shape(declared: TypeProto) -> SymbolicShape | None:
    """Return the shape that a type declares, None if it declares not even a rank."""
    if not declared.tensor_type.HasField("shape"):
        return None
    sizes: list[int | str | None] = []
    for dim in declared.tensor_type.shape.dim:
        if dim.HasField("dim_value"):
            # Old exporters write -1 for an unknown dimension.
            sizes.append(dim.dim_value if dim.dim_value >= 0 else None)
        else:
            # ONNX's inference generates names for unknown dimensions.
            sizes.append(None if dim.dim_param.startswith("unk__") else dim.dim_param or None)
    return tuple(sizes)


def declared_element_type(code: int) -> ElementType | str:
    """Return the element type of a TensorProto number, or its ONNX name if no operator here divides it.

    ModelError if there is no such number.
    """
    try:
        return by_onnx_code(code)
    except SpecLookupError:
        if code == TensorProto.UNDEFINED or code not in TensorProto.DataType.values():
            raise ModelError(f"the element type number {code} is not one of ONNX") from None
        return str(TensorProto.DataType.Name(code)).lower()
