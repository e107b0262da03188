"""Writing the nodes that replace a node, in the notation of their operator set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.models.onnx.scopes import model_graphs, model_nodes
from vinculum.spec.element_types import ElementType

INITIALIZERS_ALONE, FUNCTIONS = 4, 8
"""The first IR versions in which an initializer need not be an input too, and in which a model can hold functions."""
CONSTANT_OF_ANY_TYPE = 9
"""The first operator set in which a Constant can be of any type."""


class Rewriter:
    """Collects the nodes and constants that replace one node; their names are unique in the whole model.

    - `holder`: the node's graph or function. A function has no initializers; its constants become nodes.
    - `opset`: the operator set of the new nodes.
    - `taken`: the names in use in the whole model, as `names_in` returns them; new names are added.
    - `stem`: the prefix of new names: the replaced node's name.
    """

    def __init__(self, holder: GraphProto | FunctionProto, opset: int, taken: set[str], stem: str) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.constants: dict[str, TensorProto] = {}  # By their names: initializers, or the values of nodes.
        self._in_function = isinstance(holder, FunctionProto)
        self._opset = opset
        self._taken = taken
        self._stem = stem

    def fresh(self, hint: str) -> str:
        """Return a new name, unique in the model."""
        return unique_name(f"{self._stem}_{hint}" if self._stem else hint, self._taken)

    def constant(self, array: NDArray[Any], hint: str) -> str:
        """Return the name of a constant value; ValueError if a function of the operator set cannot hold it."""
        if self._in_function and self._opset < CONSTANT_OF_ANY_TYPE and array.dtype.kind in "iu":
            raise ValueError(
                f"a function below operator set {CONSTANT_OF_ANY_TYPE} holds floats only; inline the function"
            )
        name = self.fresh(hint)
        tensor = self.constants[name] = numpy_helper.from_array(np.asarray(array), name)
        if self._in_function:
            self.nodes.append(helper.make_node("Constant", [], [name], self.fresh(f"{hint}_node"), value=tensor))
        else:
            self.initializers.append(tensor)
        return name

    def add(self, op_type: str, inputs: Sequence[str], hint: str, **attributes: Any) -> str:
        """Return the name of the one output of a new node."""
        output = self.fresh(hint)
        self.nodes.append(helper.make_node(op_type, inputs, [output], self.fresh(f"{hint}_{op_type}"), **attributes))
        return output

    def cast(self, value: str, target: ElementType, hint: str) -> str:
        """Return a value cast to another element type."""
        return self.add("Cast", [value], hint, to=target.onnx_code)

    def unsqueeze(self, value: str, axes: Sequence[int], hint: str) -> str:
        """Return a value with dimensions of size 1 at `axes` of the result."""
        if self._opset < 13:
            return self.add("Unsqueeze", [value], hint, axes=list(axes))
        return self.add("Unsqueeze", [value, self.constant(np.array(axes, np.int64), f"{hint}_axes")], hint)


def unique_name(wanted: str, taken: set[str]) -> str:
    """Return a name, numbered if it is taken, and add it to those taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name


def names_in(model: ModelProto) -> set[str]:
    """Return every name of a value or a node in a model, at any depth."""
    names: set[str] = set()
    for node in model_nodes(model):
        names.update((node.name, *node.input, *node.output))
    for function in model.functions:
        names.update((*function.input, *function.output))
    for graph in model_graphs(model):
        names.update(value.name for group in (graph.input, graph.output, graph.value_info) for value in group)
        names.update(tensor.name for tensor in graph.initializer)
    return names


def with_inputs(model: ModelProto, given: Collection[str], constants: Collection[str]) -> ModelProto:
    """Return a copy of a model whose inputs do not include constants, except those that are given."""
    copy = deepcopy(model)
    inputs = [value for value in copy.graph.input if value.name in given or value.name not in constants]
    del copy.graph.input[:]
    copy.graph.input.extend(inputs)
    return copy


def set_nodes(
    holder: GraphProto | FunctionProto, nodes: Iterable[NodeProto], initializers: Iterable[TensorProto] = ()
) -> None:
    """Replace the nodes of a graph or function, some of which may be among the new ones, and add initializers."""
    copies = [deepcopy(node) for node in nodes]  # Some may be deleted in the next line.
    del holder.node[:]
    holder.node.extend(copies)
    if isinstance(holder, GraphProto):
        holder.initializer.extend(initializers)
