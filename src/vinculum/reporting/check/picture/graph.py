"""What is drawn of a scope of a model: findings, the ways to them and from them; everything between is folded.

Folded nodes are those that have the same drawn nodes before them. So no fold stands both before and behind a drawn
node, and the picture has no cycle that the model has not.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from onnx import NodeProto

from vinculum.analysis.findings import Finding
from vinculum.models.onnx.scopes import Scope, inputs_of, name_of

_FIRST, _LAST = 2, 5
"""How many values of a long way are drawn at its ends."""
_NAMED = 3


@dataclass(frozen=True)
class Box:
    """Something that is drawn."""

    id: str
    kind: Literal["input", "node", "fold", "output"]
    title: str
    """Its operator, or its name."""
    values: tuple[str, ...] = ()
    """The values that it stands for: results of a node, an input, an output."""
    nodes: tuple[NodeProto, ...] = ()
    """The node, or all that are folded."""


@dataclass(frozen=True)
class Arrow:
    """A value that goes from one box to another."""

    start: str
    end: str
    value: str
    is_way: bool


@dataclass(frozen=True)
class Graph:
    """The part of a scope that is drawn, in the order of the model, and how many nodes have no part in a finding."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    hidden: int


def drawn(scope: Scope, findings: Sequence[Finding]) -> Graph:
    """Return the part of a scope that leads to findings in it."""
    return _Drawing(scope, findings).graph()


