"""Remedies written into a model: the nodes of guards, new constants, and changed attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from vinculum.analysis import Finding
from vinculum.models.onnx.inference import inner_first
from vinculum.models.onnx.rewriter import names_in, set_nodes, unique_name
from vinculum.models.onnx.scopes import Scope, name_of
from vinculum.repair.fixing.remedies import FIRST_OPSET, Remedy, Where
from vinculum.repair.guards import conversion, parsed, placed, simplified
from vinculum.tensors.shapes import static

_WITHOUT_KERNELS = (TensorProto.INT8, TensorProto.INT16, TensorProto.UINT16)
"""Integers that are guarded in int32: ONNX Runtime has no Max or Where of 16 bits, and 1.27 has no Where of int8."""


def written(model: ModelProto, remedies: Iterable[tuple[Finding, Remedy]]) -> ModelProto:
    """Return a copy of a model with remedies in it; nodes with the same divisor and the same guard share the guard."""
    copy = deepcopy(model)
    by_place: dict[tuple[str, str], list[Remedy]] = {}
    for finding, one in remedies:
        at = by_place.setdefault((finding.scope, finding.node), [])
        if one not in at:  # One remedy may serve two findings.
            at.append(one)
    names = names_in(copy)
    for scope in inner_first(copy):
        writer = _Writer(scope, names)
        nodes: list[NodeProto] = []
        for node in scope.holder.node:
            nodes += writer.mended(node, by_place.get((scope.path, name_of(node)), ()))
        if len(nodes) > len(scope.holder.node):  # Attributes are changed in place.
            set_nodes(scope.holder, nodes)
    return copy


class _Writer:
    def __init__(self, scope: Scope, names: set[str]) -> None:
        self._scope, self._names = scope, names
        self._guarded: dict[object, str] = {}  # The results of guards, by what determines them.
        self._codes: dict[str, int] = {}  # The element types of these results.

    def mended(self, node: NodeProto, remedies: Iterable[Remedy]) -> list[NodeProto]:
        """Apply remedies to a node, and return it together with the nodes that guard it."""
        before: list[NodeProto] = []
        after: list[NodeProto] = []
        for one in remedies:
            if one.where is Where.ATTRIBUTE:
                kept = [attribute for attribute in node.attribute if attribute.name != one.attribute]
                del node.attribute[:]
                node.attribute.extend([*kept, helper.make_attribute(one.attribute, float(one.numbers["new"]))])
            elif one.where is Where.CONSTANT:
                before.append(self._new_constant(node, one))
            elif one.where is Where.RESULT:
                after += self._after(node, one)
            else:
                before += self._before(node, one)
        return [*before, node, *after]

    def _new_constant(self, node: NodeProto, one: Remedy) -> NodeProto:
        """Let a node read a new constant of the same type and shape, and return the constant's node."""
        before = node.input[one.place]
        node.input[one.place] = name = unique_name(f"{name_of(node)}_epsilon", self._names)
        return _constant(name, one.numbers["new"], self._code(before), static(self._scope.shape_of(before) or ()))

    def _before(self, node: NodeProto, one: Remedy) -> list[NodeProto]:
        """Let a node read the guarded operand, and return the guard's nodes: none if they have been written already."""
        value, dividend = node.input[one.place], node.input[0]
        nodes = _nodes(one, self._code(value))
        reads_dividend = any("B" in made.input for made in nodes)
        key = (value, dividend if reads_dividend else "", one.text, *one.numbers.items())
        if key in self._guarded:
            nodes = []
        else:
            self._guarded[key] = guarded = unique_name(f"{value}_guarded", self._names)
            self._codes[guarded] = self._code(value)
            placed(nodes, {"A": value, "B": dividend, "C": guarded}, guarded, self._names)
        node.input[one.place] = self._guarded[key]
        return nodes

    def _after(self, node: NodeProto, one: Remedy) -> list[NodeProto]:
        """Give a node's result another name, and return the nodes that compute the result from it."""
        result = node.output[0]
        node.name = node.name or result  # Findings name the node by it.
        node.output[0] = unique_name(f"{result}_unguarded", self._names)
        nodes = _nodes(one, self._code(node.input[0]))
        placed(nodes, {"A": node.output[0], "C": result}, result, self._names)
        return nodes

    def _code(self, name: str) -> int:
        return self._codes.get(name) or self._scope.code_of(name)


def _nodes(one: Remedy, code: int) -> list[NodeProto]:
    """Return the nodes that compute C from A, a value of an element type, and from B, the dividend."""
    computed = TensorProto.INT32 if code in _WITHOUT_KERNELS else code
    into, back = conversion(code, computed), conversion(computed, code)
    text = f"a = {into} (A) b = {into} (B) {one.text} C = {back} (guarded)"
    nodes = simplified(parsed(text, FIRST_OPSET), {})
    read = {name for node in nodes for name in node.input}
    constants = [_constant(name, number, computed) for name, number in one.numbers.items() if name in read]
    return [*constants, *nodes]


def _constant(name: str, number: float, code: int, shape: Sequence[int] = ()) -> NodeProto:
    value = numpy_helper.from_array(np.full(shape, number).astype(helper.tensor_dtype_to_np_dtype(code)))
    return helper.make_node("Constant", [], [name], f"{name}_Constant", value=value)
