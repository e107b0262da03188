"""Exposing values in the branches of an If and in the body of a Loop as additional outputs of the node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.models.onnx.rewriter import names_in, unique_name
from vinculum.models.onnx.scopes import subgraphs
from vinculum.spec.element_types import ElementType
from vinculum.tensors.storage import dtype_of

NOT_TAKEN = (-1,)
"""The shape that marks a value that does not exist."""
_TAKES_EVERY_CONSTANT = 9
"""The first operator set in which a Constant can have any element type."""


class Bodies:
    """Adds outputs to the nodes of a model's main graph that hold subgraphs.

    A Loop stacks the values of its iterations. An If has two outputs for each value: the value flattened to one
    dimension, and its shape. For the branch that is not taken the shape is ``NOT_TAKEN``.

    - `model`: The model; it is modified.
    - `opset`: The model's operator set.
    """

    def __init__(self, model: ModelProto, opset: int) -> None:
        self._taken = names_in(model)
        self._opset = opset
        self._nodes: dict[str, tuple[NodeProto, str]] = {}
        seen: Counter[str] = Counter()
        for node in model.graph.node:
            inner = [name for name, _ in subgraphs(node)]
            seen[node.op_type] += bool(inner)
            number = f"#{seen[node.op_type]}" if seen[node.op_type] > 1 else ""
            self._nodes |= {f"{node.op_type}{number}:{name}": (node, name) for name in inner}

    def is_stacked(self, path: str) -> bool:
        """Tell whether values at a path are stacks over all iterations."""
        return self._nodes[path][0].op_type == "Loop"

    def can_expose(self, path: str) -> bool:
        """Tell whether values at a path, as in `Division.path`, can be exposed."""
        node, _ = self._nodes.get(path, (NodeProto(), ""))
        return not node.domain and node.op_type in ("If", "Loop") and self._opset >= _TAKES_EVERY_CONSTANT

    def expose(self, path: str, values: Sequence[str], element_type: ElementType) -> list[str]:
        """Expose values of one element type and return their names in the main graph: for an If two per value."""
        node, attribute = self._nodes[path]
        code = element_type.onnx_code or 0
        ((_, body), *_) = ((name, graph) for name, graph in subgraphs(node) if name == attribute)
        if self.is_stacked(path):
            self._complete(node, len(body.output) - 1)  # The body's loop condition is not an output of the node.
            return [self._exposed(node, body, self._added(body, "Identity", value), code) for value in values]
        self._complete(node, len(body.output))
        ((_, other), *_) = ((name, graph) for name, graph in subgraphs(node) if name != attribute)
        names: list[str] = []
        for value in values:
            flat = self._added(body, "Reshape", value, self._constant(body, np.array([-1])))
            names.append(self._exposed(node, body, flat, code))
            self._add_output(other, self._constant(other, np.empty(0, dtype_of(element_type))), code)
            names.append(self._exposed(node, body, self._added(body, "Shape", value), TensorProto.INT64))
            self._add_output(other, self._constant(other, np.array(NOT_TAKEN)), TensorProto.INT64)
        return names

    def _complete(self, node: NodeProto, outputs: int) -> None:
        while len(node.output) < outputs:  # A node may omit its last outputs.
            node.output.append(unique_name("left_out", self._taken))

    def _exposed(self, node: NodeProto, graph: GraphProto, value: str, code: int) -> str:
        self._add_output(graph, value, code)
        node.output.append(unique_name("exposed", self._taken))
        return str(node.output[-1])

    def _add_output(self, graph: GraphProto, value: str, code: int) -> None:
        graph.output.append(helper.make_tensor_value_info(value, code, None))

    def _added(self, graph: GraphProto, operator: str, *operands: str) -> str:
        name = unique_name("handed_out", self._taken)
        graph.node.append(helper.make_node(operator, operands, [name], unique_name(f"{name}_node", self._taken)))
        return name

    def _constant(self, graph: GraphProto, array: NDArray[Any]) -> str:
        name = unique_name("constant", self._taken)
        value = numpy_helper.from_array(array)
        title = unique_name(f"{name}_node", self._taken)
        graph.node.append(helper.make_node("Constant", [], [name], title, value=value))
        return name


def taken_branch(exposed: Sequence[NDArray[Any]]) -> list[NDArray[Any]] | None:
    """Return the values of an If's branch from pairs of flat value and shape; None if the other branch was taken.

    ValueError if a shape is invalid or does not match the value.
    """
    if np.array_equal(exposed[1], NOT_TAKEN):
        return None
    pairs = zip(exposed[::2], exposed[1::2], strict=True)
    return [flat.reshape(_sizes(shape)) for flat, shape in pairs]


def _sizes(shape: NDArray[Any]) -> list[int]:
    sizes = [int(size) for size in shape.reshape(-1)]
    if shape.ndim != 1 or min(sizes, default=0) < 0:
        raise ValueError("no shape")
    return sizes
