"""Element types that inference leaves open behind unknown operators, from the type constraints of the known ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from onnx import NodeProto, TensorProto
from onnx.defs import SchemaError, get_schema

from vinculum.analysis.transfer.call import named_type


def deduced(
    nodes: Sequence[NodeProto], opsets: Mapping[str, int], known: Callable[[str], str], narrowed: str
) -> Mapping[str, str]:
    """Return the element types of values that nothing declares.

    The two operands of a Div have one type, and so has its result: whoever knows one knows all three.

    Parameters
    ----------
    nodes : sequence of NodeProto
        The nodes of one graph, whose subgraphs are not looked into.
    opsets : Mapping of str to int
        The operator sets by domain.
    known : callable
        Returns the element type of a value, empty if it is open.
    narrowed : str
        The type that float32 is treated as.
    """
    alike: dict[str, str] = {}
    types: dict[str, str] = {}

    def first_of(name: str) -> str:
        """Return the value that stands for all of the same type."""
        while alike.setdefault(name, name) != name:
            alike[name] = alike[alike[name]]
            name = alike[name]
        return name

    for node in nodes:
        for names, only in _groups(node, opsets):
            firsts = list(dict.fromkeys(map(first_of, names)))
            found = next((types[one] for one in firsts if one in types), "")
            found = found or (named_type(only, narrowed) if only else next(filter(None, map(known, names)), ""))
            for one in firsts[1:]:
                alike[one] = firsts[0]
            if found:
                types[firsts[0]] = found
    return {name: types[first_of(name)] for name in alike if first_of(name) in types and not known(name)}


def _groups(node: NodeProto, opsets: Mapping[str, int]) -> Iterator[tuple[list[str], int]]:
    """Yield the operands and results of a node that have one type, and the only type that is allowed, 0 for several."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        schema: Any = get_schema(node.op_type, opsets.get(domain, 1), domain)
    except SchemaError:
        return
    by_type: dict[str, list[str]] = {}
    for formal, given in ((schema.inputs, node.input), (schema.outputs, node.output)):
        for place, name in enumerate(given):
            parameter = formal[min(place, len(formal) - 1)] if formal else None
            if name and parameter is not None and parameter.is_homogeneous:
                by_type.setdefault(parameter.type_str, []).append(name)
    allowed = {one.type_param_str: one.allowed_type_strs for one in schema.type_constraints}
    for type_name, names in by_type.items():
        yield names, _only(allowed.get(type_name, [type_name]))


def _only(allowed: Sequence[str]) -> int:
    """Return the number of the only tensor type among those that are allowed; 0 if there are several, or none."""
    if len(allowed) != 1 or not allowed[0].startswith("tensor("):
        return 0
    return int(TensorProto.DataType.Value(allowed[0][len("tensor(") : -1].upper()))
