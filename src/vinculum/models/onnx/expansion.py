"""``--expand``: nodes that divide internally are replaced by their function bodies, whose divisions can be audited."""

from __future__ import annotations

from google.protobuf.message import EncodeError
from onnx import GraphProto, ModelProto, NodeProto, helper
from onnx.inliner import inline_selected_functions

from vinculum.errors import ModelError
from vinculum.models.inner_divisions import ONNX
from vinculum.models.onnx.divisions import DIVIDES, guarded
from vinculum.models.onnx.rewriter import names_in, set_nodes, unique_name
from vinculum.models.onnx.scopes import all_graphs, all_nodes, inputs_of, name_of
from vinculum.text import one_line


def expanded(model: ModelProto) -> tuple[ModelProto, int]:
    """Return a model in which nodes that divide internally are replaced by their function bodies, and their number.

    A division of a body is named after the node: ``"norm/Div"``.

    - `model`: its functions are kept, and nothing is expanded in them. The types of its initializers are added to it.

    ModelError if ONNX cannot expand it.
    """
    owners = {
        output: node
        for node in all_nodes(model.graph.node)
        if (node.domain, node.op_type) in ONNX and guarded(node) is None
        for output in node.output
        if output
    }
    for graph in all_graphs(model.graph):
        for tensor in graph.initializer:  # The inliner needs their types, and only looks in value_info.
            graph.value_info.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    try:
        result = inline_selected_functions(model, list(ONNX), False, True)
    except (RuntimeError, ValueError, EncodeError) as error:
        raise ModelError(f"the model's nodes cannot be expanded: {one_line(error)}") from None
    taken = names_in(result)
    old = {name for node in all_nodes(model.graph.node) for name in node.output}
    # Rewriting a graph's nodes copies their subgraphs, so these are rewritten before.
    inner_first = list(all_graphs(result.graph))[::-1]
    stay = [_tidied(graph, old, owners, taken) for graph in inner_first]
    return result, len({id(node) for node in owners.values()}) - sum(stay)


def _tidied(graph: GraphProto, old: set[str], owners: dict[str, NodeProto], taken: set[str]) -> int:
    """Drop unused nodes of bodies, name their divisions, and return how many nodes have no body."""
    used = {value.name for value in graph.output}
    kept: list[NodeProto] = []
    for node in reversed(graph.node):
        if not used.isdisjoint(node.output) or not old.isdisjoint(node.output):
            kept.append(node)
            used.update(inputs_of(node))
    kept.reverse()
    stay = 0
    body: list[NodeProto] = []
    for node in kept:
        owner = next((owners[output] for output in node.output if output in owners), None)
        if owner is None:
            body += [node] if old.isdisjoint(node.output) else []
            continue
        stays = owner.op_type == node.op_type
        stay += stays
        for made in (*body, *([] if stays else [node])):
            if made.op_type in DIVIDES or ("", made.op_type) in ONNX:
                made.name = unique_name(f"{name_of(owner)}/{made.op_type}", taken)
        body = []
    set_nodes(graph, kept)
    return stay
