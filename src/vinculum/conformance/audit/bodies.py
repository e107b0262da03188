"""Values of the branches of an If and of the body of a Loop, handed out as further outputs of the node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

from vinculum.models.onnx_rewriter import names_in, unique_name
from vinculum.models.onnx_scopes import subgraphs
from vinculum.spec.element_types import ElementType
from vinculum.tensors.storage import dtype_of

_TAKES_EVERY_CONSTANT = 9
"""The operator set from which on a Constant may be of any element type."""


class Bodies:
    """Adds outputs to the nodes of a model's main graph that hold subgraphs.

    A Loop stacks what an iteration hands out. An If hands out empty tensors for the branch that is not taken.

    Parameters
    ----------
    model : ModelProto
        It is modified.
    opset : int
        Its operator set.
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
        """Tell whether values at a path are handed out for all iterations together."""
        return self._nodes[path][0].op_type == "Loop"

    def can_expose(self, path: str) -> bool:
        """Tell whether values at a path, as in `Division.path`, can be handed out."""
        node, _ = self._nodes.get(path, (NodeProto(), ""))
        if node.domain or node.op_type == "Loop":
            return not node.domain
        return node.op_type == "If" and self._opset >= _TAKES_EVERY_CONSTANT

    def expose(self, path: str, values: Sequence[str], element_type: ElementType) -> list[str]:
        """Hand out values of one element type and return the names that they have in the main graph."""
        node, attribute = self._nodes[path]
        graphs = [(name == attribute, graph) for name, graph in subgraphs(node)]
        while len(node.output) < max(len(graph.output) for _, graph in graphs):
            node.output.append(unique_name("left_out", self._taken))  # Trailing outputs may be left out.
        names: list[str] = []
        for value in values:
            for holds_it, graph in graphs:
                self._hand_out(graph, value if holds_it else None, element_type)
            names.append(unique_name(f"{value}_exposed", self._taken))
            node.output.append(names[-1])
        return names

    def _hand_out(self, graph: GraphProto, value: str | None, element_type: ElementType) -> None:
        name = unique_name(f"{value or 'nothing'}_handed_out", self._taken)
        if value is not None:
            graph.node.append(helper.make_node("Identity", [value], [name], unique_name(f"{name}_node", self._taken)))
        else:
            empty = numpy_helper.from_array(np.empty(0, dtype_of(element_type)))
            title = unique_name(f"{name}_node", self._taken)
            graph.node.append(helper.make_node("Constant", [], [name], title, value=empty))
        graph.output.append(helper.make_tensor_value_info(name, element_type.onnx_code or 0, None))
