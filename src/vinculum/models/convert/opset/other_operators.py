"""Every node on its way to another operator set.

A division goes there in one step, as `divisions` says. Any other node goes from version to version of its operator. A
version that only allows more types, or adds attributes and operands that may be left out, leaves it as it is. Where the
way to say something or its meaning has changed, `table` has the rule. What comes out is held against the schemas of the
target, so that nothing slips through that is no node.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from copy import deepcopy

from onnx import FunctionProto, NodeProto, TensorProto
from onnx.defs import OpSchema

from vinculum.errors import ModelError
from vinculum.models.convert.change import Change
from vinculum.models.convert.opset.adapters.adaptation import Adaptation
from vinculum.models.convert.opset.adapters.table import ADAPTERS
from vinculum.models.convert.opset.divisions import convert_division
from vinculum.models.convert.opset.operator_versions import default_of, next_boundary, problem_with, version_at
from vinculum.models.onnx.constants import tensor_of
from vinculum.models.onnx.divisions import DIVIDES
from vinculum.models.onnx.rewriter import Rewriter
from vinculum.models.onnx.scopes import Scope, subgraphs, title

_OPTIONAL = OpSchema.FormalParameterOption.Optional
_HINTS = {"consumed_inputs"}
"""Attributes without effect."""


def convert_node(node: NodeProto, scope: Scope, opset: int, rewriter: Rewriter) -> list[Change]:
    """Write a node into the rewriter as an operator set has it, and return what became of it.

    - `node`: of ONNX's own domain; legal in the operator set of its scope. Its subgraphs stay as they are.
    - `scope`: with the types that are known there.
    - `rewriter`: takes the nodes, and nothing else has put any there yet.

    ModelError if it is not representable there; the line names the node and the reason.
    """
    old, new = version_at(node.op_type, scope.opsets[""]), version_at(node.op_type, opset)
    if old is new:
        rewriter.nodes.append(node)
        return []
    where = title(node, scope.path)
    try:
        if node.op_type in DIVIDES:
            return [Change(where, *reason) for reason in convert_division(node, scope, opset, rewriter)]
        refusal = problem_with(node, old, scope.types)
        if refusal is not None:
            raise ValueError(f"it is not legal in operator set {scope.opsets['']}: {refusal}")
        _Conversion(scope, opset, rewriter).go(deepcopy(node), scope.opsets[""])
    except ValueError as error:
        raise ModelError(f"{where} is not representable in operator set {opset}: {error}") from None
    made = rewriter.nodes
    if len(made) == 1 and made[0] == node:
        return []
    names = ", ".join(n.op_type for n in made) or "an initializer"
    what = "attributes and inputs rewritten" if names == node.op_type else f"became {names}"
    return [Change(where, what, f"{_version(old)} and {_version(new)} are written differently")]


class _Conversion:
    def __init__(self, scope: Scope, opset: int, rewriter: Rewriter) -> None:
        self._opset, self._rewriter = opset, rewriter
        self._in_function = isinstance(scope.holder, FunctionProto)
        self._types = scope.types.new_child()
        self._constants = ChainMap[str, TensorProto]({}, dict(scope.constants))

    def go(self, node: NodeProto, source: int) -> None:
        """Take a node from an operator set to the one to be written, boundary by boundary, and write it."""
        at = source
        while (boundary := next_boundary(node.op_type, at, self._opset)) is not None:
            up = self._opset > at
            sides = (boundary - 1, boundary) if up else (boundary, boundary - 1)
            parts = self._passed(node, sides)
            self._learn_constants(parts)
            at = sides[1]
            if len(parts) != 1:
                for part in parts:
                    self.go(part, at)
                return
            (node,) = parts
        refusal = problem_with(node, version_at(node.op_type, self._opset), self._types)
        if refusal is not None:
            raise ValueError(refusal)
        self._rewriter.nodes.append(node)

    def _passed(self, node: NodeProto, sides: tuple[int, int]) -> list[NodeProto]:
        """Return what a node is on the other side of a boundary."""
        newer, older = version_at(node.op_type, max(sides)), version_at(node.op_type, min(sides))
        if newer is not None and older is not None:
            up = sides[0] < sides[1]
            surroundings = (self._types, self._constants, self._rewriter, self._opset, self._in_function)
            step = Adaptation(node, newer, older, up, *surroundings)
            rule = ADAPTERS.get((node.op_type, newer.since_version))
            parts = None if rule is None else rule(step)
            if parts is not None:
                return parts
            if _carries_over(step):
                return [step.node]
        if any(True for _ in subgraphs(node)):
            raise ValueError("it holds subgraphs, which its version there runs differently")
        if any(attribute.ref_attr_name for attribute in node.attribute):
            raise ValueError("it has attributes of the function around it; inline the function")
        refusal = problem_with(node, version_at(node.op_type, sides[1]), self._types)
        raise ValueError(refusal or "its version there is another, and no rule leads to it")

    def _learn_constants(self, parts: list[NodeProto]) -> None:
        self._constants.update((tensor.name, tensor) for tensor in self._rewriter.initializers)
        for node in (*self._rewriter.nodes, *parts):
            tensor = tensor_of(node) if node.op_type == "Constant" else None
            if tensor is not None:
                self._constants[node.output[0]] = tensor


def _carries_over(step: Adaptation) -> bool:
    """Make a step between versions of which the newer only allows more; return whether they are such."""
    newer, older, node = step.newer, step.older, step.node
    if older.deprecated or newer.deprecated:
        return False
    if not (_extends(newer.inputs, older.inputs) and _extends(newer.outputs, older.outputs)):
        return False
    for name in newer.attributes.keys() & older.attributes.keys():
        if newer.attributes[name].type != older.attributes[name].type:
            return False
        if default_of(newer, name) != default_of(older, name):
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
    """Leave out what only the newer version has, where it says nothing; return whether that is all."""
    for name in step.newer.attributes.keys() - step.older.attributes.keys():
        if step.given(name):
            if step.value(name) != default_of(step.newer, name):
                return False
            step.drop(name)
    step.set_operands(list(step.node.input))
    while step.node.output and not step.node.output[-1]:
        step.node.output.pop()
    return True


def _version(schema: OpSchema | None) -> str:
    return "its version" if schema is None else f"{schema.name}-{schema.since_version}"
