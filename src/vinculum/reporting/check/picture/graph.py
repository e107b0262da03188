"""The part of a scope of a model that is drawn: findings, and the ways to them and from them; other nodes are folded.

Nodes are folded together if they are connected and depend on the same drawn nodes. So no fold is both before and after
a drawn node, and the picture has no cycle.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from onnx import NodeProto

from vinculum.analysis.findings import Finding
from vinculum.models.onnx.scopes import Scope, inputs_of, name_of

_FIRST, _LAST = 2, 5
"""How many values at each end of a long way are drawn."""
_NAMED = 3
"""How many operators of a fold are named."""


@dataclass(frozen=True)
class Box:
    """A box of the picture."""

    id: str
    kind: Literal["input", "node", "fold", "output"]
    title: str
    """Its operator, or its name."""
    values: tuple[str, ...] = ()
    """Its values: results of nodes, an input or an output."""
    nodes: tuple[NodeProto, ...] = ()
    """Its node, or all folded nodes."""


@dataclass(frozen=True)
class Arrow:
    """A value that goes from one box to another."""

    start: str
    end: str
    value: str
    is_way: bool


@dataclass(frozen=True)
class Graph:
    """The picture, in the order of the model, and how many nodes are left out because they lead to no finding."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    hidden: int


def drawn(scope: Scope, findings: Sequence[Finding]) -> Graph:
    """Return the part of a scope that leads to findings in it."""
    return _Drawing(scope, findings).graph()


