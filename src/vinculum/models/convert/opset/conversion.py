"""Conversion of a whole ONNX model to another operator set.

Nodes are converted from version to version of their operators. A version that only allows more types, or adds optional
attributes and operands, leaves a node unchanged. Where the notation or the meaning has changed, `table` has a version
adapter. The results are checked against the schemas of the target, so that every node written is valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from onnx import ModelProto, NodeProto, helper
from onnx.defs import OpSchema, onnx_opset_version

from vinculum.errors import AttributeValueError, ModelError
from vinculum.models.convert.opset.adaptation import Adaptation, Change, OnnxConversion, Reason
from vinculum.models.convert.opset.operator_versions import default_of, problem_with, version_title
from vinculum.models.convert.opset.table import ADAPTERS, ANY
from vinculum.models.onnx.file import check_no_training
from vinculum.models.onnx.functions import since, version_at
from vinculum.models.onnx.inference import inner_first
from vinculum.models.onnx.rewriter import INITIALIZERS_ALONE, Rewriter, names_in, set_nodes
from vinculum.models.onnx.scopes import Scope, all_graphs, name_of, subgraphs, title

FIRST_TARGET = 7
"""The first operator set that models are converted to: runtimes have no kernels of the divisions before."""
_LONGEST_LIST = 3
_OPTIONAL = OpSchema.FormalParameterOption.Optional
_HINTS = {"consumed_inputs"}
"""Attributes without effect."""


def convert_opset(model: ModelProto, opset: int) -> OnnxConversion:
    """Return a model in another operator set in which every division gives the same bits.

    Every Div and Reciprocal of the graph, its subgraphs and its functions is rewritten for the operator set. Other
    operators are kept unless their version changes; then this package's version adapters rewrite them.

    - `model`: as `vinculum.models.source.read_source` reads it. It is not changed.
    - `opset`: the operator set of the new model, from 7 to the newest that the onnx package supports.

    AttributeValueError if there is no such operator set. ModelError if the model is not representable in it; the
    message names the nodes and the reasons.

    An element type that the new version of a division lacks is carried by a promoted type; `promoted_types` defines
    which and why. The policy ``"saturate"`` for integer zero divisors or MIN/-1 then gives the limits of the promoted
    type, cast back.
    """
    if not FIRST_TARGET <= opset <= onnx_opset_version():
        raise AttributeValueError(
            f"models are not converted to operator set {opset}; allowed: {FIRST_TARGET} to {onnx_opset_version()}"
        )
    check_no_training(model)
    converted = deepcopy(model)
    taken, unused_before = names_in(converted), _unused(converted)
    problems: list[str] = []
    functions = {(function.domain, function.name) for function in converted.functions}
    changes = [_convert_scope(scope, opset, taken, functions, problems) for scope in inner_first(converted)]
    if problems:
        more = f"; and {len(problems) - _LONGEST_LIST} more" if len(problems) > _LONGEST_LIST else ""
        raise ModelError("; ".join(problems[:_LONGEST_LIST]) + more)
    replaced = _unused(converted) - unused_before  # By reshaped copies.
    for position in reversed(range(len(converted.graph.initializer))):
        if converted.graph.initializer[position].name in replaced:
            del converted.graph.initializer[position]
    _import(converted, opset)
    return OnnxConversion(converted, tuple(change for group in reversed(changes) for change in group))


def _convert_scope(
    scope: Scope, opset: int, taken: set[str], functions: set[tuple[str, str]], problems: list[str]
) -> list[Change]:
    """Rewrite a scope's nodes and return the changes; nodes that are not representable are added to the problems."""
    nodes: list[NodeProto] = []
    made: list[Rewriter] = []
    changes: list[Change] = []
    for node in scope.holder.node:
        rewriter = Rewriter(scope.holder, opset, taken, name_of(node))
        try:
            if node.domain or (node.domain, node.op_type) in functions:
                rewriter.nodes.append(node)
            else:
                changes += _convert_node(node, scope, opset, rewriter)
        except ModelError as error:
            problems.append(str(error))
        nodes += rewriter.nodes
        made.append(rewriter)
    set_nodes(scope.holder, nodes, (tensor for rewriter in made for tensor in rewriter.initializers))
    return changes


def _convert_node(node: NodeProto, scope: Scope, opset: int, rewriter: Rewriter) -> list[Change]:
    """Write a node, converted to an operator set, into the rewriter, and return the changes.

    - `node`: of ONNX's own domain; valid in the operator set of its scope. Its subgraphs are not converted.

    ModelError if the node is not representable; the message names the node and the reason.
    """
    if since(node.op_type, scope.opsets[""]) == since(node.op_type, opset):
        rewriter.nodes.append(node)
        return []
    old, new = version_at(node.op_type, scope.opsets[""]), version_at(node.op_type, opset)
    where = title(node, scope.path)
    try:
        at_once = (node.op_type, ANY) in ADAPTERS  # Such an adapter checks the node itself.
        refusal = None if at_once else problem_with(node, old, scope.types)
        if refusal is not None:
            raise ValueError(f"it is not valid in operator set {scope.opsets['']}: {refusal}")
        conversion = _Conversion(scope, opset, rewriter)
        conversion.go(deepcopy(node), scope.opsets[""])
    except ValueError as error:
        raise ModelError(f"{where} is not representable in operator set {opset}: {error}") from None
    if conversion.reasons:
        return [Change(where, *reason) for reason in conversion.reasons]
    made = rewriter.nodes
    if len(made) == 1 and made[0] == node:
        return []
    names = ", ".join(n.op_type for n in made) or "an initializer"
    what = "attributes and inputs rewritten" if names == node.op_type else f"became {names}"
    return [Change(where, what, f"{version_title(old)} and {version_title(new)} are written differently")]


