"""Where a finding stands: the user's line, the path from an input, a fingerprint, and how bounds came about."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

from onnx import ModelProto, NodeProto

from vinculum.analysis.domain.abstract_tensor import AbstractTensor
from vinculum.analysis.findings import Frame
from vinculum.errors import ModelError
from vinculum.models.onnx.scopes import inputs_of, name_of
from vinculum.text import did_you_mean, quoted

_STACK_TRACE = "pkg.torch.onnx.stack_trace"
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)\n\s*([^\n]*)')
_INSTALLED = ("site-packages/", "dist-packages/")
_STEPS = 4
_LONGEST = 1 << 16
"""The most characters of the text that a fingerprint is computed from; a longer text is replaced by a digest."""


def frames(node: NodeProto) -> tuple[Frame, ...]:
    """Return the program that a node was exported from, outermost line first; none if the exporter did not say."""
    text = next((entry.value for entry in node.metadata_props if entry.key == _STACK_TRACE), "")
    return tuple(_frame(*match) for match in _FRAME.findall(text))


def _frame(file: str, line: str, function: str, code: str) -> Frame:
    installed = next((mark for mark in _INSTALLED if mark in file), None)
    name = file if installed is None else file.rpartition(installed)[2]
    return Frame(name, int(line), function, code.strip(), installed is not None)


def alert_frame(frames: Sequence[Frame]) -> Frame | None:
    """Return the line that an alert belongs to: the innermost of the user's own program, else the innermost."""
    own = [frame for frame in frames if not frame.in_library]
    return next(reversed(own or frames), None)


def path(value: str, producers: Mapping[str, NodeProto], inputs: frozenset[str]) -> tuple[str, ...]:
    """Return values from an input to this one, each computed from the one before; the shortest way."""
    came_from: dict[str, str] = {value: ""}
    waiting = deque([value])
    while waiting:
        name = waiting.popleft()
        if name in inputs:
            found = []
            while name:
                found.append(name)
                name = came_from[name]
            return tuple(found)
        node = producers.get(name)
        for operand in () if node is None else node.input:
            if operand and operand not in came_from:
                came_from[operand] = name
                waiting.append(operand)
    return (value,)


def fingerprint(
    rule: str,
    node: NodeProto,
    value: str,
    producers: Mapping[str, NodeProto],
    inputs: frozenset[str],
    steps: int = _STEPS,
) -> str:
    """Return a digest of the rule and the operators up to some steps above the divisor; names do not count."""

    @cache
    def key(name: str, steps: int) -> str:
        producer = producers.get(name)
        if producer is None:
            return "input" if name in inputs else "constant"
        if not steps:
            return str(producer.op_type)
        text = f"{producer.op_type}({','.join(key(operand, steps - 1) for operand in producer.input if operand)})"
        return text if len(text) < _LONGEST else blake2b(text.encode()).hexdigest()

    return blake2b(f"{rule}:{node.op_type}:{key(value, steps)}".encode(), digest_size=8).hexdigest()


_MOST = 24
"""The most values that are explained: those nearest to the node."""


@dataclass(frozen=True, eq=False)
class Step:
    """What is known of one value."""

    name: str  # The value.
    operator: str  # What computes it; empty of inputs and constants.
    operands: tuple[str, ...]  # From what.
    known: AbstractTensor  # What is known of it.


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