class _Drawing:
    """The nodes of a scope by their numbers, and which of them are drawn."""

    def __init__(self, scope: Scope, findings: Sequence[Finding]) -> None:
        self.nodes = list(scope.holder.node)
        self.inputs = list(map(inputs_of, self.nodes))
        self.made = {name: number for number, node in enumerate(self.nodes) for name in node.output if name}
        self.users: dict[str, list[int]] = {}
        self.constants = set(scope.constants)
        for number, (node, read) in enumerate(zip(self.nodes, self.inputs, strict=True)):
            for name in read:
                self.users.setdefault(name, []).append(number)
            if self.constants.issuperset(read):
                self.constants.update(node.output)
        self.results = [value if isinstance(value, str) else value.name for value in scope.holder.output]
        named = {name_of(node): number for number, node in enumerate(self.nodes)}
        # A finding inside the functions of a node is at that node.
        sites = [named.get(f.node, named.get(f.node.rpartition("/")[0])) for f in findings]
        self.found = [(f, site) for f, site in zip(findings, sites, strict=True) if site is not None]
        self.onward = [self._onward(finding, site) for finding, site in self.found]
        self.kept = self._kept()

    def graph(self) -> Graph:
        """Return the boxes and the arrows."""
        before = _reached((site for _, site in self.found), self._makers)
        boxes = {box.id: box for box in self._boxes(sorted({*before, *(n for on in self.onward for n in on)}))}
        arrows = tuple(dict.fromkeys(self._arrows(boxes)))
        used = {end for arrow in arrows for end in (arrow.start, arrow.end)}
        shown = sum(len(box.nodes) for box in boxes.values())
        counted = sum(not self._is_constant(number) for number in range(len(self.nodes)))
        return Graph(
            tuple(box for box in boxes.values() if box.id in used or box.kind == "node"), arrows, counted - shown
        )

    def _is_constant(self, number: int) -> bool:
        """Tell whether the results of a node are the same in every run."""
        return self.constants.issuperset(self.nodes[number].output)

    def _users(self, number: int) -> Iterator[int]:
        return (user for name in self.nodes[number].output for user in self.users.get(name, ()))

    def _makers(self, number: int) -> Iterator[int]:
        return (self.made[name] for name in self.inputs[number] if name in self.made and name not in self.constants)

    def _onward(self, finding: Finding, site: int) -> list[int]:
        """Return the nodes on a shortest way from a finding to an output, if possible one that it affects."""
        affected = [effect.output for effect in finding.witness.effects] if finding.witness else []
        wanted = set(affected).intersection(self.results) or set(self.results)
        came = _reached([site], self._users)
        number = next((number for number in came if wanted.intersection(self.nodes[number].output)), site)
        way = []
        while number != site:
            way.append(number)
            number = came[number]
        return way[::-1]

    def _kept(self) -> set[int]:
        """Return the nodes drawn alone: findings, what they read, and the ends of the ways to and from them."""
        values: list[str] = []
        for finding, site in self.found:
            path = finding.path
            values += path if len(path) <= _FIRST + _LAST else (*path[:_FIRST], *path[-_LAST:])
            values += [finding.witness.tensor] if finding.witness else []
            values += self.nodes[site].input
        kept = {self.made[value] for value in values if value in self.made}
        ends = (number for on in self.onward for number in (*on[:1], *on[-1:]))
        return {number for number in kept if not self._is_constant(number)}.union(ends, (s for _, s in self.found))

    def _boxes(self, relevant: Sequence[int]) -> Iterator[Box]:
        """Yield values from outside, then nodes and folds, then outputs; without what only folds read."""
        groups = self._groups(relevant)
        on_ways = {value for finding, _ in self.found for value in finding.path}
        outside = dict.fromkeys(
            name
            for group in groups
            for number in group
            for name in self.inputs[number]
            if name not in self.made and name not in self.constants and (len(group) == 1 or name in on_ways)
        )
        yield from (Box(f"i{number}", "input", name, (name,)) for number, name in enumerate(outside))
        for group in groups:
            nodes = tuple(self.nodes[number] for number in group)
            values = tuple(name for node in nodes for name in node.output if name)
            if len(group) == 1:
                yield Box(f"n{group[0]}", "node", nodes[0].op_type, values, nodes)
            else:
                counts = Counter(node.op_type for node in nodes)
                title = ", ".join(f"{count} {name}" for name, count in counts.most_common(_NAMED))
                yield Box(f"f{group[0]}", "fold", title, values, nodes)
        lasts = [[site, *on][-1] for (_, site), on in zip(self.found, self.onward, strict=True)]
        reached = {name for number in lasts for name in self.nodes[number].output}
        yield from (
            Box(f"o{number}", "output", name, (name,)) for number, name in enumerate(self.results) if name in reached
        )

    def _groups(self, relevant: Sequence[int]) -> list[list[int]]:
        """Return the nodes that are drawn, each alone, and those that are folded together."""
        marks = {number: 1 << place for place, number in enumerate(sorted(self.kept))}
        behind: dict[int, int] = {}  # The kept nodes before each node, as bits.
        groups: list[list[int]] = []
        group_of: dict[int, list[int]] = {}
        for number in relevant:
            before = [self.made[name] for name in self.inputs[number] if self.made.get(name) in behind]
            bits = 0
            for one in before:
                bits |= behind[one] | marks.get(one, 0)
            behind[number] = bits
            group_of[number] = [number]
            groups.append(group_of[number])
            for one in before if number not in self.kept else ():
                small, large = sorted((group_of[one], group_of[number]), key=len)
                if one not in self.kept and behind[one] == bits and small is not large:
                    large += small
                    group_of.update(dict.fromkeys(small, large))
                    small.clear()
        return [sorted(group) for group in groups if group]

    def _arrows(self, boxes: dict[str, Box]) -> Iterator[Arrow]:
        box_of = {value: box.id for box in boxes.values() if box.kind != "output" for value in box.values}
        ways = {(box_of.get(a), box_of.get(b)) for finding, _ in self.found for a, b in pairwise(finding.path)}
        ways |= {(box_of.get(finding.path[-1]), f"n{site}") for finding, site in self.found if finding.path}
        for box in boxes.values():
            reads = box.values if box.kind == "output" else (name for node in box.nodes for name in inputs_of(node))
            for name in reads:
                start = box_of.get(name)
                if start is not None and start != box.id:
                    yield Arrow(start, box.id, name, (start, box.id) in ways)


def _reached(starts: Iterable[int], after: Callable[[int], Iterable[int]]) -> dict[int, int]:
    """Return the nodes reached from some, breadth first, each with the node before it on a shortest way."""
    came = {number: number for number in starts}
    waiting = deque(came)
    while waiting:
        number = waiting.popleft()
        for other in after(number):
            if other not in came:
                came[other] = number
                waiting.append(other)
    return came