class _Conversion:
    def __init__(self, scope: Scope, opset: int, rewriter: Rewriter) -> None:
        self.reasons: list[Reason] = []
        self._scope, self._opset, self._rewriter = scope, opset, rewriter

    def go(self, node: NodeProto, source: int) -> None:
        """Convert a node from its operator set to the target, version by version, and write it."""
        at = source
        while at != self._opset:
            before = at
            at = self._opset if (node.op_type, ANY) in ADAPTERS else before + (1 if before < self._opset else -1)
            if since(node.op_type, before) == since(node.op_type, at):
                continue
            parts = self._adapted(node, before, at)
            if len(parts) != 1:
                for part in parts:
                    self.go(part, at)
                return
            (node,) = parts
        refusal = problem_with(node, version_at(node.op_type, self._opset), self._scope.types)
        if refusal is not None:
            raise ValueError(refusal)
        self._rewriter.nodes.append(node)

    def _adapted(self, node: NodeProto, before: int, after: int) -> list[NodeProto]:
        """Return the nodes that a node becomes between two operator sets that have different versions of it."""
        newer, older = (version_at(node.op_type, opset) for opset in (max(before, after), min(before, after)))
        if newer is not None and older is not None:
            step = Adaptation(node, newer, older, before < after, self._scope, self._rewriter, self._opset)
            rule = ADAPTERS.get((node.op_type, ANY)) or ADAPTERS.get((node.op_type, newer.since_version))
            parts = None if rule is None else rule(step)
            self.reasons += step.reasons
            if parts is not None:
                return parts
            if _carries_over(step):
                return [step.node]
        if any(True for _ in subgraphs(node)):
            raise ValueError("it holds subgraphs, which the other version runs differently")
        refusal = problem_with(node, version_at(node.op_type, after), self._scope.types)
        raise ValueError(refusal or "its version changes, and there is no version adapter")


def _carries_over(step: Adaptation) -> bool:
    """Return whether the newer version only allows more; if so, drop attributes that the target version lacks."""
    newer, older, node = step.newer, step.older, step.node
    if not (_extends(newer.inputs, older.inputs) and _extends(newer.outputs, older.outputs)):
        return False
    for name in newer.attributes.keys() & older.attributes.keys():
        types = {schema.attributes[name].type for schema in (newer, older)}
        if len(types) > 1 or default_of(newer, name) != default_of(older, name):
            return False
    removed = older.attributes.keys() - newer.attributes.keys()
    if removed - _HINTS or any(newer.attributes[name].required for name in newer.attributes.keys() - older.attributes):
        return False
    if step.up:
        step.drop(*removed)
    elif not _leave_out(step):
        return False
    return problem_with(node, step.target, {}) is None


def _extends(newer: Sequence[OpSchema.FormalParameter], older: Sequence[OpSchema.FormalParameter]) -> bool:
    same = all(
        a.is_homogeneous == b.is_homogeneous and a.option in (b.option, _OPTIONAL)
        for a, b in zip(newer, older, strict=False)
    )
    return same and len(newer) >= len(older) and all(a.option == _OPTIONAL for a in newer[len(older) :])


def _leave_out(step: Adaptation) -> bool:
    """Drop attributes that only the newer version has, at their defaults; return whether none has another value."""
    for name in step.newer.attributes.keys() - step.older.attributes.keys():
        if step.given(name):
            if step.value(name) != default_of(step.newer, name):
                return False
            step.drop(name)
    step.set_operands(list(step.node.input))
    while step.node.output and not step.node.output[-1]:
        step.node.output.pop()
    return True


def _import(model: ModelProto, opset: int) -> None:
    for holder in (model, *model.functions):
        for entry in holder.opset_import:
            if not entry.domain:
                entry.version = opset
    needed = helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    model.ir_version = max(model.ir_version, needed, INITIALIZERS_ALONE)


def _unused(model: ModelProto) -> set[str]:
    """Return the unused initializers of the main graph."""
    graphs = list(all_graphs(model.graph))
    used = {name for graph in graphs for node in graph.node for name in node.input}
    used.update(value.name for graph in graphs for value in graph.output)
    used.update(value.name for value in model.graph.input)
    return {tensor.name for tensor in model.graph.initializer} - used
