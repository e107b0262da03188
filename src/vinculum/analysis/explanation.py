"""How the bounds at a node came about: what is known of each value on the way to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from onnx import ModelProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.errors import ModelError
from vinculum.models.onnx.scopes import inputs_of, name_of
from vinculum.text import did_you_mean, quoted

_MOST = 24
"""Values that are told of, the nearest to the node."""


@dataclass(frozen=True, eq=False)
class Step:
    """What is known of one value.

    Attributes
    ----------
    name : str
        The value.
    operator : str
        What computes it; empty of inputs and constants.
    operands : tuple of str
        From what.
    known : AbstractTensor
        What is known of it.
    """

    name: str
    operator: str
    operands: tuple[str, ...]
    known: AbstractTensor


def explained(model: ModelProto, values: Mapping[str, AbstractTensor], node: str) -> tuple[Step, ...]:
    """Return the values on the way to a node of the main graph, each after those that it is computed from.

    ModelError if there is no such node.
    """
    nodes = {name_of(one): one for one in model.graph.node}
    if node not in nodes:
        raise ModelError(f"no node of the main graph is called {quoted(node)}{did_you_mean(node, nodes)}")
    producers = {name: one for one in model.graph.node for name in one.output if name}
    near = dict.fromkeys(name for name in nodes[node].output if name)
    waiting = deque(near)
    while waiting and len(near) < _MOST:
        made = producers.get(waiting.popleft())
        for name in () if made is None else inputs_of(made):
            if name not in near and len(near) < _MOST:
                near[name] = None
                waiting.append(name)
    given = [Step(name, "", (), values[name]) for name in near if name not in producers and name in values]
    computed = [
        Step(name, one.op_type, tuple(one.input), values[name])
        for one in model.graph.node
        for name in one.output
        if name in near and name in values
    ]
    return (*given, *computed)
