"""The nodes that replace a division or remainder, in a function of the model or in place of the node."""

from __future__ import annotations

import json
from copy import deepcopy

from onnx import FunctionProto, ModelProto, NodeProto, helper

from vinculum.models.onnx.divisions import GUARDS, mark_guard
from vinculum.models.onnx.rewriter import FUNCTIONS, names_in, unique_name
from vinculum.models.onnx.scopes import Scope, all_nodes, name_of, opset_imports
from vinculum.ops.policies import Policies
from vinculum.repair.decision import Facts, Runtime
from vinculum.repair.guard_text import guard, placed


class Guards:
    """Rewrites divisions of a model: for ONNX Runtime as calls of one function for all that are alike, else in place.

    A rewrite of a single node is always written in place.

    A function imports the model's operator set, even if functions that call it import others: no runtime refuses that.
    """

    def __init__(self, model: ModelProto, runtime: Runtime, policies: Policies) -> None:
        self._model, self._runtime, self._policies = model, runtime, policies
        self._use_functions = runtime == "onnxruntime"
        self._names = names_in(model)
        self._titles = {function.name for function in model.functions if function.domain == GUARDS}
        self._functions: dict[tuple[object, ...], FunctionProto] = {}

    def opset(self, own: int) -> int:
        """Return the operator set for the rewrite of a node, given the node's own."""
        return opset_imports(self._model).get("", own) if self._use_functions else own

    def replace(self, scope: Scope, node: NodeProto, facts: Facts, what: str) -> list[NodeProto]:
        """Return the nodes that replace a node; the one that computes its output keeps its name and documentation."""
        # ONNX Runtime expands a SequenceMap whose body calls a function to an invalid model.
        if self._use_functions and "SequenceMap" not in scope.path:
            if facts.decisive not in self._functions:
                self._functions[facts.decisive] = self._function(facts, what)
            function = self._functions[facts.decisive]
            if len(function.node) > 1:
                call = deepcopy(node)
                call.domain, call.op_type = GUARDS, function.name
                del call.attribute[:]  # The function includes their effect.
                return [call]
        *others, made = nodes = guard(facts, self._runtime, self._policies)
        names = dict(zip(("A", "B") if len(node.input) == 2 else ("B",), node.input, strict=True)) | {
            "C": node.output[0]
        }
        placed(nodes, names, name_of(node), self._names)
        made.name = node.name
        made.doc_string = node.doc_string
        made.metadata_props.extend(node.metadata_props)  # Such as an exporter's stack trace.
        mark_guard(others)
        mark_guard([made], json.dumps([facts.operator, *node.input]))
        return nodes

    def complete(self) -> None:
        """Add the functions to the model, before its own, which may call them, and raise the IR version as needed."""
        made = [function for function in self._functions.values() if len(function.node) > 1]
        if not made:
            return
        self._model.ir_version = max(self._model.ir_version, FUNCTIONS)
        for function in reversed(made):
            self._model.functions.insert(0, function)
        for holder in (self._model, *self._model.functions):
            nodes = holder.graph.node if isinstance(holder, ModelProto) else holder.node
            calls = isinstance(holder, ModelProto) or any(node.domain == GUARDS for node in all_nodes(nodes))
            if calls and GUARDS not in opset_imports(holder):
                holder.opset_import.add(domain=GUARDS, version=1)

    def _function(self, facts: Facts, what: str) -> FunctionProto:
        name = unique_name(f"{facts.operator}_{facts.element_type}", self._titles)
        inputs = ["B"] if facts.operator == "Reciprocal" else ["A", "B"]
        nodes = guard(facts, self._runtime, self._policies)
        mark_guard(nodes)
        opsets = [helper.make_opsetid("", facts.opset)]
        return helper.make_function(GUARDS, name, inputs, ["C"], nodes, opsets, doc_string=what)
