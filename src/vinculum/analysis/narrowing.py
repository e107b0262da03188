"""Which nodes of a float32 model a conversion to float16 or bfloat16 has to leave as they are: its block list."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import ModelProto, NodeProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor, BoundsFrom
from vinculum.analysis.domain.formats import FORMATS
from vinculum.analysis.findings import Blocked, Report
from vinculum.models.onnx.scopes import name_of

Values = Mapping[str, AbstractTensor]


def block_list(model: ModelProto, plain: Report, narrowed: Report, as_type: str) -> tuple[Blocked, ...]:
    """Return the nodes of the main graph that overflow or lose a divisor in a narrower type, in the model's order.

    - `plain`, `narrowed`: what the check finds in the model as it is, and as if it were of that type.
    """
    lost = _lost(model, plain, narrowed)
    found = []
    for node in model.graph.node:
        why = lost.get(name_of(node)) or _overflow(node, plain.values, as_type)
        if why:
            found.append(Blocked(name_of(node), node.op_type, bool(node.name), why))
    return tuple(found)


def _overflow(node: NodeProto, values: Values, as_type: str) -> str:
    """Return which value of a node is larger than the type holds, as far as bounds of float32 say."""
    largest = FORMATS[as_type].max
    for name in (*node.output, *node.input):
        known = values.get(name)
        if known is None or known.element_type != "float32" or known.bounds_from is BoundsFrom.TYPE:
            continue
        magnitude = known.largest
        if largest < magnitude <= FORMATS["float32"].max and not (known.constant is not None and name in node.output):
            return f"{name} reaches {magnitude:.4g}, and {as_type} ends at {largest:.6g}"
    return ""


def _lost(model: ModelProto, plain: Report, narrowed: Report) -> dict[str, str]:
    """Return why nodes lose a divisor: those with a finding in that type alone, and those that make it zero there."""
    before = {one.key for one in plain.findings}
    makers = {name: node for node in model.graph.node for name in node.output if name}
    named = {name_of(node) for node in model.graph.node}
    why: dict[str, str] = {}
    for one in narrowed.findings:
        if one.scope or one.key in before or one.node not in named:
            continue
        why.setdefault(one.node, one.rule)
        waiting, seen = [one.divisor], set[str]()
        while waiting:  # What makes zeros in the narrower type alone.
            name = waiting.pop()
            node, wide, narrow = makers.get(name), plain.values.get(name), narrowed.values.get(name)
            if node is None or wide is None or narrow is None or name in seen:
                continue
            seen.add(name)
            if narrow.may_zero and not wide.may_zero and narrow.constant is None:
                why.setdefault(name_of(node), f"{node.output[0]} can be zero, which it cannot in float32")
                waiting += node.input
    return why
