"""The place of a finding: the user's line, the path from an input, and a fingerprint that renaming does not change."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from onnx import NodeProto

from vinculum.analysis.findings import Frame

_STACK_TRACE = "pkg.torch.onnx.stack_trace"
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)\n\s*([^\n]*)')
_INSTALLED = ("site-packages/", "dist-packages/")
_STEPS = 4


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
    """Return a number of the rule and the operators some steps above the divisor, without any name."""

    def key(name: str, steps: int) -> str:
        producer = producers.get(name)
        if producer is None:
            return "input" if name in inputs else "constant"
        if not steps:
            return str(producer.op_type)
        return f"{producer.op_type}({','.join(key(operand, steps - 1) for operand in producer.input if operand)})"

    return blake2b(f"{rule}:{node.op_type}:{key(value, steps)}".encode(), digest_size=8).hexdigest()
