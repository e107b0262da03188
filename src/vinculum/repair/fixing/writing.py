"""Writing remedies into a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper, parser

from vinculum.analysis import Finding
from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.models.onnx.inference import typed_scopes
from vinculum.models.onnx.rewriter import names_in, set_nodes, unique_name
from vinculum.models.onnx.scopes import Scope, name_of
from vinculum.repair.fixing.remedies import FIRST_OPSET, OPERAND, Remedy, Where, remedy
from vinculum.repair.guard_text import rename

Key = tuple[str, str, str]
"""The rule, the scope and the node of a finding."""


def key_of(finding: Finding) -> Key:
    """Return what a finding is recognised by in the model before and after."""
    return finding.rule, finding.scope, finding.node


class Places:
    """The nodes of a model that findings are about."""

    def __init__(self, model: ModelProto, values: Mapping[str, AbstractTensor]) -> None:
        self._values = values
        self._nodes = {
            (scope.path, name_of(node)): (scope, node) for scope in typed_scopes(model) for node in scope.holder.node
        }

    def remedy(self, finding: Finding) -> Remedy | str:
        """Return the remedy that can be written for a finding, or why none can."""
        scope, node = self._nodes.get((finding.scope, finding.node), (None, None))
        if node is not None and node.op_type in OPERAND:
            finding = replace(finding, divisor=node.input[OPERAND[node.op_type]])  # A guard may stand before it now.
        if scope is None or node is None or finding.divisor not in node.input:
            return f"it is inside {finding.node.rpartition('/')[0] or finding.node}, where no guard can stand"
        opset = scope.opsets.get("", 1)
        if opset < FIRST_OPSET:
            return f"its operator set is {opset}, and guards begin at {FIRST_OPSET}: vinculum convert --opset 17 first"
        found = remedy(finding, node, {} if finding.scope else self._values, opset)
        if isinstance(found, Remedy) and found.where is not Where.ATTRIBUTE and not scope.code_of(finding.divisor):
            return f"the element type of {finding.divisor} is not known: declare it in value_info"
        return found


def written(model: ModelProto, remedies: Iterable[tuple[Finding, Remedy]]) -> ModelProto:
    """Return a copy of a model with remedies in it; nodes that share a divisor and its guard share its nodes."""
    copy = deepcopy(model)
    by_place: dict[tuple[str, str], list[Remedy]] = {}
    for finding, one in remedies:
        at = by_place.setdefault((finding.scope, finding.node), [])
        at += [one] if one not in at else []  # What one remedy does for two findings is written once.
    names = names_in(copy)
    for scope in list(typed_scopes(copy)):
        writer = _Writer(scope, names)
        nodes = [
            each
            for node in scope.holder.node
            for each in writer.mended(node, by_place.get((scope.path, name_of(node)), ()))
        ]
        if len(nodes) > len(scope.holder.node):  # Attributes are changed in place.
            set_nodes(scope.holder, nodes)
    return copy


class _Writer:
    """Writes the remedies of one scope."""

    def __init__(self, scope: Scope, names: set[str]) -> None:
        self._scope, self._names = scope, names
        self._guarded: dict[object, str] = {}
        self._codes: dict[str, int] = {}  # The element types of what guards return.

    def mended(self, node: NodeProto, remedies: Iterable[Remedy]) -> list[NodeProto]:
        """Change a node, and return it among the nodes that guard it."""
        nodes = [node]
        for one in remedies:
            if one.where is Where.ATTRIBUTE:
                _set_attribute(node, one)
            elif one.where is Where.CONSTANT:
                nodes = [self._new_constant(node, one), *nodes]
            elif one.where is Where.RESULT:
                nodes = [*nodes, *self._behind(node, one)]
            else:
                place = next(number for number, each in enumerate(nodes) if each is node)
                nodes[place:place] = self._before(node, one)
        return nodes

    def _new_constant(self, node: NodeProto, one: Remedy) -> NodeProto:
        """Return the node of a constant that takes the place of another, in type and shape."""
        before = node.input[one.place]
        node.input[one.place] = name = unique_name(f"{name_of(node)}_epsilon", self._names)
        sizes = [size for size in self._scope.shape_of(before) or () if isinstance(size, int)]
        return _constant(name, one.numbers["new"], self._code(before), sizes)

    def _before(self, node: NodeProto, one: Remedy) -> list[NodeProto]:
        """Let a node read the guarded operand, and return the nodes that guard it: none if another node has them."""
        value = node.input[one.place]
        given = {"A": value, **({"B": node.input[0]} if "(B," in one.text else {})}
        key = (*given.values(), one.text, *one.numbers.items())
        nodes: list[NodeProto] = []
        if key not in self._guarded:
            self._guarded[key] = guarded = unique_name(f"{value}_guarded", self._names)
            self._codes[guarded] = self._code(value)
            nodes = self._nodes(one, self._code(value), {**given, "C": guarded})
        node.input[one.place] = self._guarded[key]
        return nodes

    def _behind(self, node: NodeProto, one: Remedy) -> list[NodeProto]:
        """Give a node's result another name, and return the nodes that make the result of it."""
        result = node.output[0]
        node.name = node.name or result  # By which it is known, and stays so.
        node.output[0] = unique_name(f"{result}_unguarded", self._names)
        return self._nodes(one, self._code(node.input[0]), {"A": node.output[0], "C": result})

    def _nodes(self, one: Remedy, code: int, given: Mapping[str, str]) -> list[NodeProto]:
        """Return the nodes of a text, after the constants that it reads."""
        head = f'<domain: "guards", opset_import: ["": {FIRST_OPSET}]> guard (A, B) => (C)'
        nodes = list(parser.parse_function(f"{head} {{ {one.text} }}").node)
        read = {name for node in nodes for name in node.input}
        names = {
            name: given.get(name) or unique_name(f"{given['C']}_{name}", self._names)
            for name in (*given, *(read & set(one.numbers)), *(node.output[0] for node in nodes))
        }
        for node in nodes:
            rename(node, names)
            node.name = unique_name(f"{node.output[0]}_{node.op_type}", self._names)
        constants = [_constant(names[name], one.numbers[name], code) for name in one.numbers if name in read]
        return [*constants, *nodes]

    def _code(self, name: str) -> int:
        return self._codes.get(name) or self._scope.code_of(name)


def _set_attribute(node: NodeProto, one: Remedy) -> None:
    kept = [attribute for attribute in node.attribute if attribute.name != one.attribute]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(one.attribute, float(one.numbers["new"]))])


def _constant(name: str, number: float, code: int, shape: Sequence[int] = ()) -> NodeProto:
    value = numpy_helper.from_array(np.full(shape, number).astype(helper.tensor_dtype_to_np_dtype(code)), name)
    return helper.make_node("Constant", [], [name], f"{name}_Constant", value=value)