@dataclass
class _Drawing:
    scope: Scope
    findings: Sequence[Finding]
    kept: set[int] = field(default_factory=set)
    outputs: set[str] = field(default_factory=set)
    near: set[int] = field(default_factory=set)
    """The nodes on ways behind findings, folded or not."""

    def __post_init__(self) -> None:
        holder = self.scope.holder
        self.nodes = list(holder.node)
        self.made = {name: number for number, node in enumerate(self.nodes) for name in node.output if name}
        self.constants = set(self.scope.constants)
        for node in self.nodes:
            if all(name in self.constants for name in inputs_of(node)):
                self.constants.update(node.output)
        self.last = [value if isinstance(value, str) else value.name for value in holder.output]
        self.named = {name_of(node): number for number, node in enumerate(self.nodes)}
        self.ways: set[tuple[str, str]] = set()

    def graph(self) -> Graph:
        """Return the boxes and the arrows."""
        sites = [self._site(finding) for finding in self.findings]
        for finding, site in zip(self.findings, sites, strict=True):
            if site is not None:
                self._keep(finding, site)
        before = self._before({site for site in sites if site is not None})
        boxes = {box.id: box for box in self._boxes(before | self.near)}
        of = {value: box.id for box in boxes.values() if box.kind != "output" for value in box.values}
        arrows = dict.fromkeys(self._arrows(boxes, of))
        used = {end for arrow in arrows for end in (arrow.start, arrow.end)} | {
            box.id for box in boxes.values() if box.kind == "node"
        }
        shown = sum(len(box.nodes) for box in boxes.values())
        counted = sum(not self._is_constant(number) for number in range(len(self.nodes)))
        return Graph(tuple(box for box in boxes.values() if box.id in used), tuple(arrows), counted - shown)

    def _is_constant(self, number: int) -> bool:
        """Tell whether a node gives the same in every run."""
        return self.constants.issuperset(self.nodes[number].output)

    def _site(self, finding: Finding) -> int | None:
        """Return the node that a finding is at, or inside of."""
        found = self.named.get(finding.node)
        return self.named.get(finding.node.rpartition("/")[0]) if found is None else found

    def _keep(self, finding: Finding, site: int) -> None:
        """Keep the ends of the ways to a finding and from it, and what it reads."""
        way = finding.path
        self.ways.update(pairwise(way))
        values = way if len(way) <= _FIRST + _LAST else (*way[:_FIRST], *way[-_LAST:])
        inner = [finding.witness.tensor] if finding.witness else []
        kept = (*values, *inner, *self.nodes[site].input)
        self.kept.update(self.made[value] for value in kept if value in self.made)
        self.kept -= {number for number in self.kept if self._is_constant(number)}
        self.kept.add(site)
        wanted = [e.output for e in finding.witness.effects] if finding.witness else []
        on = self._onward(site, [name for name in wanted if name in self.last] or self.last)
        self.near.update(on)
        self.kept.update((*on[:1], *on[-1:]))
        if on or set(self.nodes[site].output) & set(self.last):
            self.outputs.update(set(self.nodes[(on or [site])[-1]].output) & set(self.last))

    def _onward(self, site: int, wanted: Collection[str]) -> list[int]:
        """Return the nodes on the shortest way from a node to an output."""
        users: dict[str, list[int]] = {}
        for number, node in enumerate(self.nodes):
            for name in inputs_of(node):
                users.setdefault(name, []).append(number)
        came: dict[int, int] = {site: site}
        waiting = deque([site])
        while waiting:
            number = waiting.popleft()
            if set(self.nodes[number].output) & set(wanted):
                found = []
                while number != site:
                    found.append(number)
                    number = came[number]
                return found[::-1]
            for name in self.nodes[number].output:
                for user in users.get(name, ()):
                    if user not in came:
                        came[user] = number
                        waiting.append(user)
        return []

    def _before(self, sites: Iterable[int]) -> set[int]:
        """Return the nodes that sites are computed from, constants left out."""
        seen, waiting = set(sites), list(sites)
        while waiting:
            for name in inputs_of(self.nodes[waiting.pop()]):
                number = self.made.get(name)
                if number is not None and number not in seen and name not in self.constants:
                    seen.add(number)
                    waiting.append(number)
        return seen

    def _boxes(self, relevant: set[int]) -> Iterator[Box]:
        """Yield what is read from outside, then nodes and folds, then outputs; what folds alone read is left out."""
        groups = list(self._groups(relevant))
        on_ways = {value for finding in self.findings for value in finding.path}
        outside = dict.fromkeys(
            name
            for group in groups
            for number in group
            for name in inputs_of(self.nodes[number])
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
        yield from (
            Box(f"o{number}", "output", name, (name,)) for number, name in enumerate(self.last) if name in self.outputs
        )

    def _groups(self, relevant: set[int]) -> Iterator[list[int]]:
        """Yield the nodes that are drawn, each alone, and those that are folded together."""
        marks = {number: 1 << place for place, number in enumerate(sorted(self.kept))}
        behind: dict[int, int] = {}  # The drawn nodes before each node, as bits.
        root: dict[int, int] = {}
        groups: dict[int, list[int]] = {}
        for number in sorted(relevant):
            before = [
                self.made[name]
                for name in inputs_of(self.nodes[number])
                if name in self.made and self.made[name] in relevant and self.made[name] in behind
            ]
            bits = 0
            for one in before:
                bits |= behind[one] | marks.get(one, 0)
            behind[number] = bits
            root[number] = number
            groups[number] = [number]
            if number in self.kept:
                continue
            for one in before:
                if one not in self.kept and behind[one] == bits and root[one] != root[number]:
                    old, new = sorted((root[one], root[number]), key=lambda at: len(groups[at]))
                    for member in groups[old]:
                        root[member] = new
                    groups[new] += groups.pop(old)
        yield from (sorted(group) for group in groups.values())

    def _arrows(self, boxes: dict[str, Box], of: dict[str, str]) -> Iterator[Arrow]:
        ways = {(of.get(a), of.get(b)) for a, b in self.ways}
        ways |= {(of.get(f.path[-1]), f"n{s}") for f in self.findings if f.path and (s := self._site(f)) is not None}
        for box in boxes.values():
            reads = box.values if box.kind == "output" else (name for node in box.nodes for name in inputs_of(node))
            for name in reads:
                start = of.get(name)
                if start is not None and start != box.id:
                    yield Arrow(start, box.id, name, (start, box.id) in ways)
