"""An ONNX graph cut at its divisions: what lies between them in parts as large as can be.

Every value has a level: how many nodes on the longest way to it are run outside of the parts. Ordinary nodes of one
level have no such node between them, so they are one part; the nodes that are run outside on its results end the
stage. A graph thus has at most one stage more than its longest chain of divisions has links.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from onnx import NodeProto

from vinculum.models.onnx.dependencies import divides, inputs_of
from vinculum.models.onnx.scopes import subgraphs

# What gives another result each time it is run may not stand in two parts.
_RANDOM = (
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
)


@dataclass(frozen=True, eq=False)
class Part:
    """Nodes that are run together."""

    # In the graph's order. Those that have only constant operands stand in every part that needs them.
    nodes: tuple[NodeProto, ...]
    inputs: tuple[str, ...]  # What it needs of the graph's inputs and of earlier stages.
    constants: tuple[str, ...]  # The graph's constants that it uses.
    outputs: tuple[str, ...]  # What others need of it.


@dataclass(frozen=True, eq=False)
class Stage:
    """A part, and the nodes that are run outside of it once it is done."""

    part: Part | None  # None if the nodes wait for nothing of this level.
    outside: tuple[NodeProto, ...]  # In the graph's order; none needs another's result.
    dropped: tuple[str, ...]  # The values that nobody needs after this stage.


@dataclass(frozen=True, eq=False)
class _Placed:
    """A node, what it needs and where it stands; one that is fixed has constant operands only."""

    node: NodeProto
    operands: tuple[str, ...]
    level: int
    outside: bool
    fixed: bool


def partition(
    graph: Iterable[NodeProto], results: Collection[str], constants: Collection[str], outside: Collection[str] = ()
) -> tuple[Stage, ...]:
    """Return the stages of a graph, to be run one after the other.

    - `graph`: its nodes in an order in which they can run.
    - `results`: its outputs.
    - `constants`: the values that are known before every run.
    - `outside`: the functions whose calls are run outside, as `dividing_functions` returns them.
    """
    nodes = _needed(list(_placed(graph, constants, outside)), results)
    shared = _shared(nodes, results)
    stages = []
    for level in range(max((p.level for p in nodes), default=-1) + 1):
        here = [p for p in nodes if p.level == level and not p.outside]
        own = {id(p): p for p in here if not p.fixed or not shared.isdisjoint(p.node.output)}
        part = _part(own, nodes, constants, shared)
        stages.append(Stage(part, tuple(p.node for p in nodes if p.level == level and p.outside), ()))
    return _with_dropped(stages, constants, results)


def _placed(graph: Iterable[NodeProto], constants: Collection[str], functions: Collection[str]) -> Iterator[_Placed]:
    levels: dict[str, int] = {}
    fixed = set(constants)
    for node in graph:
        operands = inputs_of(node)
        outside = divides(node, functions)
        level = max((levels.get(name, 0) for name in operands), default=0)
        levels.update(dict.fromkeys(node.output, level + outside))
        repeatable = node.domain == "" and node.op_type not in _RANDOM and not any(subgraphs(node))
        is_fixed = repeatable and not outside and fixed.issuperset(operands)
        if is_fixed:
            fixed.update(node.output)
        yield _Placed(node, operands, level, outside, is_fixed)


def _needed(nodes: list[_Placed], results: Collection[str]) -> list[_Placed]:
    """Return the nodes without those whose results nobody uses; those run outside are always used."""
    used, kept = set(results), []
    for placed in reversed(nodes):
        if placed.outside or not used.isdisjoint(placed.node.output):
            used.update(placed.operands)
            kept.append(placed)
    return kept[::-1]


def _shared(nodes: list[_Placed], results: Collection[str]) -> set[str]:
    """Return the values that are needed elsewhere than in the part that makes them."""
    makers = {name: p for p in nodes for name in p.node.output if name}
    shared = set(results)
    for user in nodes:
        for name in user.operands:
            maker = makers.get(name)
            if user.outside or (maker is not None and not maker.fixed and maker.level != user.level):
                shared.add(name)
    return shared


def _part(
    own: dict[int, _Placed], nodes: list[_Placed], constants: Collection[str], shared: Collection[str]
) -> Part | None:
    if not own:
        return None
    used: set[str] = {name for p in own.values() for name in p.operands}
    members = []
    for placed in reversed(nodes):
        if id(placed) in own or (placed.fixed and not used.isdisjoint(placed.node.output)):
            used.update(placed.operands)
            members.append(placed)
    members.reverse()
    made = {name for p in members for name in p.node.output}
    needed = [name for name in dict.fromkeys(name for p in members for name in p.operands) if name not in made]
    return Part(
        tuple(p.node for p in members),
        tuple(name for name in needed if name not in constants),
        tuple(name for name in needed if name in constants),
        tuple(name for p in members if id(p) in own for name in p.node.output if name and name in shared),
    )


def _with_dropped(stages: Sequence[Stage], constants: Collection[str], results: Collection[str]) -> tuple[Stage, ...]:
    last: dict[str, int] = {}
    for number, stage in enumerate(stages):
        ends = (*stage.part.inputs, *stage.part.outputs) if stage.part else ()
        touched = [name for node in stage.outside for name in (*inputs_of(node), *node.output)]
        last.update(dict.fromkeys((*ends, *touched), number))
    kept = {"", *constants, *results}
    dropped = [tuple(name for name, at in last.items() if at == n and name not in kept) for n in range(len(stages))]
    return tuple(Stage(s.part, s.outside, names) for s, names in zip(stages, dropped, strict=True))
