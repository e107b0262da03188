"""Model-local functions, rewritten for the reference evaluator.

The evaluator looks functions up by domain and name, after the standard's own operators, in the order of the file, and
expects every call to give every input and attribute. The standard allows functions that replace an operator, overloads,
any order, and calls that omit inputs and attributes. So every function gets a unique name in a domain of this package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from graphlib import CycleError, TopologicalSorter

from onnx import FunctionProto, ModelProto, NodeProto, helper
from onnx.defs import OpSchema, SchemaError, get_schema
from onnx.inliner import inline_local_functions

from vinculum.errors import ModelError
from vinculum.models.onnx.scopes import (
    all_nodes,
    function_paths,
    function_title,
    key_of,
    name_of,
    opset_imports,
)
from vinculum.text import one_line, quoted

DOMAIN = "vinculum.function"
MOST_CALLS = 100_000
"""Calls of functions that a model makes at most, those that functions make counted each time: ONNX expands them all."""
DEEPEST_CALL = 100
"""The deepest nesting of function calls, as in ONNX's own shape inference."""


def link_functions(model: ModelProto) -> dict[str, str]:
    """Rename and sort a model's functions, complete every call of them, and return the original names by the new ones.

    ModelError if two functions have the same name, a function calls itself, calls are nested too deeply, or a call does
    not fit its function.
    """
    keys = [key_of(function) for function in model.functions]
    functions = dict(zip(keys, model.functions, strict=True))
    if len(functions) < len(keys):
        ((twice, _),) = Counter(keys).most_common(1)
        raise ModelError(f"function {function_title(twice)} is defined twice")
    ours = {key: f"f{number}" for number, key in enumerate(functions)}
    calls: dict[str, Counter[str]] = {name: Counter() for name in ours.values()}
    callers = {"": model.graph, **{ours[key]: function for key, function in functions.items()}}
    for caller, holder in callers.items():
        for node in all_nodes(holder.node):
            key = (node.domain, node.op_type, node.overload)
            if key in functions:
                _complete(node, functions[key], function_title(key))
                node.domain, node.op_type, node.overload = DOMAIN, ours[key], ""
                calls.setdefault(caller, Counter())[ours[key]] += 1
    own_names = {ours[key]: path for key, path in function_paths(model).items()}
    order = _callees_first(calls, own_names)
    for key, function in functions.items():
        function.domain, function.name, function.overload = DOMAIN, ours[key], ""
    by_name = {function.name: deepcopy(function) for function in model.functions}
    del model.functions[:]
    model.functions.extend(by_name[name] for name in order if name in by_name)
    for holder in (model, *model.functions):
        holder.opset_import.add(domain=DOMAIN, version=1)
    return own_names


def overridden(model: ModelProto) -> set[str]:
    """Return the operators of ONNX that functions of the model replace."""
    return {function.name for function in model.functions if function.domain == ""}


def inlined(model: ModelProto) -> ModelProto:
    """Return a new model without functions.

    A function may import another operator set than the model if the operators that it uses are the same in both.

    ModelError if the functions cannot be inlined.
    """
    model = deepcopy(model)
    own = opset_imports(model)
    for function in model.functions:
        for domain, version in opset_imports(function).items():
            if own.setdefault(domain, version) == version:
                continue
            kinds = {node.op_type for node in all_nodes(function.node) if node.domain == domain}
            if (kinds and domain) or any(since(kind, version) != since(kind, own[domain]) for kind in kinds):
                raise ModelError(
                    f"the function {quoted(function.name)} imports operator set {version} and the model {own[domain]}, "
                    "in which its operators differ, so it cannot be inlined; convert the model first: vinculum convert "
                    f"--opset {max(version, own[domain])}"
                )
    for holder in (model, *model.functions):
        del holder.opset_import[:]
        holder.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in own.items())
    try:
        return inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"the model's functions cannot be inlined: {one_line(error)}") from None


@cache
def version_at(op_type: str, opset: int, domain: str = "") -> OpSchema | None:
    """Return the version of an operator that an operator set has, None if it has none."""
    try:
        return get_schema(op_type, opset, domain)
    except SchemaError:
        return None


def since(op_type: str, opset: int) -> int | None:
    """Return the operator set that introduced the version of an operator that `opset` has, None if it has none."""
    version = version_at(op_type, opset)
    return None if version is None else int(version.since_version)


def _complete(node: NodeProto, function: FunctionProto, title: str) -> None:
    """Add the inputs and attributes that a call omits."""
    surplus = len(node.input) > len(function.input) or len(node.output) > len(function.output)
    if surplus:
        taken = f"{len(function.input)} inputs and {len(function.output)} outputs"
        given = f"{len(node.input)} and {len(node.output)}"
        raise ModelError(f"node {quoted(name_of(node))} calls function {title} of {taken} with {given}")
    node.input.extend([""] * (len(function.input) - len(node.input)))
    given_names = {attribute.name for attribute in node.attribute}
    node.attribute.extend(a for a in function.attribute_proto if a.name not in given_names)
    lacking = [name for name in function.attribute if name not in given_names]
    if lacking:
        raise ModelError(
            f"node {quoted(name_of(node))} calls function {title} without its attribute {quoted(lacking[0])}, "
            "which has no default; set it"
        )


def _callees_first(calls: dict[str, Counter[str]], own_names: dict[str, str]) -> Sequence[str]:
    try:
        order = list(TopologicalSorter(calls).static_order())
    except CycleError as error:
        circle = " -> ".join(quoted(own_names[name]) for name in error.args[1][:4])
        raise ModelError(f"a function calls itself: {circle}; ONNX functions may not be recursive") from None
    depth: dict[str, int] = {}
    expanded: dict[str, int] = {}
    for name in order:
        depth[name] = 1 + max((depth[callee] for callee in calls[name]), default=0)
        expanded[name] = sum(times * (1 + expanded[callee]) for callee, times in calls[name].items())
    if max(depth.values(), default=0) > DEEPEST_CALL + 1:
        raise ModelError(f"the calls of functions are nested more than {DEEPEST_CALL} deep")
    if expanded.get("", 0) > MOST_CALLS:
        raise ModelError(f"the functions are called {expanded['']:,} times in all; at most {MOST_CALLS:,} are possible")
    return order
